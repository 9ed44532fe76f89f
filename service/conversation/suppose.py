"""WHAT IF: the verdict on evidence that is only supposed; nothing is kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...knowledge.facts import Fact
from ...traces.readers.table.columns import understand as understand_column
from ...traces.told import Statement
from ..diagnosis.documents import becomes
from .acts import Answered, Context, Measures, Told
from .events import EvidenceAttached, as_numbers, stated
from .evidence import Recordings
from .mind import Mind, View
from .state import SessionState, fold
from .stating import answer_facts, answer_in_words
from .understanding import understand
from .words import becomes_in_words, percent, statements_in_words

_NORMAL = re.compile(
    r"rank\s+(\d+)(?:'?s)?\s+([a-z][a-z _-]{2,30}?)\s+(?:were|was|is|had been|would be)\s+"
    r"(?:normal|fine|ok|alike|equal|like\b|the same|as\b|on time)",
    re.IGNORECASE,
)


def suppose_words(text: str, context: Context, state: SessionState, mind: Mind, view: View) -> EvidenceAttached | None:
    """What the words suppose, as evidence that is attached nowhere; None where nothing can be supposed."""
    acts = understand(text, context)
    numbers = [s for a in acts if isinstance(a, Measures) for s in a.statements] or _normal(text, view)
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
        id=f"e{len(state.evidence) + 1}",
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
    given = suppose_words(subject, context, state, mind, view)
    if given is None:
        return f"I cannot suppose that yet. I can suppose, for example: rank {_late(view)} input wait 20 ms."
    after = supposed_view(given, state, recordings, mind)
    was, then = becomes(view.now.judgement), becomes(after.now.judgement)
    head = f"Suppose {'; '.join(given.in_words)}."
    if (was.verdict, was.cause, was.ranks) == (then.verdict, then.cause, then.ranks):
        return f"{head} The verdict would stay {becomes_in_words(was, mind.knowledge)}. Nothing is kept."
    top = after.now.judgement.leading
    lead = f" ({percent(top.live[0].probability)})" if top and top.live else ""
    now, instead = becomes_in_words(then, mind.knowledge), becomes_in_words(was, mind.knowledge)
    return f"{head} Then {now}{lead}, instead of {instead}. Nothing is kept."


def _late(view: View) -> str:
    top = view.now.judgement.leading
    return top.ranks if top and top.ranks.isdecimal() else "2"


def _normal(text: str, view: View) -> list[Statement]:
    """`rank 2's input were normal`: the median of the other ranks, and the arrival that this would mean."""
    match = _NORMAL.search(text)
    column = understand_column(match[2]) if match else None
    if match is None or column is None:
        return []
    stage = column.key.removesuffix("_ms")
    rows = {r.rank: r for r in view.evidence.extras.rows}
    mine = rows.get(int(match[1]))
    others = sorted(r.stages_ms[stage] for r in rows.values() if r is not mine and stage in r.stages_ms)
    if mine is None or stage not in mine.stages_ms or not others:
        return []
    normal = others[len(others) // 2]
    found = [Statement(match[1], column.key, normal)]
    arrival = next((n for n in _arrivals(view) if n.who == match[1]), None)
    if arrival is not None:
        found.append(Statement(match[1], "arrival_ms", arrival.value - (mine.stages_ms[stage] - normal)))
    return found


def _arrivals(view: View) -> list[Statement]:
    """Arrivals that were told, as own times of the summary."""
    rows = view.evidence.extras.rows
    basis = next((str(f["excess_in"]) for f in view.now.facts if f.kind == "scope"), "")
    if basis != "arrival":
        return []
    return [Statement(str(r.rank), "arrival_ms", r.own_time_ms) for r in rows if r.own_time_ms is not None]
