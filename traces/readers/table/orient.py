"""Turn any table so that a row is a rank (or a rank and step): transposed and wide tables, header-less ranks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import ranks
from .columns import understand
from .grid import Cell, Grid, from_rows

_RANK_FIRST = re.compile(r"(?i)^(?:rank|gpu|worker|r)[ _\-#]?\[?(\d{1,6})\]?[ _\-.:/]+(.+)$")
_RANK_LAST = re.compile(
    r"(?i)^(.+?)(?:[ _\-.:/(\[]+(?:rank|gpu|worker|r)[ _\-#]?|\[)(\d{1,6})[)\]]*((?:\s*[(\[].*[)\]])?)$"
)


def upright(grid: Grid) -> Grid:
    """The grid with a rank in a row. Tables that are so already come back unchanged."""
    if _is_transposed(grid):
        return _transpose(grid)
    return _long(grid)


def _is_transposed(grid: Grid) -> bool:
    """Metrics down the first column, ranks across the header."""
    across = grid.header[1:]
    if len(across) < 1 or not grid.rows:
        return False
    meant = sum(understand(str(cell)) is not None for cell in grid.columns[0][:50] if isinstance(cell, str))
    if all(ranks.named(cell) is not None or ranks.label(cell) in ("others", "all") for cell in across):
        return meant > 0
    return all(cell.strip().isdecimal() for cell in across) and meant > 0


def _transpose(grid: Grid) -> Grid:
    names = [str(cell) for cell in grid.columns[0]]
    rows: list[list[Cell]] = [[label, *column] for label, column in zip(grid.header[1:], grid.columns[1:], strict=True)]
    return from_rows(["rank", *names], rows, [grid.lines[0]] * len(rows), grid.syntax)


def wide_name(header: str) -> tuple[int, str] | None:
    """(rank, metric) of a header such as `rank0_input_ms`, `input_ms_rank0` or `input (ms)[0]`, else None."""
    if match := _RANK_FIRST.match(header.strip()):
        rank, metric = match[1], match[2]
    elif match := _RANK_LAST.match(header.strip()):
        rank, metric = match[2], match[1] + match[3]
    else:
        return None
    column = understand(metric)
    return (int(rank), metric) if column and column.kind in ("time", "count", "label", "reading") else None


def _long(grid: Grid) -> Grid:
    """A row a rank from columns a rank and metric; columns that name no rank are repeated for each."""
    wide = [wide_name(name) for name in grid.header]
    named = sorted({found[0] for found in wide if found})
    if len(named) < 1 or any(_is_rank(name) for name in grid.header):
        return grid
    metrics = list(dict.fromkeys(found[1] for found in wide if found))
    shared = [at for at, found in enumerate(wide) if not found]
    at_of = {found: at for at, found in enumerate(wide) if found}
    columns: list[list[Cell]] = [[rank for rank in named for _ in range(grid.rows)]]
    columns += [[cell for _ in named for cell in grid.columns[at]] for at in shared]
    nothing: Sequence[Cell] = [None] * grid.rows
    for metric in metrics:
        parts = [grid.columns[at_of[rank, metric]] if (rank, metric) in at_of else nothing for rank in named]
        columns.append([cell for part in parts for cell in part])
    header = ("rank", *(grid.header[at] for at in shared), *metrics)
    return Grid(header, tuple(columns), list(grid.lines) * len(named), grid.syntax)


def _is_rank(name: str) -> bool:
    column = understand(name)
    return column is not None and column.kind == "rank"
