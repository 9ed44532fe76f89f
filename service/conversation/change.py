"""What a turn changed: the verdict, the ranking of causes and why, and which revise-if condition fired. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ...knowledge.facts import Fact, fact_key
from ...knowledge.model import Knowledge
from ...rules.candidates import Candidate, Known, Outcome, by_key, candidates
from ...rules.counterfactuals import Reasoned
from ...rules.verdict import Judgement, ScopeJudgement
from ...rules.weigh import NONE
from ..diagnosis import statement
from ..diagnosis.documents import becomes, cause_title
from ..diagnosis.sentences import lower, stopped
from ..sessions.schemas import Said
from .mind import View
from .words import becomes_in_words, percent, ranks_named

MOVED = 0.05
MOST_MOVED = 3
MOST_REASONS = 2
HANG_BESIDE_STEPS = Said(
    kind="note",
    text="You told of a hang, and the steps at hand complete: it is the steps that I judge. If the job hangs now, the "
    "operation of every rank and the last line of every log are needed.",
)


def changes(before: View | None, after: View, knowledge: Knowledge, *, attached: bool) -> tuple[list[Said], str | None]:
    """What to say of the change, and the id of the revise-if condition that fired. `attached`: evidence did."""
    now = after.now
    beside = [HANG_BESIDE_STEPS] if _hang_beside_steps(now) and not (before and _hang_beside_steps(before.now)) else []
    if before is None:
        return [*_first(now, knowledge), *beside], None
    fired = _fired(before.now, now, knowledge) if before.now.judgement.outcome != now.judgement.outcome else None
    said: list[Said] = []
    if fired is not None:
        said.append(_revised(before.now.judgement, now.judgement, *fired, knowledge))
    moved = _moved(before.now.judgement, now.judgement, knowledge)
    reasons = _new_reasons(before.now, now)
    headline = statement.headline(now.judgement, now.facts, knowledge)
    if headline != statement.headline(before.now.judgement, before.now.facts, knowledge):
        said.append(Said(kind="diagnosis", text=f"{headline} ({now.judgement.verdict.replace('_', ' ')})"))
    if moved or reasons:
        said.append(Said(kind="change", text=" ".join([*reasons, *moved])))
    elif not said and attached and now.judgement.scopes:
        said.append(Said(kind="change", text="That does not change the ranking."))
    said += beside
    return said, f"{fired[0].id}/{fired[1].id}@{fired[0].scope}" if fired else None


def _hang_beside_steps(now: Reasoned) -> bool:
    """Whether a hang was told while steps that complete are measured."""
    told = any(f.kind == "stall" for f in now.facts)
    return told and any(f.kind == "job" and bool(f["lateness_known"]) for f in now.facts)


def _first(now: Reasoned, knowledge: Knowledge) -> list[Said]:
    verdict = now.judgement.verdict
    if verdict == "insufficient_evidence" and not any(f.kind == "job" for f in now.facts):
        return []
    reasons = _reasons(now)[:MOST_REASONS]
    headline = statement.headline(now.judgement, now.facts, knowledge)
    said = [Said(kind="diagnosis", text=f"{headline} ({verdict.replace('_', ' ')})")]
    return said + ([Said(kind="change", text=" ".join(map(stopped, reasons)))] if reasons else [])


# ---- ranking ---------------------------------------------------------------------------------------------


def _moved(before: Judgement, after: Judgement, knowledge: Knowledge) -> list[str]:
    old, new = before.leading, after.leading
    if new is None:
        return []
    was = {b.cause: b.probability for b in old.beliefs} if old is not None and old.scope == new.scope else {}
    steps = [(b, was.get(b.cause)) for b in new.beliefs if b.cause != NONE]
    large = [(b, w) for b, w in steps if w is not None and abs(b.probability - w) >= MOVED]
    large.sort(key=lambda pair: (-abs(pair[0].probability - (pair[1] or 0.0)), pair[0].cause))
    if not large:
        return []
    parts = [f"{cause_title(b.cause, knowledge)} {percent(w or 0.0)} -> {percent(b.probability)}" for b, w in large]
    return [f"Ranking: {', '.join(parts[:MOST_MOVED])}."]


def _new_reasons(before: Reasoned, after: Reasoned) -> list[str]:
    """New findings behind the conclusion, after what is new about who is late."""
    seen = {*(f.text for f in before.inference.findings), *_reasons(before)}
    found = [stopped(text) for text in _reasons(after) if text not in seen][:MOST_REASONS]
    here = {"job", *(s.scope for s in after.judgement.scopes)}
    strict = [n.finding.text for n in after.judgement.limits if n.at_most is not None and n.scope in here]
    return found + [stopped(text) for text in strict if text not in seen and stopped(text) not in found][:1]


def _reasons(now: Reasoned) -> list[str]:
    """Who waits for whom (L01), and the findings behind the conclusion."""
    top = now.judgement.leading
    late = [_waited_for(top)] if top is not None and _is_late(top) else []
    return [*late, *(r.text for r in statement.reasons(now.judgement))]


def _is_late(scope: ScopeJudgement) -> bool:
    return scope.fact["kind"] in ("rank", "set") and float(scope.fact["lateness_ms"]) > 0.0


def _waited_for(scope: ScopeJudgement) -> str:
    wait = f"{float(scope.fact['lateness_ms']):.0f} ms"
    late = ranks_named(scope.ranks)
    return f"The other ranks wait about {wait} a step for {late}; a faster collective cannot give that back."


# ---- revise-if -------------------------------------------------------------------------------------------


def _fired(before: Reasoned, after: Reasoned, knowledge: Knowledge) -> tuple[Candidate, Outcome] | None:
    """The outcome of an open question or experiment of before whose facts hold now and did not then."""
    then, now = by_key(before.facts, knowledge), by_key(after.facts, knowledge)
    for candidate in candidates(before.facts, before.judgement, before.inference, knowledge):
        for outcome in candidate.outcomes:
            added = outcome.added
            if added and _hold(added, now, knowledge) and not _hold(added, then, knowledge):
                return candidate, outcome
    return None


def _hold(wanted: Sequence[Fact], known: Known, knowledge: Knowledge) -> bool:
    there = [known.get(fact_key(w, knowledge.keys)) for w in wanted]
    return all(f is not None and _same_class(w, f) for w, f in zip(wanted, there, strict=True))


def _same_class(wanted: Fact, there: Fact) -> bool:
    """Whether they agree in every field that is a class and not a number."""
    return all(there.get(name) == value for name, value in wanted.values if isinstance(value, (str, bool)))


def _revised(before: Judgement, after: Judgement, candidate: Candidate, outcome: Outcome, knowledge: Knowledge) -> Said:
    was, now = becomes(before), becomes(after)
    text = (
        f"This is what would change my mind: {lower(candidate.text).rstrip('?.')} - {lower(outcome.text)}. "
        f"Before: {becomes_in_words(was, knowledge)}. Now: {becomes_in_words(now, knowledge)}."
    )
    return Said(kind="revised", text=text, ref=f"{candidate.id}/{outcome.id}@{candidate.scope}")
