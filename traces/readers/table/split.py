"""Find the tables in text: CSV, TSV, semicolons, Markdown, box drawing and aligned columns; the rest is prose."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import ranks
from .columns import understand
from .grid import Grid, from_rows
from .numbers import quantity
from .orient import wide_name

_RULE = re.compile(r"[\s|+\-=:─━═┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪╤╧╔╗╚╝╠╣╦╩╬│┃║]*")
_BARS = re.compile(r"[|│┃║]")
_COMMA_DECIMAL = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+")
_GAPS = (re.compile(r"\s{2,}|\t"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class Parts:
    """Tables of a text and what is left: prose lines and comment lines, each with its 1-based number."""

    grids: tuple[Grid, ...]
    prose: tuple[tuple[int, str], ...]
    comments: tuple[tuple[int, str], ...]


def split(text: str) -> Parts:
    """Cut text into tables, prose and comments. Takes time linear in the text; never raises."""
    lines = text.split("\n")
    grids: list[Grid] = []
    prose: list[tuple[int, str]] = []
    comments: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith(("#", "//")) and not _is_header(_delimited(line.lstrip("# /"), ",")):
            comments.append((at + 1, line.lstrip("#/ \t").strip()))
        elif line.strip():
            end, grid = _table_at(lines, at)
            if grid is not None:
                grids.append(grid)
                comments.extend((n + 1, lines[n].lstrip("# \t")) for n in range(at, end) if lines[n].startswith("#"))
                at = end
                continue
            if not _RULE.fullmatch(line) and not line.strip().startswith("```"):
                prose.append((at + 1, line.strip()))
        at += 1
    return Parts(tuple(grids), tuple(prose), tuple(comments))


def _table_at(lines: Sequence[str], at: int) -> tuple[int, Grid | None]:
    """The table that begins on line `at` and the line after it, or (at, None)."""
    line = lines[at].lstrip("# ") if lines[at].lstrip().startswith("#") else lines[at]
    if len(_BARS.findall(line)) and _is_header(_barred(line)):
        end, grid = _bars(lines, at)
        if grid.rows:
            return end, grid
    for delimiter in ("\t", ",", ";"):
        if delimiter in line and _is_header(_delimited(line, delimiter)):
            end, grid = _separated(lines, at, delimiter)
            if grid.rows:
                return end, grid
    found = [_aligned(lines, at, gap) for gap in _GAPS if _is_header(gap.split(line.strip()))]
    return max(found, key=lambda each: each[0], default=(at, None))


def _is_header(cells: Sequence[str]) -> bool:
    """A header names at least two columns, and one of them is known or they are the ranks."""
    if len(cells) < 2 or len(cells) > 100_000:
        return False
    if sum(ranks.named(cell) is not None for cell in cells) >= 2:
        return True
    if _names_ranks(cells):
        return True
    if any(quantity(cell).problem == "" for cell in cells):
        return False
    known = {cell.strip().lower() for cell in cells if _meant(cell)}
    return len(known) >= 2 or (len(known) == 1 and _meant(cells[0]) and all(map(_is_word, cells)))


def _names_ranks(cells: Sequence[str]) -> bool:
    """`rank 0 1 2 3`, or any word and all ranks from 0 on: the header of a table with a rank a column."""
    across = [cell.strip() for cell in cells[1:]]
    if not all(cell.isdecimal() and cell.isascii() for cell in across):
        return False
    counted = len(across) > 1 and across == [str(rank) for rank in range(len(across))]
    return _names_rank(cells[0]) or (counted and understand(cells[0]) is None)


def _names_rank(cell: str) -> bool:
    """True for a header that names the rank column."""
    column = understand(cell)
    return column is not None and column.kind in ("rank", "pair")


def _meant(cell: str) -> bool:
    return len(cell) <= 80 and (understand(cell) is not None or wide_name(cell) is not None)


def _is_word(cell: str) -> bool:
    return bool(re.fullmatch(r"[\"'A-Za-z][\w .%()/\[\]+\"'-]*", cell.strip()))


def _barred(line: str) -> list[str]:
    cells = [cell.strip() for cell in _BARS.split(line.strip())]
    if cells and not cells[0] and _BARS.match(line.strip()):
        cells = cells[1:]
    return cells[:-1] if cells and not cells[-1] else cells


def _bars(lines: Sequence[str], at: int) -> tuple[int, Grid]:
    end = at + 1
    rows: list[list[str]] = []
    numbers: list[int] = []
    while end < len(lines) and lines[end].strip() and (_BARS.search(lines[end]) or _RULE.fullmatch(lines[end])):
        if not _RULE.fullmatch(lines[end]):
            rows.append(_barred(lines[end]))
            numbers.append(end + 1)
        end += 1
    return end, from_rows(_barred(lines[at]), rows, numbers, "markdown")


def _delimited(line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def _separated(lines: Sequence[str], at: int, delimiter: str) -> tuple[int, Grid]:
    end = at + 1
    while end < len(lines) and (delimiter in lines[end] or lines[end].startswith("#")):
        end += 1
    numbers = [n for n in range(at + 1, end) if not lines[n].lstrip().startswith("#")]
    body = [lines[n] for n in numbers]
    try:
        rows = list(csv.reader(body, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        rows = [line.split(delimiter) for line in body]
    if len(rows) != len(body):
        rows = [line.split(delimiter) for line in body]
    if delimiter == ";":
        rows = [[_decimal_point(cell) for cell in row] for row in rows]
    header = _delimited(lines[at].lstrip("# "), delimiter)
    return end, from_rows(header, rows, [n + 1 for n in numbers], {"\t": "tsv", ",": "csv"}.get(delimiter, "semicolon"))


def _decimal_point(cell: str) -> str:
    return cell.replace(".", "").replace(",", ".") if _COMMA_DECIMAL.fullmatch(cell.strip()) else cell


def _aligned(lines: Sequence[str], at: int, gap: re.Pattern[str]) -> tuple[int, Grid | None]:
    header = gap.split(lines[at].strip())
    rows: list[list[str]] = []
    numbers: list[int] = []
    end = at + 1
    while end < len(lines) and lines[end].strip():
        cells = gap.split(lines[end].strip())
        if not _RULE.fullmatch(lines[end]):
            if len(cells) - len(header) not in (0, 1) or (rows and len(cells) != len(rows[0])):
                break
            rows.append(cells)
            numbers.append(end + 1)
        end += 1
    if not rows:
        return at, None
    if len(rows[0]) == len(header) + 1:
        header = ["" if any(map(ranks.named, header)) or _names_ranks(["rank", *header]) else "index", *header]
    return end, from_rows(header, rows, numbers, "aligned")
