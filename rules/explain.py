"""WHY a question, HOW a conclusion, WHY NOT a cause, WHAT IF: answers drawn from a verdict already reached. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..knowledge.errors import UsageError
from ..knowledge.facts import Fact
from ..knowledge.model import Knowledge
from .candidates import with_facts
from .counterfactuals import Assessment, Infer, Reasoned, reason
from .verdict import Judgement, ScopeJudgement
from .weigh import NONE, Argument, Belief


@dataclass(frozen=True, slots=True)
class Split:
    """One outcome of a question: how likely it is, and the causes it would raise and lower (before, after)."""

    outcome: str
    text: str
    probability: float
    raises: tuple[tuple[str, float, float], ...]
    lowers: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """How a cause came to its probability: prior, counted arguments, sum."""

    cause: str
    prior: float
    counted: tuple[Argument, ...]
    weight_db: float
    probability: float


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a cause does not lead: what speaks against it, and what speaks for the cause that does."""

    cause: str
    probability: float
    vetoed: bool
    against: tuple[Argument, ...]
    leader: str
    leader_support: tuple[Argument, ...]


def why(assessment: Assessment, now: Judgement) -> tuple[Split, ...]:
    """What each answer of a question (or result of an experiment) would do to the causes, likeliest first."""
    splits = [
        Split(c.outcome.id, c.outcome.text, c.probability, *_moves(assessment.candidate.scope, now, c.judgement))
        for c in assessment.consequences
    ]
    return tuple(sorted(splits, key=lambda s: (-round(s.probability, 9), s.outcome)))


def how(judgement: Judgement, scope: str | None = None) -> tuple[Weights, ...]:
    """The weight table of a scope (the leading one by default), most probable cause first. Raises UsageError for a
    scope that was not judged."""
    return tuple(
        Weights(b.cause, b.prior, tuple(a for a in b.arguments if a.counted), b.weight_db, b.probability)
        for b in find_scope(judgement, scope).beliefs
    )


def why_not(judgement: Judgement, cause: str, scope: str | None = None) -> WhyNot:
    """Why a cause does not lead its scope. Raises UsageError where the cause cannot apply to the scope."""
    judged = find_scope(judgement, scope)
    belief = judged.belief(cause)
    if belief is None:
        raise UsageError(f"{cause} cannot apply to {judged.scope} ({judged.fact['kind']})")
    leader = next((b for b in judged.beliefs if b.cause != cause and b.cause != NONE), judged.top)
    return WhyNot(cause, belief.probability, belief.vetoed, belief.opposing, leader.cause, leader.supporting)


def what_if(now: Reasoned, supposed: Sequence[Fact], knowledge: Knowledge, infer: Infer) -> Reasoned:
    """The reasoning with supposed facts in place of those with the same key; the evidence itself is untouched."""
    return reason(with_facts(now.facts, [knowledge.check(f) for f in supposed], knowledge), knowledge, infer)


def find_scope(judgement: Judgement, scope: str | None) -> ScopeJudgement:
    """A judged scope by id; the leading one for None. Raises UsageError where there is none."""
    judged = judgement.leading if scope is None else next((s for s in judgement.scopes if s.scope == scope), None)
    if judged is None:
        there = ", ".join(s.scope for s in judgement.scopes) or "none"
        raise UsageError(f"no scope {scope or ''} was judged", remedy=f"Judged scopes: {there}.")
    return judged


Moves = tuple[tuple[str, float, float], ...]


def _moves(scope: str, now: Judgement, after: Judgement | None) -> tuple[Moves, Moves]:
    if after is None:
        return (), ()
    before = {b.cause: b for b in _beliefs(now, scope)}
    pairs = [(b.cause, before[b.cause].probability, b.probability) for b in _beliefs(after, scope) if b.cause in before]
    up = sorted((p for p in pairs if p[2] > p[1] + 1e-9), key=lambda p: (p[1] - p[2], p[0]))
    down = sorted((p for p in pairs if p[2] < p[1] - 1e-9), key=lambda p: (p[2] - p[1], p[0]))
    return tuple(up), tuple(down)


def _beliefs(judgement: Judgement, scope: str) -> Sequence[Belief]:
    own = next((s for s in judgement.scopes if s.scope == scope), judgement.leading)
    return own.beliefs if own else ()
