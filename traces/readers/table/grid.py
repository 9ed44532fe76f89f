"""A table as text gave it: named columns of cells, before anything is understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Cell = object
"""str, int, float, bool or None (the cell does not exist)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns of equal length under `header`; `lines` are 1-based lines (or record numbers) of the source."""

    header: tuple[str, ...]
    columns: tuple[Sequence[Cell], ...]
    lines: Sequence[int]
    syntax: str = "csv"

    @property
    def rows(self) -> int:
        return len(self.lines)


def from_rows(header: Sequence[str], rows: Sequence[Sequence[Cell]], lines: Sequence[int], syntax: str) -> Grid:
    """A grid of rows; short rows are filled with None, cells beyond the header get a made-up name."""
    width = max(len(header), max(map(len, rows), default=0))
    names = [*header, *(f"column {at + 1} (no header)" for at in range(len(header), width))]
    even = all(len(row) == width for row in rows)
    full = rows if even else [[*row, *[None] * (width - len(row))] for row in rows]
    columns = tuple(zip(*full, strict=True)) if full else tuple(() for _ in names)
    return Grid(tuple(names), columns, lines, syntax)


def from_records(records: Sequence[dict[str, Cell]], lines: Sequence[int], syntax: str) -> Grid:
    """A grid of JSON objects; its header is the union of their keys in order of appearance."""
    names = tuple(dict.fromkeys(name for record in records for name in record))
    columns = tuple([record.get(name) for record in records] for name in names)
    return Grid(names, columns, lines, syntax)
