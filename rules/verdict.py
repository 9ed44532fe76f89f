"""From findings to a verdict (DESIGN section 4): causes compete inside a scope, scopes are judged apart.

Pure: facts, an inference and the knowledge go in, a `Judgement` comes out. The arithmetic is in weigh.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..knowledge.facts import Fact, Scalar, Source, fact
from ..knowledge.model import Knowledge
from ..knowledge.thresholds import threshold
from .model import FactDict, Finding, Inference, VerdictWord
from .weigh import NONE, Belief, arguments_of, kind_of, margin_db, weigh

CORRECTNESS = frozenset({"collective_divergence", "failed_worker"})
"""Causes that the correctness gate itself is about; for every other cause the gate has to be settled first."""

ORDER: tuple[VerdictWord, ...] = ("insufficient_evidence", "undetermined", "probable", "established")
WORDS: Mapping[str, VerdictWord] = {word: word for word in ORDER}
TOLD = "told"
"""Pattern of a scope that words tell and nothing measures."""
SETTLED_GATE = ("matched", "matched_by_progress")
ENOUGH_STEPS = ("sufficient", "ample")


@dataclass(frozen=True, slots=True)
class LimitNote:
    """What the evidence does not show, and the most it allows."""

    finding: Finding
    scope: str
    at_most: VerdictWord | None


@dataclass(frozen=True, slots=True)
class ScopeJudgement:
    """Verdict of one scope. `cause` is None while open; `beliefs` are the most probable first."""

    fact: Fact
    verdict: VerdictWord
    cause: str | None
    mechanism: str | None
    beliefs: tuple[Belief, ...]
    margin_db: float
    groups: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def scope(self) -> str:
        """Id of the scope."""
        return str(self.fact["scope"])

    @property
    def ranks(self) -> str:
        """Ranks as people write them."""
        return str(self.fact["ranks"])

    @property
    def top(self) -> Belief:
        """The most probable entry, none of these included."""
        return self.beliefs[0]

    @property
    def live(self) -> tuple[Belief, ...]:
        """Causes that are not excluded."""
        floor = threshold("live_probability")
        return tuple(b for b in self.beliefs if b.cause != NONE and b.probability >= floor)

    def belief(self, cause: str) -> Belief | None:
        """The entry of a cause, or None where it cannot apply to this kind of scope."""
        return next((b for b in self.beliefs if b.cause == cause), None)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict of the job and of each scope, largest loss first (a hang before all)."""

    verdict: VerdictWord
    scopes: tuple[ScopeJudgement, ...]
    limits: tuple[LimitNote, ...]
    reasons: tuple[str, ...]

    @property
    def leading(self) -> ScopeJudgement | None:
        """The scope the verdict is about."""
        return self.scopes[0] if self.scopes else None

    @property
    def outcome(self) -> tuple[VerdictWord, str | None, str]:
        """Verdict, cause and ranks: what a counterfactual compares."""
        top = self.leading
        return (self.verdict, top.cause if top else None, top.ranks if top else "")


TOO_FEW = {
    "none": "no step was recorded",
    "single_step": "one step cannot show a habit",
    "summary": "one row a rank cannot show a habit",
}
"""Why so little evidence cannot be called healthy."""


def judge(facts: Sequence[Fact], inference: Inference, knowledge: Knowledge) -> Judgement:
    """Judge every scope among the facts (given or derived) and the job as a whole."""
    measured = {f["scope"] for f in facts if f.kind == "scope"}
    told = [f for f in _derived(inference.derived, knowledge) if f.kind != "scope" or f["scope"] not in measured]
    known = [*facts, *told]
    gate = next((f for f in known if f.kind == "gate"), None)
    limits = _limits(inference)
    scopes = [_judge_scope(f, gate, inference, limits, knowledge) for f in _to_explain(known)]
    scopes.sort(key=lambda s: (s.fact["kind"] != "hang", -float(s.fact["loss_ms"]), s.scope))
    if scopes:
        return Judgement(scopes[0].verdict, tuple(scopes), limits, scopes[0].reasons)
    verdict, reasons = _without_scope(known, gate, limits)
    return Judgement(verdict, (), limits, reasons)


def _to_explain(known: Sequence[Fact]) -> list[Fact]:
    """Scopes among the facts: what was measured, and only without that what was told in words."""
    found = [f for f in known if f.kind == "scope"]
    measured = [f for f in found if f["pattern"] != TOLD]
    return measured or found


def verdict_facts(judgement: Judgement) -> list[Fact]:
    """Facts of pass 2: what the verdict is, for the rules that plan next steps."""
    found: list[Fact] = []
    for position, scope in enumerate(judgement.scopes):
        found.append(_verdict_fact(scope, top=position == 0))
        leader = next((b.cause for b in scope.live), None)
        for belief in scope.live:
            values = {
                "scope": scope.scope,
                "cause": belief.cause,
                "probability": round(belief.probability, 4),
                "leader": belief.cause == leader,
            }
            found.append(_stated("live_cause", values))
    found.append(_stated("conclusion", {"verdict": judgement.verdict, "scopes": len(judgement.scopes)}))
    return found


def _verdict_fact(scope: ScopeJudgement, *, top: bool) -> Fact:
    nothing_known = scope.cause is None and scope.top.cause == NONE
    refuted = nothing_known and scope.top.probability >= threshold("probable_probability") and bool(scope.groups)
    values: dict[str, Scalar | None] = {
        "scope": scope.scope,
        "kind": scope.fact["kind"],
        "verdict": scope.verdict,
        "cause": scope.cause or (NONE if refuted else "open"),
        "ranks": scope.ranks,
        "lateness_ms": scope.fact["lateness_ms"],
        "top": top,
    }
    return _stated("verdict", values)


def _stated(kind: str, values: Mapping[str, Scalar | None]) -> Fact:
    return fact(kind, values, quality="derived", source=Source("verdict"))


def _derived(derived: Iterable[FactDict], knowledge: Knowledge) -> list[Fact]:
    found = [(kind_of(d), d) for d in derived]
    fields = {kind: knowledge.facts[kind].fields for kind, _ in found if kind in knowledge.facts}
    return [
        fact(kind, {name: item[name] for name in fields[kind] if name in item}, quality="derived")
        for kind, item in found
        if kind in fields
    ]


# ---- one scope -------------------------------------------------------------------------------------------


def _judge_scope(
    scope: Fact, gate: Fact | None, inference: Inference, limits: Sequence[LimitNote], knowledge: Knowledge
) -> ScopeJudgement:
    arguments = arguments_of(inference, str(scope["scope"]))
    priors = knowledge.priors.get(str(scope["kind"]), {NONE: 1.0})
    beliefs = weigh(priors, arguments)
    top = beliefs[0]
    margin = margin_db(beliefs)
    groups = _groups(beliefs, top.cause)
    verdict, reasons = _word(top, margin, groups, str(scope["kind"]), gate)
    verdict, reasons = _cap(verdict, reasons, str(scope["scope"]), limits)
    named = verdict in ("probable", "established")
    return ScopeJudgement(
        fact=scope,
        verdict=verdict,
        cause=top.cause if named else None,
        mechanism=top.mechanism if named else None,
        beliefs=beliefs,
        margin_db=margin,
        groups=groups,
        reasons=reasons,
    )


def _groups(beliefs: Sequence[Belief], leader: str) -> tuple[str, ...]:
    """Independence groups that bear on the scope in the leader's favour: for it, or against a rival."""
    found = {
        a.group
        for b in beliefs
        for a in b.arguments
        if a.counted and (a.weight_db > 0 if b.cause == leader else a.weight_db < 0)
    }
    return tuple(sorted(found))


def _word(
    top: Belief, margin: float, groups: Sequence[str], kind: str, gate: Fact | None
) -> tuple[VerdictWord, tuple[str, ...]]:
    """The verdict the weights allow, and what keeps it from being higher."""
    if top.cause == NONE or not top.supporting:
        return "undetermined", ("no cause is argued for above none of these",)
    if top.probability < threshold("probable_probability"):
        return "undetermined", (f"the strongest cause reaches {top.probability:.2f} only",)
    state = str(gate["collectives"]) if gate else "unknown"
    exempt = kind == "hang" or top.cause in CORRECTNESS
    if state == "mismatched" and not exempt:
        return "undetermined", ("collectives do not match across ranks: settle that before any performance cause",)
    reasons: list[str] = []
    if top.probability < threshold("established_probability"):
        reasons.append(f"probability {top.probability:.2f} is below {threshold('established_probability'):.2f}")
    if margin < threshold("established_margin_db"):
        reasons.append(f"the next cause is only {margin:.1f} dB behind")
    if len(groups) < threshold("established_groups"):
        reasons.append("only one independent kind of evidence bears on it")
    if state not in SETTLED_GATE and not exempt:
        reasons.append("it is not known whether collectives match across ranks")
    return ("probable" if reasons else "established"), tuple(reasons)


def _cap(
    verdict: VerdictWord, reasons: tuple[str, ...], scope: str, limits: Sequence[LimitNote]
) -> tuple[VerdictWord, tuple[str, ...]]:
    for limit in limits:
        if limit.scope in (scope, "job") and limit.at_most and ORDER.index(limit.at_most) < ORDER.index(verdict):
            verdict = limit.at_most
            reasons = (*reasons, limit.finding.text)
    return verdict, reasons


# ---- the job ---------------------------------------------------------------------------------------------


def _without_scope(
    known: Sequence[Fact], gate: Fact | None, limits: Sequence[LimitNote]
) -> tuple[VerdictWord, tuple[str, ...]]:
    """Healthy where a late rank would have been seen and none was; otherwise what is missing."""
    job = next((f for f in known if f.kind == "job"), None)
    if job is None:
        return "insufficient_evidence", ("nothing of the job was measured yet",)
    missing: list[str] = []
    if not job["lateness_known"]:
        missing.append("arrivals and own times of the ranks are not known")
    if job["sampling"] not in ENOUGH_STEPS:
        missing.append(TOO_FEW.get(str(job["sampling"]), f"{job['steps']} steps are too few to call it healthy"))
    if gate is None or gate["collectives"] not in SETTLED_GATE:
        missing.append("it is not known whether collectives match across ranks")
    if gate is not None and gate["ranks"] == "missing":
        missing.append("a rank that must exist has no evidence")
    low = [n for n in limits if n.scope == "job" and n.at_most in ("insufficient_evidence", "undetermined")]
    missing.extend(n.finding.text for n in low)
    return ("insufficient_evidence" if missing else "healthy"), tuple(missing)


def _limits(inference: Inference) -> tuple[LimitNote, ...]:
    found: list[LimitNote] = []
    for finding in inference.findings:
        for item in finding.consequences:
            if kind_of(item) == "@limit":
                word = WORDS.get(str(item.get("at_most")))
                found.append(LimitNote(finding, str(item.get("scope", "job")), word))
    return tuple(found)
