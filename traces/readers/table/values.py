"""Columns of cells into numbers: the fast path for clean numbers, cell by cell otherwise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...tables import Floats, Note
from .columns import Column, lexicon
from .grid import Cell
from .numbers import Quantity, quantity


@dataclass(frozen=True, slots=True)
class Values:
    """A column as numbers (ms, or counts), with half widths of ranges (NaN elsewhere) and what was found wrong."""

    value: Floats
    half: Floats
    notes: tuple[Note, ...] = field(default=())


def read_values(cells: Sequence[Cell], column: Column, name: str, file: str = "") -> Values:
    """Read one column. Cells with a unit of their own overrule the header; none at all means milliseconds."""
    try:
        value = np.fromiter(map(float, cells), np.float64, len(cells))  # type: ignore[arg-type]
        clean = not any(isinstance(cell, bool) for cell in cells[:8]) and bool(np.isfinite(value).all())
    except (ValueError, TypeError, OverflowError):
        clean, value = False, np.empty(0)
    if clean:
        half = np.full(len(cells), math.nan)
        unitless, notes = np.ones(len(cells), bool), []
    else:
        value, half, unitless, notes = _cell_by_cell(cells, column, name, file)
    if column.kind == "time":
        factor, assumed = _factor(value[unitless], column, name, file)
        value = np.where(unitless, value * factor, value)
        half = np.where(unitless, half * factor, half)
        notes += [assumed] if assumed and bool(unitless.any()) else []
    return Values(value, half, tuple(notes))


def _cell_by_cell(
    cells: Sequence[Cell], column: Column, name: str, file: str
) -> tuple[Floats, Floats, np.ndarray, list[Note]]:
    found: dict[Cell, Quantity] = {}
    quantities: list[Quantity] = []
    for cell in cells:
        known = found.get(cell) if isinstance(cell, str) else None
        if known is None:
            known = quantity(cell)
            if isinstance(cell, str):
                found[cell] = known
        quantities.append(known)
    factor = [q.factor_ms if column.kind == "time" and q.factor_ms is not None else math.nan for q in quantities]
    factors = np.array(factor, np.float64)
    unitless = np.isnan(factors)
    scale = np.where(unitless, 1.0, factors)
    value = np.array([q.value for q in quantities], np.float64) * scale
    half = np.array([q.half for q in quantities], np.float64) * scale
    return value, half, unitless, _problems(cells, quantities, name, file)


def _problems(cells: Sequence[Cell], quantities: Sequence[Quantity], name: str, file: str) -> list[Note]:
    bad = Counter(q.problem for q, cell in zip(quantities, cells, strict=True) if q.problem and cell is not None)
    sample = {q.problem: cell for q, cell in zip(quantities, cells, strict=True) if q.problem}
    words = {"missing": "have no value", "infinite": "are infinite", "unreadable": "are no number"}
    return [
        Note(
            f"cells-{problem}",
            "weakens",
            f"{count} cell{'s' if count > 1 else ''} of column {name!r} {words[problem]} (such as "
            f"{str(sample[problem])[:40]!r}); taken as not measured",
            file,
            count=count,
            weakens=f"statements on {name}",
        )
        for problem, count in sorted(bad.items())
    ]


def _factor(value: Floats, column: Column, name: str, file: str) -> tuple[float, Note | None]:
    if column.factor_ms is not None:
        return column.factor_ms, None
    largest = float(np.nanmax(np.abs(value))) if bool(np.isfinite(value).any()) else math.inf
    seconds = column.maybe_seconds and largest < lexicon().seconds_below
    unit = "seconds" if seconds else "milliseconds"
    why = "; loggers print seconds under this name" if seconds else ""
    note = Note("unit-assumed", "info", f"column {name!r} names no unit; taken as {unit}{why}", file)
    return (1000.0 if seconds else 1.0), note
