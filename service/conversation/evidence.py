"""From a session's state to the facts it rests on: what was recorded is measured, what was said is added. Pure.

What was said never silently replaces what was recorded: where they disagree the recorded side counts until the
engineer says which to trust, and the disagreement is a fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...knowledge.facts import Fact, Scalar, Source, fact, fact_key, replace_by_key
from ...knowledge.model import Knowledge
from ...rules.candidates import ABOUT_RANKS, suppose
from ...traces.measure import Extras, Measured, measure
from ...traces.merge import merge
from ...traces.tables import Note, Tables
from ...traces.told import Statement, Words, column_means, tell
from ..diagnosis import documents
from ..diagnosis.schemas import ReadReport
from ..diagnosis.service import NOTHING_READ
from .events import as_fact
from .remembered import Remembered
from .state import Held, SessionState

Recordings = Mapping[str, Tables]
"""Tables of pasted text and of attached traces, by id of the evidence."""

DISAGREE = 0.25
"""Relative difference above which a stated number and a recorded one contradict each other (as in traces.merge)."""
DISAGREE_MS = 2.0
SETTLES: Mapping[str, tuple[str, frozenset[Scalar]]] = {
    "gate": ("collectives", frozenset(("unknown",))),
    "stage_excess": ("part", frozenset(("some",))),
    "comparable": ("state", frozenset(("unknown",))),
}
"""Kinds of fact that are both measured and stated: the field that decides, and its values that settle nothing."""


_MERGED = Remembered(lambda *profiles: merge(profiles))
_MEASURED = Remembered(measure)
"""Recordings do not change from turn to turn."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What was said (evidence id) against what was recorded, about one quantity."""

    about: str
    recorded: str
    stated: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything a diagnosis is made from."""

    facts: tuple[Fact, ...]
    report: ReadReport
    extras: Extras
    ranks: tuple[int, ...]
    disagreements: tuple[Disagreement, ...] = ()


def assemble(state: SessionState, recordings: Recordings, knowledge: Knowledge) -> Evidence:
    """Facts and figures of a session. Raises InputError where recordings are of different jobs."""
    standing = state.standing
    tables, clashes, fixed = _tables(state, standing, recordings)
    of = _MEASURED if fixed else measure
    measured = of(tables) if tables is not None and _holds_any(tables) else Measured(())
    facts, more = _stated(state, standing, measured.facts, knowledge)
    facts += _bound_later(standing, measured.facts, knowledge)
    clashes = (*clashes, *more)
    told = [_contradiction(c) for c in clashes if not state.trusts(c.about)]
    unknown = [fact("answered", {"question": q, "scope": s}, quality="stated") for q, s in sorted(state.unknown)]
    everything = replace_by_key(measured.facts, [*facts, *told, *unknown], knowledge.keys)
    return Evidence(
        facts=tuple(knowledge.check(f) for f in everything),
        report=documents.read_report(tables) if tables is not None else NOTHING_READ,
        extras=measured.extras,
        ranks=tuple(sorted({i.rank for i in tables.ranks})) if tables is not None else (),
        disagreements=tuple(clashes),
    )


def _holds_any(tables: Tables) -> bool:
    """Whether anything was measured: a number of ranks alone is no measurement."""
    parts = (tables.steps, tables.collectives, tables.spans, tables.batches)
    return bool(tables.readings) or any(part is not None for part in parts)


# ---- tables ----------------------------------------------------------------------------------------------


def _tables(
    state: SessionState, standing: Sequence[Held], recordings: Recordings
) -> tuple[Tables | None, tuple[Disagreement, ...], bool]:
    """Everything as one job, what contradicts what, and whether it is the recordings alone, the same each turn."""
    recorded = [recordings[h.given.id] for h in standing if h.given.id in recordings]
    profiles = [t for t in recorded if t.collectives is not None or t.spans is not None]
    others = {h.given.id: recordings[h.given.id] for h in standing if h.given.id in recordings}
    means = _recorded_means(recorded)
    parts: list[Tables | Words] = []
    clashes: list[Disagreement] = []
    for held in standing:
        name = held.given.id
        if name in others:
            if others[name].collectives is None and others[name].spans is None:
                parts.append(others[name])
            continue
        words, wrong = _words(held, means, state)
        clashes += wrong
        if words.statements or words.sources:
            parts.append(words)
    told = tell(parts, state.ranks)
    stated_steps = next((h.given.steps for h in reversed(standing) if h.given.steps), None)
    if told is not None and stated_steps:
        told = told.with_notes(Note("steps-stated", "info", f"{stated_steps} steps were stated", count=stated_steps))
    if not profiles:
        return told, tuple(clashes), False
    if told is None:
        return _MERGED(*profiles), tuple(clashes), True
    extra = replace(told, ranks=tuple(replace(i, world_size=None) for i in told.ranks))
    return merge([*profiles, extra]), tuple(clashes), False


def _recorded_means(recorded: Iterable[Tables]) -> dict[tuple[str, int], float]:
    found: dict[tuple[str, int], float] = {}
    for tables in recorded:
        if tables.collectives is not None or tables.spans is not None:
            rows = _MEASURED(tables).extras.rows
            found.update({(f"{stage}_ms", r.rank): ms for r in rows for stage, ms in r.stages_ms.items()})
        else:
            found.update(column_means(tables))
    return found


def _words(held: Held, means: Mapping[tuple[str, int], float], state: SessionState) -> tuple[Words, list[Disagreement]]:
    """What a message stated, without the numbers that a recording contradicts, unless the words are trusted."""
    kept: list[Statement] = []
    clashes: list[Disagreement] = []
    for n in held.given.numbers:
        found = _clash(n.who, n.column, n.value, n.relative, means, held.given.id)
        clashes += [found] if found else []
        if found is None or state.trusts(found.about) == "stated":
            kept.append(Statement(n.who, n.column, n.value, n.half_range, n.step, n.relative))
    name = f"turn {held.turn}"
    return Words(name, tuple(kept), held.given.sources), clashes


def _clash(
    who: str, column: str, value: float, relative: bool, means: Mapping[tuple[str, int], float], evidence: str
) -> Disagreement | None:
    if relative or not who.isdecimal() or (column, int(who)) not in means:
        return None
    seen = means[column, int(who)]
    if abs(seen - value) <= max(DISAGREE * max(abs(seen), abs(value)), DISAGREE_MS):
        return None
    unit = " ms" if column.endswith("_ms") else ""
    about = f"{column.removesuffix('_ms').replace('_', ' ')} of rank {who}"
    return Disagreement(about, f"{seen:.4g}{unit} recorded", f"{value:.4g}{unit} stated", evidence)


# ---- facts -----------------------------------------------------------------------------------------------


def _stated(
    state: SessionState, standing: Sequence[Held], measured: Sequence[Fact], knowledge: Knowledge
) -> tuple[list[Fact], list[Disagreement]]:
    keys = knowledge.keys
    known = {fact_key(f, keys): f for f in measured}
    kept: list[Fact] = []
    clashes: list[Disagreement] = []
    for held in standing:
        for item in held.given.facts:
            stated = as_fact(item, held.turn, held.given.label)
            older = known.get(fact_key(stated, keys))
            found = _differs(older, stated, held.given.id) if older is not None else None
            clashes += [found] if found else []
            if found is None or state.trusts(found.about) == "stated":
                kept.append(stated)
    return kept, clashes


def _bound_later(standing: Sequence[Held], measured: Sequence[Fact], knowledge: Knowledge) -> list[Fact]:
    """Answers that were given before it was known who is late, for each scope about ranks that was found since."""
    scopes = [f for f in measured if f.kind == "scope" and f["kind"] in ABOUT_RANKS]
    found: list[Fact] = []
    for held in standing:
        for question, scope, answer in held.given.answers:
            chosen = next((a for a in knowledge.questions[question].answers if a.id == answer), None)
            if scope or chosen is None:
                continue
            for late in scopes:
                values = {"scope": late["scope"], "ranks": late["ranks"], "lateness_ms": late["lateness_ms"]}
                made = suppose(measured, chosen.facts, values, knowledge)
                source = Source(f"turn {held.turn}", held.given.label)
                found += [fact(f.kind, dict(f.values), quality="stated", source=source) for f in made]
    return found


def _differs(measured: Fact, stated: Fact, evidence: str) -> Disagreement | None:
    if measured.kind not in SETTLES:
        return None
    field, open_values = SETTLES[measured.kind]
    was, now = measured.get(field), stated.get(field)
    if was == now or was in open_values or now in open_values:
        return None
    about = " ".join(
        str(v) for v in (measured.kind.replace("_", " "), measured.get("stage", ""), measured.get("scope", "")) if v
    )
    return Disagreement(about, f"{was} measured", f"{now} stated", evidence)


def _contradiction(found: Disagreement) -> Fact:
    values = {"about": found.about, "first": found.recorded, "second": found.stated}
    return fact("contradiction", values, quality="derived", source=Source(f"evidence {found.evidence}"))
