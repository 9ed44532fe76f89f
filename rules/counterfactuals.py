"""What would change the verdict, found by running the engine on hypothetical facts (DESIGN section 4). Pure.

Single-step only: one answer or one result at a time. All hypotheticals go to `infer` in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..knowledge.facts import Fact
from ..knowledge.model import Knowledge
from .candidates import JOB, Candidate, Outcome, candidates, with_facts
from .model import Inference
from .support import support_of
from .verdict import Judgement, ScopeJudgement, judge, verdict_facts

Infer = Callable[[Sequence[Sequence[Fact]]], Sequence[Inference]]
"""Runs inference on several sets of facts, in process or in a pool of workers."""

MOST_RUNS = 400
AT_A_TIME = 3
"""Questions assessed at a time where only the first are wanted."""
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


def explore(
    now: Reasoned, knowledge: Knowledge, infer: Infer, *, most_runs: int = MOST_RUNS, proposed_only: bool = False
) -> Counterfactuals:
    """Assess every open candidate, and remove every fact of the leader's support, in one batch of `infer`.
    `proposed_only`: a first look, at what rules put forward and nothing else."""
    every = candidates(now.facts, now.judgement, now.inference, knowledge)
    support = support_of(now.facts, now.inference, now.judgement, knowledge.keys)
    of = len(support) + len(_distinct(every, now.facts))
    open_now = tuple(c for c in every if c.proposed) if proposed_only else every
    support = [] if proposed_only else support
    without = [[f for f in now.facts if f != removed] for removed in support]
    supposed = _distinct(open_now, now.facts)
    wanted = [*without, *(with_facts(now.facts, added, knowledge) for added in supposed)]
    runs = wanted[:most_runs]
    judged = [judge(facts, made, knowledge) for facts, made in zip(runs, infer(runs), strict=True)]
    after = dict(zip(supposed, judged[len(without) :], strict=False))
    assessed = [_assess(c, after, now.judgement) for c in open_now]
    questions = _ranked(assessed, "question", now.judgement)
    experiments = _ranked(assessed, "experiment", now.judgement)
    return Counterfactuals(
        questions=questions,
        experiments=experiments,
        revisions=_revisions(assessed, (*experiments[:1], *questions[:1]), now.judgement),
        rests_on=tuple((f, j) for f, j in zip(support, judged, strict=False) if j.outcome != now.judgement.outcome),
        ran=len(runs),
        of=max(of, len(runs)),
    )


def ask(
    now: Reasoned,
    knowledge: Knowledge,
    infer: Infer,
    skip: frozenset[tuple[str, str]] = frozenset(),
    *,
    first: int | None = None,
    keep: tuple[str, str] | None = None,
) -> tuple[Assessment, ...]:
    """The questions worth asking now, best first, without those in `skip` (id and scope); much less work than
    `explore`. Those that no rule put forward are assessed only where none that a rule did is worth asking.

    `first`: how many are wanted; those that cannot be among them, since all information there is would not be worth
    their cost, are not assessed. `keep`: a question (id and scope) that is assessed in any case.
    """
    questions = [c for c in candidates(now.facts, now.judgement, now.inference, knowledge) if c.kind == "question"]
    questions = [c for c in questions if (c.id, c.scope) not in skip]
    proposed = [c for c in questions if c.proposed]
    found = _asked(proposed, now, knowledge, infer, first, keep)
    return found or _asked([c for c in questions if not c.proposed], now, knowledge, infer, first, keep)


def _asked(
    questions: Sequence[Candidate],
    now: Reasoned,
    knowledge: Knowledge,
    infer: Infer,
    first: int | None,
    keep: tuple[str, str] | None,
) -> tuple[Assessment, ...]:
    """Assessed from the highest possible value down, a few at a time."""
    left = sorted(questions, key=lambda c: ((c.id, c.scope) != keep, -_most_value(c, now.judgement), c.id, c.scope))
    assessed: list[Assessment] = []
    while left:
        size = len(left) if first is None else AT_A_TIME
        part, left = left[:size], left[size:]
        supposed = _distinct(part, now.facts)
        runs = [with_facts(now.facts, added, knowledge) for added in supposed]
        judged = (judge(facts, made, knowledge) for facts, made in zip(runs, infer(runs) if runs else (), strict=True))
        after = dict(zip(supposed, judged, strict=True))
        assessed += [_assess(c, after, now.judgement) for c in part]
        ranked = _ranked(assessed, "question", now.judgement)
        last = ranked[first - 1] if first is not None and len(ranked) >= first else None
        if last is not None and left and last.value > _most_value(left[0], now.judgement):
            break
    return _ranked(assessed, "question", now.judgement)


def _most_value(candidate: Candidate, now: Judgement) -> float:
    """The most information a question could bring for its cost, bits a minute: all doubt about the cause, or a
    verdict of its own for each answer."""
    doubt = entropy(_beliefs(candidate, now).values())
    return max(doubt, math.log2(max(len(candidate.outcomes), 1))) / max(candidate.cost, 0.1)


def assessed_alike(candidate: Candidate) -> Assessment:
    """A candidate whose outcomes change no verdict: all alike, without information."""
    share = 1.0 / max(len(candidate.outcomes), 1)
    return Assessment(candidate, tuple(Consequence(o, share, None) for o in candidate.outcomes), 0.0, False)


# ---- assessing a candidate -------------------------------------------------------------------------------


def _distinct(open_now: Iterable[Candidate], facts: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """Each set of added facts once, in order; those that add nothing new are left out."""
    known = {(f.kind, f.values) for f in facts}
    every = (o.added for c in open_now for o in c.outcomes)
    return list(dict.fromkeys(a for a in every if any((f.kind, f.values) not in known for f in a)))


def _assess(candidate: Candidate, after: Mapping[tuple[Fact, ...], Judgement], now: Judgement) -> Assessment:
    results = [after.get(o.added) for o in candidate.outcomes]
    reached = [j if j is not None and _summary(j) != _summary(now) else None for j in results]
    prior = _beliefs(candidate, now)
    shares = _likelihoods(candidate, reached, prior)
    chances = _chances(prior, shares, len(reached))
    bits = _bits(prior, shares, chances, reached) if prior else _split(chances, reached, now)
    consequences = tuple(Consequence(o, p, j) for o, p, j in zip(candidate.outcomes, chances, reached, strict=True))
    changed = any(_verdicts(j) != _verdicts(now) for j in reached if j)
    return Assessment(candidate, consequences, bits, changed)


def _chances(prior: Mapping[str, float], shares: Mapping[str, list[float]], count: int) -> list[float]:
    """P(outcome) = sum over causes of P(cause) x P(outcome | cause); alike for all where no scope is judged."""
    if not prior:
        return [1.0 / count] * count
    return [math.fsum(prior[c] * shares[c][i] for c in sorted(prior)) for i in range(count)]


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


def _likelihoods(
    candidate: Candidate, reached: Sequence[Judgement | None], prior: Mapping[str, float]
) -> dict[str, list[float]]:
    """P(outcome | cause) for each cause of the scope."""
    given = _predicted if candidate.kind == "experiment" else _answered
    return {cause: given(candidate, reached, cause, prior[cause]) for cause in sorted(prior)}


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


def _bits(
    prior: Mapping[str, float],
    shares: Mapping[str, list[float]],
    chances: Sequence[float],
    reached: Sequence[Judgement | None],
) -> float:
    """H(now) - sum of P(outcome) x H(after), at least 0, where an outcome that reaches no argument leaves H as it is.

    The beliefs after an outcome are P(cause) P(outcome | cause) / P(outcome), so that they average to those of now;
    the rules' fixed weights are no likelihoods and would not.
    """
    here = entropy(prior.values())
    gains = [
        chance * (here - entropy(prior[c] * shares[c][i] / chance for c in prior))
        for i, (chance, judgement) in enumerate(zip(chances, reached, strict=True))
        if judgement is not None and chance > 0.0
    ]
    return max(0.0, math.fsum(gains))


def _split(chances: Sequence[float], reached: Sequence[Judgement | None], now: Judgement) -> float:
    """Without a judged scope: entropy of the verdicts that the outcomes lead to."""
    split: dict[object, float] = {}
    for chance, judgement in zip(chances, reached, strict=True):
        verdict = (judgement or now).outcome
        split[verdict] = split.get(verdict, 0.0) + chance
    return entropy(split.values())


def entropy(probabilities: Iterable[float]) -> float:
    """Entropy in bits."""
    return max(0.0, -math.fsum(p * math.log2(p) for p in probabilities if p > 0.0))


def _ranked(assessed: Iterable[Assessment], kind: str, now: Judgement) -> tuple[Assessment, ...]:
    """Those worth doing, best first: what rules put forward where any of it is, else everything open.

    Worth doing is what could change a verdict; while the job is not judged, also the questions that rules put
    forward, since one piece of evidence alone may not be enough, and what no rule put forward; and the experiments
    of rules, as a verification (L33).
    """
    unjudged = now.verdict in ("undetermined", "insufficient_evidence")
    kept = unjudged or kind == "experiment"
    mine = [a for a in assessed if a.candidate.kind == kind]
    useful = [a for a in mine if a.changes or (kept and a.candidate.proposed)]
    chosen = [a for a in useful if a.candidate.proposed] or (useful if unjudged else [])
    return tuple(sorted(chosen, key=lambda a: (*_precedence(a.candidate, now), *_by_value(a))))


def _by_value(found: Assessment) -> tuple[float, str, str]:
    return (-round(found.value, 9), found.candidate.id, found.candidate.scope)


def _precedence(candidate: Candidate, now: Judgement) -> tuple[bool, bool]:
    """Experiments: those on the leading scope first; of these, where a cause leads, those that test it alone (L11),
    in which no rival predicts the same result."""
    top = now.leading
    if candidate.kind == "question" or top is None:
        return (False, False)
    foretold = [o.predicted_by for o in candidate.outcomes if top.cause in o.predicted_by]
    alone = bool(foretold) and all(set(causes) == {top.cause} for causes in foretold)
    return (candidate.scope != top.scope, top.cause is not None and not alone)


def _revisions(
    assessed: Iterable[Assessment], best: Iterable[Assessment], now: Judgement
) -> tuple[tuple[Candidate, Consequence], ...]:
    """Every outcome that changes the leader or the verdict: of the best steps first, then of what rules put
    forward, then the likelier. Outcomes that add the same facts are one condition."""
    place = {id(a.candidate): position for position, a in enumerate(best, -2)}
    pairs = [
        (a.candidate, c)
        for a in assessed
        for c in a.consequences
        if c.judgement is not None and c.judgement.outcome != now.outcome
    ]
    ordered = sorted(pairs, key=lambda p: (place.get(id(p[0]), 0), *_rank_of(*p)))
    distinct: dict[tuple[Fact, ...], tuple[Candidate, Consequence]] = {}
    for candidate, consequence in ordered:
        distinct.setdefault(consequence.outcome.added, (candidate, consequence))
    return tuple(distinct.values())


def _rank_of(candidate: Candidate, item: Consequence) -> tuple[bool, float, str, str, str, str]:
    chance = -round(item.probability, 9)
    return (not candidate.proposed, chance, candidate.kind, candidate.id, candidate.scope, item.outcome.id)
