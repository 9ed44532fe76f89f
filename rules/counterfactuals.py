"""What would change the verdict, found by running the engine on hypothetical facts (DESIGN section 4). Pure.

Single-step only: one answer or one result at a time. All hypotheticals go to `infer` in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..knowledge.facts import Fact, fact_key
from ..knowledge.model import Knowledge
from .candidates import JOB, Candidate, Outcome, candidates, with_facts
from .model import FactDict, Finding, Inference
from .verdict import Judgement, ScopeJudgement, judge, verdict_facts

Infer = Callable[[Sequence[Sequence[Fact]]], Sequence[Inference]]
"""Runs inference on several sets of facts, in process or in a pool of workers."""

MOST_RUNS = 400
PREDICTED = 0.8
"""P(outcome | a cause that predicts it); the rest is shared by the outcomes it does not predict."""
UNIFORM = 0.1
"""Share of a uniform spread mixed into what is derived for answers, so that none is taken as impossible."""
LEAST_RATIO, MOST_RATIO = 1e-3, 1e3


@dataclass(frozen=True, slots=True)
class Reasoned:
    """Evidence, its verdict, and the inference of pass 2 (which holds every finding of pass 1)."""

    facts: tuple[Fact, ...]
    inference: Inference
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Consequence:
    """An outcome, how likely it is, and the verdict it leads to (None where it reaches no argument)."""

    outcome: Outcome
    probability: float
    judgement: Judgement | None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A candidate with its consequences. `bits`: expected information; `changes`: some outcome changes a verdict."""

    candidate: Candidate
    consequences: tuple[Consequence, ...]
    bits: float
    changes: bool

    @property
    def value(self) -> float:
        """Expected information for its cost, bits a minute."""
        return self.bits / max(self.candidate.cost, 0.1)


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """Assessments best first, the facts the verdict rests on, and how many of the runs were made."""

    questions: tuple[Assessment, ...]
    experiments: tuple[Assessment, ...]
    revisions: tuple[tuple[Candidate, Consequence], ...]
    rests_on: tuple[tuple[Fact, Judgement], ...]
    ran: int
    of: int


def reason(facts: Sequence[Fact], knowledge: Knowledge, infer: Infer) -> Reasoned:
    """Two passes: evidence to verdict, then the verdict's own facts to next steps, limits and mitigation.

    A limit found in pass 2 informs; only those of pass 1 cap a verdict.
    """
    judgement = judge(facts, infer([facts])[0], knowledge)
    planned = infer([[*facts, *verdict_facts(judgement)]])[0]
    return Reasoned(tuple(facts), planned, judgement)


def explore(now: Reasoned, knowledge: Knowledge, infer: Infer, *, most_runs: int = MOST_RUNS) -> Counterfactuals:
    """Assess every open candidate, and remove every fact of the leader's support, in one batch of `infer`."""
    open_now = candidates(now.facts, now.judgement, now.inference, knowledge)
    support = _support(now, knowledge)
    without = [[f for f in now.facts if f != removed] for removed in support]
    supposed = _distinct(open_now, now.facts)
    wanted = [*without, *(with_facts(now.facts, added, knowledge) for added in supposed)]
    runs = wanted[:most_runs]
    judged = [judge(facts, made, knowledge) for facts, made in zip(runs, infer(runs), strict=True)]
    after = dict(zip(supposed, judged[len(without) :], strict=False))
    assessed = [_assess(c, after, now.judgement) for c in open_now]
    return Counterfactuals(
        questions=_ranked(assessed, "question", now.judgement),
        experiments=_ranked(assessed, "experiment", now.judgement),
        revisions=_revisions(assessed, now.judgement),
        rests_on=tuple((f, j) for f, j in zip(support, judged, strict=False) if j.outcome != now.judgement.outcome),
        ran=len(runs),
        of=len(wanted),
    )


# ---- assessing a candidate -------------------------------------------------------------------------------


def _distinct(open_now: Iterable[Candidate], facts: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """Each set of added facts once, in order; those that add nothing new are left out."""
    known = {(f.kind, f.values) for f in facts}
    every = (o.added for c in open_now for o in c.outcomes)
    return list(dict.fromkeys(a for a in every if any((f.kind, f.values) not in known for f in a)))


def _assess(candidate: Candidate, after: Mapping[tuple[Fact, ...], Judgement], now: Judgement) -> Assessment:
    results = [after.get(o.added) for o in candidate.outcomes]
    reached = [j if j is not None and _summary(j) != _summary(now) else None for j in results]
    odds = _probabilities(candidate, reached, now)
    consequences = tuple(Consequence(o, p, j) for o, p, j in zip(candidate.outcomes, odds, reached, strict=True))
    changed = any(_verdicts(c.judgement) != _verdicts(now) for c in consequences if c.judgement)
    return Assessment(candidate, consequences, _bits(candidate, consequences, now), changed)


def _summary(judgement: Judgement) -> tuple[object, ...]:
    beliefs = [(s.scope, b.cause, round(b.probability, 9)) for s in judgement.scopes for b in s.beliefs]
    return (_verdicts(judgement), tuple(beliefs))


def _verdicts(judgement: Judgement) -> tuple[object, ...]:
    return (judgement.outcome, tuple((s.scope, s.verdict, s.cause) for s in judgement.scopes))


def _scope_of(candidate: Candidate, judgement: Judgement) -> ScopeJudgement | None:
    own = next((s for s in judgement.scopes if s.scope == candidate.scope), None)
    return own or (judgement.leading if candidate.scope == JOB else None)


def _beliefs(candidate: Candidate, judgement: Judgement) -> dict[str, float]:
    scope = _scope_of(candidate, judgement)
    return {b.cause: b.probability for b in scope.beliefs} if scope else {}


def _probabilities(candidate: Candidate, reached: Sequence[Judgement | None], now: Judgement) -> list[float]:
    """P(outcome) = sum over causes of P(cause) x P(outcome | cause); alike for all where no scope is judged."""
    prior = _beliefs(candidate, now)
    count = len(candidate.outcomes)
    if not prior or not count:
        return [1.0 / count] * count
    given = _predicted if candidate.kind == "experiment" else _answered
    shares = {cause: given(candidate, reached, cause, prior[cause]) for cause in prior}
    return [math.fsum(prior[c] * shares[c][i] for c in sorted(prior)) for i in range(count)]


def _predicted(candidate: Candidate, _reached: Sequence[Judgement | None], cause: str, _prior: float) -> list[float]:
    """0.8 shared by the outcomes that the cause predicts, 0.2 by the others; alike where it predicts nothing."""
    fits = [cause in o.predicted_by for o in candidate.outcomes]
    hits, misses = sum(fits), len(fits) - sum(fits)
    if not hits or not misses:
        return [1.0 / len(fits)] * len(fits)
    return [PREDICTED / hits if fit else (1 - PREDICTED) / misses for fit in fits]


def _answered(candidate: Candidate, reached: Sequence[Judgement | None], cause: str, prior: float) -> list[float]:
    """An answer that would raise a cause is likelier under it: P(answer | cause) = 0.9 r / sum r + 0.1 / n, with
    r = posterior after the answer / probability now, within 1e-3..1e3, and 1 where the answer reaches nothing."""
    ratios = [_ratio(_beliefs(candidate, j).get(cause) if j else None, prior) for j in reached]
    total = math.fsum(ratios)
    return [(1 - UNIFORM) * r / total + UNIFORM / len(ratios) for r in ratios]


def _ratio(after: float | None, prior: float) -> float:
    if after is None or prior <= 0.0:
        return 1.0
    return min(MOST_RATIO, max(LEAST_RATIO, after / prior))


def _bits(candidate: Candidate, consequences: Sequence[Consequence], now: Judgement) -> float:
    """H(now) - sum of P(outcome) x H(after), at least 0. Without a judged scope: the entropy of the verdicts that
    the outcomes lead to."""
    prior = _beliefs(candidate, now)
    if not prior:
        split: dict[object, float] = {}
        for item in consequences:
            verdict = (item.judgement or now).outcome
            split[verdict] = split.get(verdict, 0.0) + item.probability
        return entropy(split.values())
    after = math.fsum(c.probability * entropy(_beliefs(candidate, c.judgement or now).values()) for c in consequences)
    return max(0.0, entropy(prior.values()) - after) if consequences else 0.0


def entropy(probabilities: Iterable[float]) -> float:
    """Entropy in bits."""
    return max(0.0, -math.fsum(p * math.log2(p) for p in probabilities if p > 0.0))


def _ranked(assessed: Iterable[Assessment], kind: str, now: Judgement) -> tuple[Assessment, ...]:
    """Those worth doing, best first: what rules put forward where any of it is, else everything open.

    Worth doing is what could change a verdict; while the job is not judged, also what rules put forward, since one
    piece of evidence alone may not be enough.
    """
    unjudged = now.verdict in ("undetermined", "insufficient_evidence")
    mine = [a for a in assessed if a.candidate.kind == kind]
    useful = [a for a in mine if a.changes or (unjudged and a.candidate.proposed)]
    chosen = [a for a in useful if a.candidate.proposed] or useful
    return tuple(sorted(chosen, key=lambda a: (-round(a.value, 9), a.candidate.id, a.candidate.scope)))


def _revisions(assessed: Iterable[Assessment], now: Judgement) -> tuple[tuple[Candidate, Consequence], ...]:
    """Every outcome that changes the leader or the verdict: those put forward first, then the likelier."""
    pairs = [
        (a.candidate, c)
        for a in assessed
        for c in a.consequences
        if c.judgement is not None and c.judgement.outcome != now.outcome
    ]
    order = sorted(
        pairs,
        key=lambda p: (not p[0].proposed, -round(p[1].probability, 9), p[0].kind, p[0].id, p[0].scope, p[1].outcome.id),
    )
    return tuple(order)


# ---- what the verdict rests on ---------------------------------------------------------------------------


def _support(now: Reasoned, knowledge: Knowledge) -> list[Fact]:
    """Evidence behind the leader: premises of the arguments for it, through derived facts, and the gate and the job
    where the verdict depends on them."""
    keys = knowledge.keys
    evidence = {fact_key(f, keys): f for f in now.facts}
    makers = _makers(now.inference, keys)
    top = now.judgement.leading
    start = [a.finding for b in top.beliefs if b.cause == top.cause for a in b.supporting] if top else []
    found: dict[tuple[object, ...], Fact] = {}
    seen: set[str] = set()
    while start:
        finding = start.pop()
        if finding.id in seen:
            continue
        seen.add(finding.id)
        for _, premise in finding.premises:
            key = _key(premise, keys)
            if key in evidence:
                found[key] = evidence[key]
            start.extend(makers.get(key, ()))
    for kind in ("gate", "job"):
        found.update({k: f for k, f in evidence.items() if f.kind == kind})
    return sorted(found.values(), key=str)


def _makers(inference: Inference, keys: Mapping[str, tuple[str, ...]]) -> dict[tuple[object, ...], list[Finding]]:
    made: dict[tuple[object, ...], list[Finding]] = {}
    for finding in inference.findings:
        for item in finding.consequences:
            if item["kind"] in keys:
                made.setdefault(_key(item, keys), []).append(finding)
    return made


def _key(item: FactDict, keys: Mapping[str, tuple[str, ...]]) -> tuple[object, ...]:
    kind = str(item["kind"])
    return (kind, *(item.get(name) for name in keys.get(kind, ())))
