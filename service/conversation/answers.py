"""Answers to free questions: why, how, why not, what would change the verdict, what next, what is safe. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...knowledge.errors import UsageError
from ...knowledge.model import Knowledge
from ...rules.counterfactuals import Assessment
from ...rules.explain import Split, how, why, why_not
from ...rules.weigh import NONE, Argument
from ..diagnosis import statement
from ..diagnosis.documents import cause_title
from ..diagnosis.schemas import Diagnosis
from ..diagnosis.sentences import lower, stopped, upper
from .acts import Asked
from .commands import help_lines
from .mind import Mind, View
from .state import SessionState
from .words import becomes_in_words, percent

ALIKE = {"input_delay": ("uniform_input_bound",), "uniform_input_bound": ("input_delay",)}
"""What people mean by one word: input that is late on one rank or on all."""
MOST_REVISIONS = 4
MOST_EFFECTS = 2
MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Asking:
    """What an answer may draw on. `question`: the open one, as assessed."""

    mind: Mind
    state: SessionState
    view: View
    question: Assessment | None

    @property
    def knowledge(self) -> Knowledge:
        """What is known."""
        return self.mind.knowledge

    @property
    def document(self) -> Diagnosis:
        """The whole diagnosis."""
        return self.mind.diagnosis(self.view)

    def title(self, cause: str) -> str:
        """A cause in words."""
        return cause_title(cause, self.knowledge)


def answer(asked: Asked, now: Asking) -> str:
    """The answer in words; `what_if` is answered by the turn, which can suppose."""
    found = _ANSWERS.get(asked.topic)
    return found(asked.subject, now) if found else ""


# ---- the conversation itself -----------------------------------------------------------------------------


def _why(_subject: str, now: Asking) -> str:
    if now.question is None:
        return "No question is open."
    entry = now.knowledge.questions[now.question.candidate.id]
    effects = [_effect(split, now) for split in why(now.question, now.view.now.judgement)]
    told = [e for e in effects if e][: MOST_EFFECTS + 1]
    return "\n".join([f"I ask because {stopped(_plain(entry.because))}", *told])


def _effect(split: Split, now: Asking) -> str:
    moved = [*split.raises[:MOST_EFFECTS], *split.lowers[:1]]
    if not moved:
        return ""
    parts = [f"{now.title(c)} {percent(before)} -> {percent(after)}" for c, before, after in moved if c != NONE]
    return f"  If {lower(split.text)}: {', '.join(parts)}." if parts else ""


def _plain(text: str) -> str:
    return text.replace("$ranks", "the late rank").replace("$lateness_ms", "as many")


def _how(subject: str, now: Asking) -> str:
    try:
        weights = how(now.view.now.judgement, subject or None)
    except UsageError as error:
        return f"Nothing was judged yet: {'; '.join(now.view.now.judgement.reasons) or error}."
    lead = next((w for w in weights if w.cause != NONE), weights[0])
    lines = [
        f"{upper(now.title(lead.cause))}: {percent(lead.prior)} before any evidence, {percent(lead.probability)} now."
    ]
    lines += [_weighed(a) for a in lead.counted]
    if not lead.counted:
        lines.append("  Nothing speaks for it or against it so far.")
    rivals = [w for w in weights if w.cause not in (NONE, lead.cause)][:2]
    for rival in rivals:
        lines.append(
            f"{upper(now.title(rival.cause))}: {percent(rival.prior)} before, {percent(rival.probability)} now."
        )
        lines += [_weighed(a) for a in rival.counted[:2]]
    return "\n".join(lines)


def _weighed(item: Argument) -> str:
    return f"  {item.weight_db:+.0f} dB  {item.finding.text}  [{item.finding.rule}]"


def _why_not(cause: str, now: Asking) -> str:
    try:
        found = why_not(now.view.now.judgement, cause)
    except UsageError:
        return _not_applicable(cause, now)
    if found.leader == cause:
        return f"{upper(now.title(cause))} is what leads, with {percent(found.probability)}.\n{_how('', now)}"
    lines = [f"{upper(now.title(cause))} stands at {percent(found.probability)}."]
    lines += [f"  against it: {a.finding.text}  [{a.finding.rule}]" for a in found.against[:3]]
    if not found.against:
        lines.append("  Nothing speaks against it; nothing that was told speaks for it either.")
    lines += [f"  for {now.title(found.leader)}: {a.finding.text}" for a in found.leader_support[:2]]
    return "\n".join([*lines, *_would_need(cause, now)])


def _not_applicable(cause: str, now: Asking) -> str:
    if now.view.now.judgement.leading is None:
        lines = ["Not on this evidence: nothing that was told points to it, or to anything else yet."]
    else:
        lines = [f"{upper(now.title(cause))} cannot explain what is seen here: {_what_is_seen(now)}."]
    return "\n".join([*lines, *_would_need(cause, now)])


def _what_is_seen(now: Asking) -> str:
    top = now.view.now.judgement.leading
    kind = "" if top is None else str(top.fact["kind"])
    seen = {"common": "all ranks lose time together", "hang": "the job hangs", "rotating": "ranks take turns"}
    return seen.get(kind, f"rank {top.ranks if top else ''} is late by itself")


def _would_need(cause: str, now: Asking) -> list[str]:
    entry = now.knowledge.causes.get(cause)
    return [f"What would show it: {stopped(entry.would_need)}"] if entry and entry.would_need else []


def _is_it(cause: str, now: Asking) -> str:
    judgement = now.view.now.judgement
    top = judgement.leading
    if top is not None and top.belief(cause) is None:
        cause = next((c for c in ALIKE.get(cause, ()) if top.belief(c) is not None), cause)
    if top is not None and top.cause == cause:
        entry = now.knowledge.causes[cause]
        head = f"{upper(entry.title)} is what this evidence says ({judgement.verdict}). {stopped(entry.not_meaning)}"
        return f"{head}\n{_how('', now)}"
    if top is not None and top.belief(cause) is not None:
        return _why_not(cause, now)
    return _not_applicable(cause, now)


# ---- the diagnosis ---------------------------------------------------------------------------------------


def _change_mind(_subject: str, now: Asking) -> str:
    revisions = now.document.revise_if[:MOST_REVISIONS]
    if not revisions:
        return "No single answer or result that is still open would change the verdict."
    lines = [f"  - {stopped(r.text)} -> {becomes_in_words(r.becomes, now.knowledge)}" for r in revisions]
    return "\n".join(["I would change my mind if", *lines])


def plan_in_words(document: Diagnosis) -> list[str]:
    """The experiment to run, what is held, and what each live cause predicts."""
    plan = document.next.experiment
    if plan is None:
        return []
    lines = [f"{stopped(plan.title)} {stopped(upper(plan.change))}"]
    lines += [f"  held: {', '.join(plan.hold)}"] if plan.hold else []
    lines += [f"  {p.cause.replace('_', ' ')}: {p.text}" for p in plan.predictions[:4]]
    return [*lines, f"  decides at: {stopped(plan.threshold)}"]


def _next(_subject: str, now: Asking) -> str:
    plan = plan_in_words(now.document)
    if plan:
        return "\n".join(["To run next:", *plan])
    if now.question is not None:
        return f"Answer this first: {now.question.candidate.text}"
    return "Nothing that is open would change the verdict."


def mitigation_in_words(document: Diagnosis) -> list[str]:
    """What limits harm meanwhile, each with what it does to the order of data (L27-L29)."""
    return [
        f"  - {stopped(m.text)} Data order: {stopped(lower(m.data_order))} Record: {stopped(lower(m.record))}"
        for m in document.mitigation
    ]


def _safe(_subject: str, now: Asking) -> str:
    policy = next((str(f["policy"]) for f in now.view.now.facts if f.kind == "run_policy"), "unknown")
    lines = mitigation_in_words(now.document)
    if not lines:
        return "Nothing I would call safe follows from this evidence; a checkpoint and a pause keep the run as it is."
    head = "Apart from the diagnosis, and depending on what the run must keep:"
    if policy == "unknown":
        return "\n".join(
            [head, *lines, "Tell me whether data order or exact reproducibility matters, and I narrow it."]
        )
    return "\n".join([f"Apart from the diagnosis, for a run that has to keep {policy.replace('_', ' ')}:", *lines])


def _sure(_subject: str, now: Asking) -> str:
    judgement = now.view.now.judgement
    top = judgement.leading
    head = f"{upper(judgement.verdict.replace('_', ' '))}."
    if top is not None and top.live:
        lead = top.live[0]
        ahead = f"{top.margin_db:.0f} dB ahead of the next"
        head = f"{head[:-1]}: {now.title(lead.cause)} {percent(lead.probability)}, {ahead}."
    held = [stopped(upper(r)) for r in judgement.reasons]
    return " ".join([head, *(["What keeps it from more:", *held] if held else [])])


def _who(_subject: str, now: Asking) -> str:
    return statement.headline(now.view.now.judgement, now.view.now.facts, now.knowledge)


def _meaning(cause: str, now: Asking) -> str:
    entry = now.knowledge.causes.get(cause)
    if entry is None:
        return f"I have no entry for {cause or 'that'}."
    return f"{upper(entry.title)}: {stopped(entry.meaning)} {stopped(entry.not_meaning)}"


def _gain(_subject: str, now: Asking) -> str:
    gain = now.document.recoverable
    if gain is None:
        return "I cannot say: that needs steps of all ranks, or a replay that meets the recorded step."
    spread = f" (95 % interval {gain.interval[0]:.0f}-{gain.interval[1]:.0f})" if gain.interval else ""
    stage = gain.stage.replace("_", " ")
    share = f"{100 * gain.share:.0f} % of it"
    return f"About {gain.ms_per_step:.0f} ms a step, {share}{spread}, if its {stage} were like the others'."


# ---- listings --------------------------------------------------------------------------------------------


def _evidence(_subject: str, now: Asking) -> str:
    held = now.state.standing
    if not held:
        return "No evidence yet."
    return "\n".join(f"  {h.given.id}  turn {h.turn}  {h.given.label}: {'; '.join(h.given.in_words)}" for h in held)


def _facts(_subject: str, now: Asking) -> str:
    facts = [f for f in now.view.now.facts if f.kind not in ("wait", "answered")]
    if not facts:
        return "No facts yet."
    lines = [
        f"  {f.kind}: {', '.join(f'{n} {_short(v)}' for n, v in f.values)}  [{f.quality}, {f.source}]" for f in facts
    ]
    more = [f"  and {len(lines) - 40} more"] if len(lines) > 40 else []
    return "\n".join([*lines[:40], *more])


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _causes(_subject: str, now: Asking) -> str:
    lines = list(_ranking(now))
    return "\n".join(lines) if lines else "Nothing was judged yet: no evidence says what is to be explained."


def _ranking(now: Asking) -> Iterator[str]:
    for scope in now.view.now.judgement.scopes:
        yield f"{upper(scope.scope.replace(':', ' '))} ({scope.verdict.replace('_', ' ')})"
        for belief in scope.beliefs:
            yield f"  {percent(belief.probability):>10}  {now.title(belief.cause)}"


def _show(subject: str, now: Asking) -> str:
    why_list = now.document.why
    if not subject.isdecimal() or not 1 <= int(subject) <= len(why_list):
        return (
            f"There are {len(why_list)} reasons: /show 1 to /show {len(why_list)}."
            if why_list
            else "There are no reasons yet."
        )
    found = why_list[int(subject) - 1]
    lines = [f"{found.text}  [{found.rule}]"]
    for alias, premise in found.premises.items():
        values = ", ".join(f"{k} {_short(v)}" for k, v in premise.items() if k != "kind")
        lines.append(f"  {alias}: {premise.get('kind')}({values})")
    return "\n".join(lines)


def _help(_subject: str, _now: Asking) -> str:
    return "\n".join(help_lines())


_ANSWERS: Mapping[str, Callable[[str, Asking], str]] = {
    "why": _why,
    "how": _how,
    "why_not": _why_not,
    "is_it": _is_it,
    "change_mind": _change_mind,
    "next": _next,
    "safe": _safe,
    "sure": _sure,
    "who": _who,
    "meaning": _meaning,
    "gain": _gain,
    "evidence": _evidence,
    "facts": _facts,
    "causes": _causes,
    "show": _show,
    "help": _help,
}
