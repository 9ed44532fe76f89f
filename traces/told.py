"""Numbers told over several turns, and tables pasted in between, as one table (DESIGN section 3). Pure.

Later words replace earlier ones about the same rank, step and column; `others` are the ranks that the same words do
not name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .provenance import expand
from .tables import STEP_COLUMNS, SUMMARY, BatchTable, Floats, Ints, Note, RankInfo, StepTable, Tables

COUNTS = ("samples", "tokens", "padded_tokens", "max_len")
MOST_TOLD = 65_536
"""Most ranks that words may speak of; more are for files."""
Key = tuple[int, int]
"""Rank and step."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A number about ranks. `who`: 5 or 0-3,7 or others, all; `column`: of STEP_COLUMNS or a count (samples, tokens,
    padded_tokens, max_len); times in ms; `step` SUMMARY: over the steps; `relative`: more than the others."""

    who: str
    column: str
    value: float
    half_range: float = 0.0
    step: int = SUMMARY
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """What one message stated. `sources` maps ranks (in the form of `who`) to the label of what they read."""

    name: str
    statements: tuple[Statement, ...]
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Cells:
    """Values by rank and step while they are collected."""

    values: dict[str, dict[Key, float]] = field(default_factory=dict)
    halves: dict[str, dict[Key, float]] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    origins: dict[Key, list[str]] = field(default_factory=dict)
    lines: dict[Key, int] = field(default_factory=dict)
    relative: set[str] = field(default_factory=set)

    def put(self, column: str, key: Key, value: float, half: float, name: str) -> None:
        self.values.setdefault(column, {})[key] = value
        self.halves.setdefault(column, {})[key] = half
        self.mark(key, name)

    def mark(self, key: Key, name: str) -> None:
        names = self.origins.setdefault(key, [])
        if name not in names:
            names.append(name)


def tell(parts: Sequence[Tables | Words], world_size: int | None = None) -> Tables | None:
    """One table of parts in the order they came; None where nothing speaks of ranks. Parts hold no profiles."""
    ranks = known_ranks(parts, world_size)
    if not ranks:
        return None
    cells = _Cells()
    for part in parts:
        if isinstance(part, Words):
            _say(part, ranks, cells)
        else:
            _lay(part, cells)
    _spread(cells)
    keys = sorted({key for column in cells.values.values() for key in column} | {(r, SUMMARY) for r in cells.labels})
    labels = list(dict.fromkeys(", ".join(cells.origins.get(key, ["told"])) for key in keys))
    kept = [p for p in parts if isinstance(p, Tables)]
    report = [n for p in kept for n in p.report if n.code not in ("relative-values", "ranks-assumed")]
    if cells.relative and ("arrival_ms" in cells.relative or "arrival_ms" not in cells.values):
        detail = "a value was given as a difference to the other ranks, whose own value is unknown and counts as 0"
        report.append(Note("relative-values", "info", detail))
    hosts = {i.rank: i for p in kept for i in p.ranks}
    size = world_size or max((i.world_size or 0 for i in hosts.values()), default=0) or None
    infos = (replace(hosts.get(r, RankInfo(r)), world_size=size) for r in ranks)
    return Tables(
        steps=_steps(keys, cells, labels),
        batches=_batches(keys, cells),
        events=tuple(e for p in kept for e in p.events),
        ranks=tuple(infos),
        sources=tuple(labels),
        report=tuple(report),
        readings=tuple(r for p in kept for r in p.readings),
    )


def known_ranks(parts: Sequence[Tables | Words], world_size: int | None = None) -> tuple[int, ...]:
    """Ranks of the job: as many as were stated; else those named, and as many as `others` need to be more than one."""
    named: set[int] = set()
    others = False
    for part in parts:
        if isinstance(part, Tables):
            named.update(i.rank for i in part.ranks)
            world_size = world_size or max((i.world_size or 0 for i in part.ranks), default=0) or None
            continue
        others |= any(s.relative for s in part.statements)
        for who in (*(s.who for s in part.statements), *part.sources):
            others |= who == "others"
            named.update(r for r in expand(who) if r < MOST_TOLD)
    if world_size and all(r < world_size for r in named):
        return tuple(range(min(world_size, MOST_TOLD)))
    if others:
        return tuple(range(max(max(named, default=-1) + 1, len(named) + 2 if len(named) < 2 else 0)))
    return tuple(sorted(named))


def column_means(tables: Tables) -> dict[tuple[str, int], float]:
    """Mean of each column (time or count) of each rank, over its steps."""
    found: dict[tuple[str, int], float] = {}
    if tables.steps is not None:
        for name, values in tables.steps.columns.items():
            for rank in np.unique(tables.steps.rank):
                mine = values[(tables.steps.rank == rank) & np.isfinite(values)]
                if len(mine):
                    found[name, int(rank)] = float(mine.mean())
    return found


# ---- words -----------------------------------------------------------------------------------------------


def _say(words: Words, ranks: Sequence[int], cells: _Cells) -> None:
    named: dict[tuple[str, int], set[int]] = {}
    for s in words.statements:
        named.setdefault((s.column, s.step), set()).update(expand(s.who))
    plain = [s for s in words.statements if not s.relative]
    for s in (*plain, *(s for s in words.statements if s.relative)):
        for rank in _meant(s.who, ranks, named[s.column, s.step]):
            value = s.value + _peers(s, ranks, named[s.column, s.step], cells, words.name) if s.relative else s.value
            cells.put(s.column, (rank, s.step), value, s.half_range, words.name)
    taken = {r for who in words.sources for r in expand(who)}
    for who, label in words.sources.items():
        for rank in _meant(who, ranks, taken):
            cells.labels[rank] = label
            cells.mark((rank, SUMMARY), words.name)


def _meant(who: str, ranks: Sequence[int], named: set[int]) -> Iterable[int]:
    if who == "all":
        return ranks
    if who == "others":
        return [r for r in ranks if r not in named]
    return [r for r in expand(who) if r < MOST_TOLD]


def _peers(s: Statement, ranks: Sequence[int], named: set[int], cells: _Cells, name: str) -> float:
    """Median of the ranks a difference is measured from; they count as 0 where their value is unknown."""
    have = cells.values.get(s.column, {})
    peers = [have[r, s.step] for r in ranks if r not in named and (r, s.step) in have]
    if peers:
        return float(np.median(peers))
    cells.relative.add(s.column)
    for rank in ranks:
        if rank not in named:
            cells.put(s.column, (rank, s.step), 0.0, 0.0, name)
    return 0.0


# ---- tables ----------------------------------------------------------------------------------------------


def _lay(part: Tables, cells: _Cells) -> None:
    name = ", ".join(part.sources)
    steps, batches = part.steps, part.batches
    if steps is not None:
        for column, values in steps.columns.items():
            half = steps.half_range_ms.get(column)
            for at, key in _keys(steps.rank, steps.step):
                if math.isfinite(values[at]):
                    width = 0.0 if half is None or not math.isfinite(half[at]) else float(half[at])
                    cells.put(column, key, float(values[at]), width, name)
                    cells.lines[key] = int(steps.line[at])
    if batches is not None:
        for column in COUNTS:
            counts: Ints = getattr(batches, column)
            for at, key in _keys(batches.rank, batches.step):
                if counts[at] >= 0:
                    cells.put(column, key, float(counts[at]), 0.0, name)
        for at, key in _keys(batches.rank, batches.step):
            if batches.source[at] >= 0:
                cells.labels[key[0]] = str(batches.sources[int(batches.source[at])])


def _keys(rank: Ints, step: Ints) -> Iterator[tuple[int, Key]]:
    yield from enumerate(zip(rank.tolist(), step.tolist(), strict=True))


def _spread(cells: _Cells) -> None:
    """Where some columns are known step by step, one value over the steps holds in each of them."""
    for column, values in cells.values.items():
        stepped = {key for key in values if key[1] != SUMMARY}
        if stepped:
            continue
        times = [k for name, other in cells.values.items() if name in STEP_COLUMNS for k in other if k[1] != SUMMARY]
        for rank, step in dict.fromkeys(times):
            if (rank, SUMMARY) in values:
                half = cells.halves[column].get((rank, SUMMARY), 0.0)
                cells.put(column, (rank, step), values[rank, SUMMARY], half, cells.origins[rank, SUMMARY][-1])


def _steps(keys: Sequence[Key], cells: _Cells, labels: Sequence[str]) -> StepTable | None:
    columns = [c for c in STEP_COLUMNS if c in cells.values]
    if not columns:
        return None
    rank, step = _ints([k[0] for k in keys]), _ints([k[1] for k in keys])
    index = {label: at for at, label in enumerate(labels)}
    halves = {c: _floats(keys, cells.halves[c]) for c in columns if any(cells.halves[c].values())}
    return StepTable(
        rank=rank,
        step=step,
        start_us=np.full(len(keys), math.nan),
        columns={c: _floats(keys, cells.values[c]) for c in columns},
        half_range_ms=halves,
        origin=_ints([index[", ".join(cells.origins.get(k, ["told"]))] for k in keys]),
        line=_ints([cells.lines.get(k, -1) for k in keys]),
    )


def _batches(keys: Sequence[Key], cells: _Cells) -> BatchTable | None:
    if not cells.labels and not any(c in cells.values for c in COUNTS):
        return None
    counts = {c: np.nan_to_num(_floats(keys, cells.values.get(c, {})), nan=-1).astype(np.int64) for c in COUNTS}
    sources = tuple(dict.fromkeys(cells.labels[r] for r, _ in keys if r in cells.labels))
    source = _ints([sources.index(cells.labels[r]) if r in cells.labels else -1 for r, _ in keys])
    rank, step = _ints([k[0] for k in keys]), _ints([k[1] for k in keys])
    return BatchTable(rank, step, **counts, source=source, sources=sources)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _floats(keys: Sequence[Key], values: Mapping[Key, float]) -> Floats:
    return np.array([values.get(k, math.nan) for k in keys], dtype=np.float64)
