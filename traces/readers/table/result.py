"""From blocks to canonical tables: who `others` are, checks of plausibility, StepTable and BatchTable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...tables import STEP_COLUMNS, BatchTable, Floats, Ints, Note, RankInfo, Reading, StepTable, Tables
from .assemble import Rows
from .block import Block
from .columns import lexicon

_COUNTS = ("samples", "tokens", "padded_tokens", "max_len")
_DURATIONS = tuple(column for column in STEP_COLUMNS if column != "arrival_ms")
_THOUSAND = (400.0, 2500.0)


def job_ranks(tables: Sequence[Rows], world_size: int | None, name: str) -> tuple[tuple[int, ...], list[Note]]:
    """The ranks of the job: those named, and as many as `others` and a stated number of ranks need."""
    named: set[int] = set()
    open_ended = False
    for rows in tables:
        for whose in set(rows.whose):
            named.update(whose if isinstance(whose, tuple) else ())
            open_ended |= whose in ("others", "all")
    if not open_ended:
        return tuple(sorted(named)), []
    if world_size is not None and all(rank < world_size for rank in named):
        return tuple(range(world_size)), []
    others = any("others" in rows.whose for rows in tables)
    size = max(max(named, default=-1) + 1, len(named) + 2 if others and len(named) < 2 else 0)
    if size > len(named):
        detail = f"the number of ranks is not stated; {size} were taken, the fewest that fit"
        return tuple(range(size)), [Note("ranks-assumed", "weakens", detail, name, weakens="how many ranks wait")]
    return tuple(sorted(named)), []


def expand(rows: Rows, job: tuple[int, ...]) -> Block:
    """The block with a row for every rank that each row names."""
    if all(isinstance(whose, tuple) and len(whose) == 1 for whose in rows.whose):
        rank = np.fromiter((whose[0] for whose in rows.whose), np.int64, len(rows.whose))  # type: ignore[misc]
        return rows.block.take(np.arange(len(rank)), rank)
    own = _named_for(rows)
    take: list[int] = []
    rank_of: list[int] = []
    for row, whose in enumerate(rows.whose):
        taken = set().union(*(own[key] for key in _filled(rows.block, row))) if whose == "others" else set()
        members = whose if isinstance(whose, tuple) else [rank for rank in job if rank not in taken]
        take.extend([row] * len(members))
        rank_of.extend(members)
    return rows.block.take(np.array(take, np.int64), np.array(rank_of, np.int64))


def _named_for(rows: Rows) -> dict[str, set[int]]:
    """Per measure the ranks that are named with a value of their own: `others` are the rest."""
    own: dict[str, set[int]] = {key: set() for key in (*rows.block.values, *rows.block.labels)}
    for row, whose in enumerate(rows.whose):
        if isinstance(whose, tuple):
            for key in _filled(rows.block, row):
                own[key].update(whose)
    return own


def _filled(block: Block, row: int) -> list[str]:
    numbers = [key for key, value in block.values.items() if not math.isnan(value[row])]
    return numbers + [key for key, words in block.labels.items() if words[row]]


def tables_of(block: Block, job: Sequence[int], name: str, world_size: int | None) -> Tables:
    """Canonical tables of a block in order of rank and step; implausible values are noted."""
    block = block.take(np.lexsort((block.step, block.rank)))
    notes = [*_negative(block, name), *_thousandfold(block, name)]
    have = {key for key, value in block.values.items() if not np.isnan(value).all()}
    steps = _step_table(block) if have & set(STEP_COLUMNS) else None
    batches = _batch_table(block) if have & set(_COUNTS) or any(block.labels.get("source", ())) else None
    infos = tuple(_infos(block, sorted({*job, *block.rank.tolist()}), world_size))
    readings = tuple(_readings(block))
    return Tables(steps=steps, batches=batches, ranks=infos, sources=(name,), report=tuple(notes), readings=readings)


def _readings(block: Block) -> Iterator[Reading]:
    """One reading a line and column; the ranks of a line stand together, as those of a pair do."""
    for key in sorted(set(lexicon().readings.values()) & block.values.keys()):
        lines: dict[int, tuple[set[int], float]] = {}
        for rank, line, value in zip(block.rank.tolist(), block.line.tolist(), block.values[key].tolist(), strict=True):
            if math.isfinite(value):
                lines.setdefault(line, (set(), value))[0].add(rank)
        yield from (Reading(tuple(sorted(ranks)), key, value) for ranks, value in lines.values())


def _step_table(block: Block) -> StepTable:
    columns = {key: block.values[key] for key in STEP_COLUMNS if key in block.values}
    half = {key: block.half[key] for key in columns if key in block.half}
    nothing = np.full(len(block.rank), math.nan)
    return StepTable(block.rank, block.step, nothing, columns, half, np.zeros(len(block.rank), np.int64), block.line)


def _batch_table(block: Block) -> BatchTable:
    counts = [_whole(block.values.get(key), len(block.rank)) for key in _COUNTS]
    words = block.labels.get("source", [""] * len(block.rank))
    sources = tuple(dict.fromkeys(word for word in words if word))
    index = {word: at for at, word in enumerate(sources)} | {"": -1}
    source = np.array([index[word] for word in words], np.int64)
    samples, tokens, padded, longest = counts
    return BatchTable(block.rank, block.step, samples, tokens, padded, longest, source, sources)


def _whole(value: Floats | None, length: int) -> Ints:
    if value is None:
        return np.full(length, -1, np.int64)
    usable = np.isfinite(value) & (value >= 0) & (value < 2**53)
    return np.where(usable, np.round(np.where(usable, value, 0)), -1).astype(np.int64)


def _infos(block: Block, job: Iterable[int], world_size: int | None) -> Iterable[RankInfo]:
    hosts: dict[int, str] = {}
    stages: dict[int, int] = {}
    for rank, word in zip(block.rank.tolist(), block.labels.get("host", ()), strict=False):
        hosts.setdefault(rank, word)
    stage = block.values.get("pipeline_stage")
    if stage is not None:
        whole = np.isfinite(stage) & (np.abs(stage) < 2**31)
        stages = {int(r): int(s) for r, s in zip(block.rank[whole], stage[whole], strict=True)}
    for rank in job:
        yield RankInfo(rank, world_size, hosts.get(rank, ""), clock="none", pipeline_stage=stages.get(rank))


def _negative(block: Block, name: str) -> Iterable[Note]:
    """A duration below zero is taken as not measured."""
    for key in _DURATIONS:
        value = block.values.get(key)
        if value is not None and (value < 0).any():
            count = int((value < 0).sum())
            value[value < 0] = math.nan
            detail = f"{count} values of {key} are negative durations; taken as not measured"
            yield Note("unit-suspect", "weakens", detail, name, count=count, weakens=f"statements on {key}")


def _thousandfold(block: Block, name: str) -> Iterable[Note]:
    """Ranks whose values of a column differ by about 1000 may have been given in different units."""
    for key in STEP_COLUMNS:
        value = block.values.get(key)
        if value is None or not (value > 0).any():
            continue
        order = np.argsort(block.rank, kind="stable")
        _, first = np.unique(block.rank[order], return_index=True)
        medians = [float(np.median(part)) for part in np.split(value[order], first[1:]) if (part > 0).all()]
        typical = np.sort(np.array(medians))
        with np.errstate(over="ignore"):
            ratios = typical[1:] / typical[:-1]
        if len(ratios) and _THOUSAND[0] <= ratios.max() <= _THOUSAND[1]:
            detail = f"{key} of some ranks is {ratios.max():,.0f} times that of others: seconds beside milliseconds?"
            yield Note("unit-suspect", "weakens", detail, name, weakens=f"statements on {key}")
