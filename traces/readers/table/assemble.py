"""From tables of cells to blocks of numbers: which column is which, which row is which rank."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...tables import SUMMARY, Ints, Note
from . import ranks
from .block import Block
from .columns import Column, understand
from .grid import Cell, Grid
from .numbers import quantity
from .orient import upright
from .values import read_values

_RANK_ORDER = ("global rank", "rank", "worker", "process", "gpu", "device", "local rank")
_ENDS = re.compile(r"\D*(\d{1,6})\D+(\d{1,6})\D*")
_NAME_RANK = re.compile(r"(?i)(?:rank|worker|gpu)[_\-. ]?(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column of a grid plays which part: position of the rank and step columns, and the measures."""

    rank: int | None
    step: int | None
    measures: dict[str, tuple[int, Column]]
    unused: tuple[str, ...]
    pair: int | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """A grid understood: what each row names (ranks, `others`, `all`), its step, and its numbers."""

    whose: Sequence[ranks.Ranks]
    block: Block
    notes: tuple[Note, ...]


def roles(grid: Grid) -> Roles:
    """Decide the part of each column; of two with the same meaning the first counts."""
    measures: dict[str, tuple[int, Column]] = {}
    unused: list[str] = []
    keyed: dict[str, list[int]] = {"rank": [], "step": [], "pair": []}
    for at, name in enumerate(grid.header):
        column = understand(name)
        if column is not None and column.kind in keyed:
            keyed[column.kind].append(at)
        elif column is not None and column.key not in measures:
            measures[column.key] = (at, column)
        elif name.strip().lower() not in ("", "index"):
            unused.append(name)
    keyed["rank"].sort(key=lambda at: _preference(grid.header[at]))
    rank, step, pair = (keyed[kind][0] if keyed[kind] else None for kind in ("rank", "step", "pair"))
    unused += [grid.header[at] for kind in keyed for at in keyed[kind][1:]]
    if step is not None and "step_ms" not in measures and not _whole(grid.columns[step]):
        measures["step_ms"] = (step, Column("step_ms", "time"))
        step = None
    return Roles(rank, step, measures, tuple(unused), pair)


def _ends(cell: str) -> ranks.Ranks | None:
    """The two ends of a pair: `0-2` is no range there."""
    ends = _ENDS.fullmatch(cell)
    return tuple(sorted({int(ends[1]), int(ends[2])})) if ends else ranks.several(cell)


def _preference(name: str) -> int:
    words = name.lower().replace("_", " ")
    return next((at for at, known in enumerate(_RANK_ORDER) if words.startswith(known)), 1)


def _whole(cells: Sequence[Cell]) -> bool:
    values = [quantity(cell).value for cell in cells[:200]]
    return all(math.isnan(value) or value == int(value) for value in values)


def understand_rows(grid: Grid, name: str) -> Rows | None:
    """Rows of a grid, or None where no column of it can be used."""
    grid = upright(grid)
    parts = roles(grid)
    measured = any(column.kind in ("time", "count", "reading") for _, column in parts.measures.values())
    if not grid.rows or not (measured or parts.rank is not None or parts.pair is not None):
        return None
    notes: list[Note] = []
    whose = _whose(grid, parts, name, notes)
    usable = [row for row, labelled in enumerate(whose) if labelled is not None]
    if len(usable) < grid.rows:
        detail = f"{grid.rows - len(usable)} rows name no rank and were left out"
        notes.append(
            Note("rows-dropped", "weakens", detail, name, count=grid.rows - len(usable), weakens="the ranks named")
        )
    block = _numbers(grid, parts, name, notes)
    if parts.unused or (not parts.measures):
        names = ", ".join(repr(unused) for unused in parts.unused[:12]) or "all but the rank"
        notes.append(
            Note("columns-unused", "info", f"columns without a known meaning: {names}", name, count=len(parts.unused))
        )
    if len(usable) < grid.rows:
        block = block.take(np.array(usable, np.int64))
    return Rows([label for label in whose if label is not None], block, tuple(notes))


def _numbers(grid: Grid, parts: Roles, name: str, notes: list[Note]) -> Block:
    step = _steps(grid.columns[parts.step], name, notes) if parts.step is not None else np.full(grid.rows, SUMMARY)
    block = Block(np.zeros(grid.rows, np.int64), step, np.asarray(grid.lines, np.int64), {}, {}, {})
    for key, (at, column) in parts.measures.items():
        if column.kind == "label":
            block.labels[key] = ["" if cell is None else str(cell).strip() for cell in grid.columns[at]]
            continue
        read = read_values(grid.columns[at], column, grid.header[at], name)
        block.values[key] = read.value
        if not np.isnan(read.half).all():
            block.half[key] = read.half
        notes.extend(read.notes)
    return block


def _steps(cells: Sequence[Cell], name: str, notes: list[Note]) -> Ints:
    value = read_values(cells, Column("step", "step"), "step", name).value
    good = np.isfinite(value) & (value >= 0) & (value < 2**53)
    if not good.all():
        lost = int((~good).sum())
        notes.append(
            Note("steps-unreadable", "weakens", f"{lost} rows name no step", name, count=lost, weakens="order of steps")
        )
    return np.where(good, value, SUMMARY).astype(np.int64)


def _whose(grid: Grid, parts: Roles, name: str, notes: list[Note]) -> Sequence[ranks.Ranks | None]:
    """Per row the ranks it is about."""
    if parts.rank is not None:
        cells = grid.columns[parts.rank]
        known: dict[str, ranks.Ranks | None] = {cell: ranks.label(cell) for cell in set(map(str, cells))}
        return [known[str(cell)] for cell in cells]
    if parts.pair is not None:
        return [_ends(str(cell)) for cell in grid.columns[parts.pair]]
    if match := _NAME_RANK.search(name):
        return [(int(match[1]),)] * grid.rows
    if parts.step is not None:
        notes.append(
            Note("rank-unknown", "weakens", "no column names the rank; taken as rank 0", name, weakens="which rank")
        )
        return [(0,)] * grid.rows
    notes.append(
        Note(
            "ranks-assumed",
            "weakens",
            "no column names the rank; rows were taken as ranks 0, 1, ...",
            name,
            weakens="which rank",
        )
    )
    return [(row,) for row in range(grid.rows)]
