"""WHAT IF: the verdict on evidence that is only supposed; nothing is kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...knowledge.facts import Fact, fact
from ...knowledge.thresholds import threshold
from ...rules.counterfactuals import Reasoned, reason
from ...traces.attribute import part_of
from ...traces.readers.table.columns import understand as understand_column
from ...traces.told import Statement
from ..diagnosis import documents
from ..diagnosis.documents import becomes
from .acts import Answered, Context, Measures, Told
from .events import EvidenceAttached, as_numbers, stated
from .evidence import Recordings
from .mind import Mind, View
from .state import SessionState, fold
from .stating import answer_facts, answer_in_words
from .understanding import understand
from .words import becomes_in_words, figure, percent, statements_in_words

_NORMAL = re.compile(
    r"rank\s+(\d+)(?:'?s)?\s+([a-z][a-z _-]{2,30}?)\s+(?:were|was|is|had been|would be)\s+"
    r"(?:normal|fine|ok|alike|equal|like\b|the same|as\b|on time)",
    re.IGNORECASE,
)


def suppose_words(text: str, context: Context, state: SessionState, mind: Mind, view: View) -> EvidenceAttached | None:
    """What the words suppose, as evidence that is attached nowhere; None where nothing can be supposed."""
    acts = understand(text, context)
    numbers = [s for a in acts if isinstance(a, Measures) for s in a.statements]
    facts = [f for a in acts if isinstance(a, Told) for f in a.facts if f.kind != "claim"]
    words = [w for a in acts if isinstance(a, Told) for w in a.in_words]
    for act in acts:
        if isinstance(act, Answered):
            facts += answer_facts(act, mind, view)
            words.append(answer_in_words(act, mind, view))
    return supposition(numbers, facts, state, words)


def supposition(
    numbers: Sequence[Statement], facts: Sequence[Fact], state: SessionState, words: Sequence[str] = ()
) -> EvidenceAttached | None:
    """Numbers and facts as evidence with the next id; None for nothing."""
    if not numbers and not facts:
        return None
    return EvidenceAttached(
        id=state.next_id,
        form="statement",
        label="supposed",
        numbers=as_numbers(numbers),
        facts=[stated(f) for f in facts],
        in_words=[*statements_in_words(numbers), *(words or map(str, facts))],
    )


def supposed_view(given: EvidenceAttached, state: SessionState, recordings: Recordings, mind: Mind) -> View:
    """The evidence with the supposition in it."""
    return mind.view(fold([(state.turn, given)], state), recordings)


def what_if(subject: str, context: Context, state: SessionState, recordings: Recordings, mind: Mind, view: View) -> str:
    """The answer to a supposition, in words."""
    normal = stage_named(subject)
    if normal is not None:
        return _as_the_others(*normal, mind, view)
    given = suppose_words(subject, context, state, mind, view)
    if given is None:
        return f"I cannot suppose that yet. I can suppose, for example: rank {_late(view)}'s input were normal."
    after = supposed_view(given, state, recordings, mind)
    return _compared(f"Suppose {'; '.join(given.in_words)}.", view.now, after.now, mind)


def _compared(head: str, now: Reasoned, then: Reasoned, mind: Mind) -> str:
    was, will = becomes(now.judgement), becomes(then.judgement)
    before, after = becomes_in_words(was, mind.knowledge), becomes_in_words(will, mind.knowledge)
    if before == after:
        return f"{head} The verdict would stay {before}. Nothing is kept."
    top = then.judgement.leading
    lead = f" ({percent(top.live[0].probability)})" if top and top.live else ""
    return f"{head} Then {after}{lead}, instead of {before}. Nothing is kept."


# ---- a stage as on the other ranks -----------------------------------------------------------------------


def stage_named(text: str) -> tuple[str, str] | None:
    """`rank 2's input were normal`: the rank and the stage; None for other words."""
    match = _NORMAL.search(text)
    column = understand_column(match[2]) if match else None
    return (match[1], column.key.removesuffix("_ms")) if match and column and column.kind == "time" else None


def _as_the_others(rank: str, stage: str, mind: Mind, view: View) -> str:
    """The verdict if one stage of a late rank took what it takes on the on-time ranks."""
    now = view.now
    named = stage.replace("_", " ")
    late = next((f for f in now.facts if f.kind == "scope" and f["ranks"] == rank), None)
    excess = next((f for f in now.facts if _is_excess(f, f"rank:{rank}", stage)), None)
    if late is None or excess is None:
        return f"I cannot suppose that: no {named} of rank {rank} was measured against the other ranks."
    facts, left_ms = normal_stage(now.facts, late, excess)
    then = reason(documents.canonical(facts, mind.knowledge), mind.knowledge, mind.reasoner.infer)
    head = f"Suppose the {named} of rank {rank} were like the others', {figure(float(excess['excess_ms']))} ms shorter."
    if left_ms <= 0:
        head += f" Rank {rank} would arrive with the others: nothing of its lateness would be left."
    else:
        head += f" Rank {rank} would still be {figure(left_ms)} ms late."
    gain = next((r for r in view.evidence.extras.recoverable if r.scope == late["scope"] and r.stage == stage), None)
    if gain is not None:
        head += f" By replay of every step the gain is about {figure(round(gain.ms_per_step, 1))} ms a step."
    return _compared(head, now, then, mind)


def _is_excess(item: Fact, scope: str, stage: str) -> bool:
    return item.kind == "stage_excess" and item["scope"] == scope and item["stage"] == stage


def normal_stage(facts: Sequence[Fact], late: Fact, excess: Fact) -> tuple[list[Fact], float]:
    """The facts with one stage of a late rank as on the on-time ranks, and the lateness that is left, ms. A lateness
    that is no more worth reporting (threshold loss_share) is none."""
    scope = late["scope"]
    left = float(late["lateness_ms"]) - float(excess["excess_ms"])
    share = float(late["loss_share"]) * max(left, 0.0) / max(float(late["lateness_ms"]), 1e-9)
    if share < threshold("loss_share"):
        return [f for f in facts if f.get("scope") != scope and f.kind != "wait"], 0.0
    loss = float(late["loss_ms"]) * left / float(late["lateness_ms"])
    changed = {**dict(late.values), "lateness_ms": left, "loss_ms": loss, "loss_share": share}
    found: list[Fact] = []
    for item in facts:
        if item is late:
            found.append(fact("scope", changed, quality="supposed", source=late.source))
        elif item.kind == "stage_excess" and item["scope"] == scope:
            found.append(_covering(item, 0.0 if item is excess else float(item["excess_ms"]), left))
        elif item.kind not in ("wait", "unaccounted"):
            found.append(item)
    return found, left


def _covering(item: Fact, excess_ms: float, lateness_ms: float) -> Fact:
    coverage = excess_ms / max(lateness_ms, 1e-9)
    values = {**dict(item.values), "excess_ms": excess_ms, "coverage": coverage, "part": part_of(coverage)}
    return fact("stage_excess", values, quality="supposed", source=item.source)


def _late(view: View) -> str:
    top = view.now.judgement.leading
    return top.ranks if top and top.ranks.isdecimal() else "2"
