"""Words of the conclusion: the statement (L30), why, what it does not show, and the rivals. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ...knowledge.facts import Fact
from ...knowledge.model import Knowledge
from ...rules.candidates import Candidate
from ...rules.counterfactuals import Consequence, Counterfactuals
from ...rules.model import Finding, Inference
from ...rules.verdict import ORDER, WORDS, Judgement, ScopeJudgement
from ...rules.weigh import NONE, Belief, kind_of
from .documents import UNNAMED, cause_title, finding_document
from .schemas import Alternative, ExperimentDocument, FindingDocument, LimitDocument, Next
from .sentences import lower, stopped, upper

SILENT = "without support in this evidence"
MOST_RIVALS = 4
FEWEST_RIVALS = 2
MOST_REASONS = 8
PATTERNS = {
    "persistent": " in {late} of {all} steps",
    "intermittent": " now and then ({late} of {all} steps)",
    "single": " in one step",
    "first_steps": " in the first steps only",
    "summary": "",
    "told": "",
}


def headline(judgement: Judgement, facts: Sequence[Fact], knowledge: Knowledge) -> str:
    """Which rank is late, by how much, and why; every scope that has a verdict, with its share of the loss."""
    if judgement.verdict == "healthy":
        return _healthy(facts)
    if judgement.verdict == "insufficient_evidence":
        # of a scope that was capped the cap is the reason; what else is weak about it does not matter any more
        reasons = [r.rstrip(".") for r in (judgement.reasons[-1:] if judgement.scopes else judgement.reasons)]
        return f"This evidence cannot tell who is late: {'; '.join(reasons) or 'nothing was measured'}."
    shown = [s for s in judgement.scopes if s.verdict not in UNNAMED]
    if len(shown) == 1:
        return upper(f"{_what(shown[0].fact, facts)}{_because(shown[0], knowledge)}.")
    total = sum(float(s.fact["loss_ms"]) for s in shown)
    parts = [f"{_what(s.fact, facts)}{_share(s, total)}{_because(s, knowledge)}" for s in shown]
    return upper(f"{'; '.join(parts)}.")


def statement(
    judgement: Judgement,
    facts: Sequence[Fact],
    knowledge: Knowledge,
    rivals: Sequence[Alternative],
    steps: Next,
    revisions: Sequence[tuple[Candidate, Consequence]],
) -> str:
    """The headline, why the nearest rival is weaker, what to run and compare next, and what would disprove it; where
    the cause is open, what would decide it."""
    plan = steps.experiment
    sentences = [headline(judgement, facts, knowledge)]
    top = judgement.leading
    if judgement.verdict not in UNNAMED and top is not None and top.cause is not None:
        mine = [a for a in rivals if a.scope == top.scope and a.probability is not None]
        nearest = next((a for a in mine if a.why_weaker != SILENT), mine[0] if mine else None)
        if nearest is not None:
            rival = cause_title(nearest.cause, knowledge)
            sentences.append(f"{upper(rival)} is weaker: {stopped(nearest.why_weaker)}")
        sentences.extend(_test(top.cause, plan))
        turning = [(c, r) for c, r in revisions if r.judgement and r.judgement.outcome[1] != top.cause]
        sentences.extend(_disproof(plan, turning))
    elif judgement.verdict != "healthy" and steps.questions:
        sentences.append(f"To decide it: {lower(steps.questions[0].text)}")
    return " ".join(sentences)


def _test(cause: str, plan: ExperimentDocument | None) -> list[str]:
    if plan is None:
        return []
    predicted = next((p.text for p in plan.predictions if p.cause == cause), "")
    expect = f" if this is right, {predicted}." if predicted else ""
    return [
        f"Next: {lower(plan.title)};{expect} Compare: {stopped(plan.threshold)}"
        if expect
        else f"Next: {lower(plan.title)}."
    ]


def _disproof(plan: ExperimentDocument | None, turning: Sequence[tuple[Candidate, Consequence]]) -> list[str]:
    """The likeliest result of the plan that turns the cause; else the first answer that does."""
    mine = next((r for c, r in turning if plan and c.id == plan.id and c.scope == plan.scope), None)
    if mine is not None:
        return [f"It is disproved if {stopped(lower(mine.outcome.text))}"]
    answers = [(c, r) for c, r in turning if c.kind == "question"][:1]
    return [f'It is disproved if the answer to "{c.text}" is: {stopped(lower(r.outcome.text))}' for c, r in answers]


def _healthy(facts: Sequence[Fact]) -> str:
    job = next(f for f in facts if f.kind == "job")
    return f"No rank is late and nothing stands out that all lose together: {job['ranks']} ranks, {job['steps']} steps."


TOLD = {
    "common": "all ranks lose time together",
    "rotating": "now one rank is late, now another",
    "hang": "the job hangs",
}
"""What a scope is about that was told without a number."""


def _what(scope: Fact, facts: Sequence[Fact]) -> str:
    if scope["pattern"] == "told":
        kind, ranks = str(scope["kind"]), str(scope["ranks"])
        some = "one rank stands out" if kind == "rank" else "some of the ranks stand out"
        named = f"rank {ranks} stands out" if kind == "rank" else f"ranks {ranks} stand out"
        return TOLD.get(kind, some if ranks == "unknown" else named)
    ms = float(scope["lateness_ms"])
    when = PATTERNS[str(scope["pattern"])].format(late=scope["late_steps"], all=scope["steps"])
    match scope["kind"]:
        case "rank":
            return f"rank {scope['ranks']} arrives about {_ms(ms)} late{when}"
        case "set":
            return f"ranks {scope['ranks']} arrive about {_ms(ms)} late together{when}"
        case "rotating":
            return f"ranks take turns at being late, about {_ms(float(scope['loss_ms']))} a step"
        case "common":
            step = next((f.get("step_ms") for f in facts if f.kind == "job"), None)
            each = f"of each {_ms(float(step))} step" if step else "a step"
            return f"all ranks lose about {_ms(float(scope['loss_ms']))} {each} together"
        case _:
            return "the job hangs"


def _because(scope: ScopeJudgement, knowledge: Knowledge) -> str:
    if scope.cause is None:
        live = [cause_title(b.cause, knowledge) for b in scope.live][:4]
        return f"; the cause is open ({', '.join(live)})" if live else "; the cause is open"
    entry = knowledge.causes.get(scope.cause)
    named = entry.mechanisms.get(scope.mechanism) if entry and scope.mechanism else None
    clause = _clause(scope, knowledge) + (f" ({named.title})" if named else "")
    sure = scope.verdict == "established"
    if scope.fact["kind"] in ("common", "hang"):
        return f": {clause}" if sure else f", probably because {clause}"
    return f" because {clause}" if sure else f", probably because {clause}"


def _clause(scope: ScopeJudgement, knowledge: Knowledge) -> str:
    """The cause as the end of a sentence: `its input is late`."""
    kind, cause = str(scope.fact["kind"]), scope.cause or NONE
    entry = knowledge.causes.get(cause)
    said: dict[str, str] = {str(k): v for k, v in entry.because.items()} if entry else {}
    template = said.get(kind) or said.get("rank") or f"of {cause_title(cause, knowledge)}"
    return template.format(its="its" if kind == "rank" else "their")


def _share(scope: ScopeJudgement, total_ms: float) -> str:
    return f" ({100 * float(scope.fact['loss_ms']) / total_ms:.0f} % of the loss)" if total_ms > 0 else ""


# ---- why -------------------------------------------------------------------------------------------------


def reasons(judgement: Judgement) -> tuple[FindingDocument, ...]:
    """Findings behind the conclusion: for each scope the arguments for its cause, then those against the rivals;
    counted and stronger ones first. An open scope shows what speaks for each of its live causes."""
    found: dict[str, Finding] = {}
    for scope in judgement.scopes:
        lead = [scope.belief(scope.cause)] if scope.cause else list(scope.live)
        for belief in lead:
            _add(found, belief, favourable=True)
        for belief in scope.beliefs:
            if scope.cause and belief.cause != scope.cause:
                _add(found, belief, favourable=False)
    return tuple(finding_document(f) for f in list(found.values())[:MOST_REASONS])


def _add(found: dict[str, Finding], belief: Belief | None, *, favourable: bool) -> None:
    arguments = () if belief is None else belief.supporting if favourable else belief.opposing
    for item in sorted(arguments, key=lambda a: not a.counted):
        if all(f.text != item.finding.text for f in found.values()):
            found.setdefault(item.finding.id, item.finding)


# ---- limits and rivals -----------------------------------------------------------------------------------


def limits(inference: Inference, judgement: Judgement) -> tuple[LimitDocument, ...]:
    """What the evidence does not show: what rules say, the strictest first; where it is not enough, also what is
    missing."""
    found: dict[str, LimitDocument] = {}
    for finding in inference.findings:
        for item in finding.consequences:
            if kind_of(item) == "@limit":
                made = _limit(finding, str(item.get("scope", "job")), item.get("at_most"))
                found.setdefault(made.text, made)
    if judgement.verdict == "insufficient_evidence":
        for text in judgement.reasons:
            found.setdefault(text, LimitDocument(text=text, rule="verdict", scope="job", at_most=None))
    strict = [*ORDER, None]
    return tuple(sorted(found.values(), key=lambda n: (strict.index(n.at_most), n.rule, n.text)))


def _limit(finding: Finding, scope: str, at_most: object) -> LimitDocument:
    word = WORDS.get(str(at_most))
    return LimitDocument.model_validate({"text": finding.text, "rule": finding.rule, "scope": scope, "at_most": word})


def alternatives(judgement: Judgement, knowledge: Knowledge) -> tuple[Alternative, ...]:
    """Rivals of each scope's cause: the live ones, most probable first, else the likeliest before the evidence; then
    the mechanisms of the cause that stay open."""
    found: list[Alternative] = []
    for scope in judgement.scopes:
        rivals = [b for b in scope.beliefs if b.cause not in (scope.cause, NONE) and not b.vetoed]
        live = {b.cause for b in scope.live}
        others = sorted((b for b in rivals if b.cause not in live), key=lambda b: (-b.prior, b.cause))
        shown = [b for b in rivals if b.cause in live]
        shown += others[: max(0, FEWEST_RIVALS - len(shown))] if scope.cause else []
        found.extend(_rival(scope, b, knowledge) for b in shown[:MOST_RIVALS])
        found.extend(_open_mechanisms(scope, knowledge))
    return tuple(found)


def _rival(scope: ScopeJudgement, belief: Belief, knowledge: Knowledge) -> Alternative:
    entry = knowledge.causes.get(belief.cause)
    return Alternative(
        scope=scope.scope,
        cause=belief.cause,
        probability=round(belief.probability, 4),
        why_weaker=_why_weaker(scope, belief, knowledge),
        would_need=entry.would_need if entry else "",
    )


def _why_weaker(scope: ScopeJudgement, belief: Belief, knowledge: Knowledge) -> str:
    leader = scope.belief(scope.cause or "")
    said = {a.finding.id for a in leader.supporting} if leader else set()
    against = sorted(belief.opposing, key=lambda a: a.finding.id in said)
    contrary = next(iter(against), None)
    if contrary is not None:
        return contrary.finding.text
    if not belief.supporting:
        return SILENT
    lead = next((b for b in scope.beliefs if b.cause != belief.cause), belief)
    if lead.probability < belief.probability:
        return "the most speaks for it so far"
    return f"less speaks for it than for {cause_title(lead.cause, knowledge)}"


def _open_mechanisms(scope: ScopeJudgement, knowledge: Knowledge) -> list[Alternative]:
    entry = knowledge.causes.get(scope.cause or "")
    if entry is None:
        return []
    belief = scope.belief(scope.cause or "")
    weights = dict(belief.mechanisms_db) if belief else {}
    still = [name for name in entry.mechanisms if name != scope.mechanism and weights.get(name, 0.0) >= 0.0]
    return [
        Alternative(
            scope=scope.scope,
            cause=f"{scope.cause}/{name}",
            probability=None,
            why_weaker="open: "
            + ("this evidence points to it without proof" if weights.get(name) else "not measured here"),
            would_need=entry.mechanisms[name].would_need,
        )
        for name in still
    ]


def counted(cf: Counterfactuals) -> str:
    """`complete`, or how many of the hypotheticals were run."""
    return "complete" if cf.ran == cf.of else f"partial ({cf.ran} of {cf.of})"


def _ms(value: float) -> str:
    return f"{value:.0f} ms" if value >= 10 else f"{value:.2g} ms"
