"""A message in pieces: sentences, pasted tables, lines of a log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ....knowledge.errors import InputError
from ....traces.readers import registry, table
from ....traces.readers.table import structured
from ....traces.readers.table.assemble import understand_rows
from ....traces.readers.table.split import split

_CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_BREAKS = re.compile(r"\r\n?|[\u2028\u2029\x85]")
_LOG = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T _]\d\d:\d\d|\[rank\s*\d+\]"
    r"|\[?(?:ERROR|WARN(?:ING)?|INFO|CRITICAL|FATAL|DEBUG)\b[\]: ]"
    r"|Traceback \(most|File \"|\S+:\d+:\d+ \[\d+\] NCCL|\w+(?:\.\w+)*(?:Error|Exception)\b:?|[WEIF]\d{4} \d\d:\d\d"
    r"|(?:root )?[Cc]ause \(first observed|exitcode\s*:)"
    r"|WorkNCCL|NCCL (?:INFO|WARN)|\[Rank \d+\]|Watchdog caught|local_rank: \d+ \(pid"
)
_SENTENCE = re.compile(r"(?<=[!?;])\s+|(?<!\bca\.)(?<!approx\.)(?<!\bvs\.)(?<!\bno\.)(?<=\.)\s+")
_NUMBERS = re.compile(r"\s*[-+~]?\d[\d.]*(?:(?:\s*[,;|\t]\s*|\s+)[-+~]?\d[\d.]*)+\s*")
_RANK_LINE = re.compile(r"^\s*(?:ranks?|gpu|worker)\s*#?\d+\b", re.I | re.M)
LONGEST_SENTENCE = 2000
FIRST_LINES = 300
"""A table begins within so many lines of a message."""
HEAD = 1 << 16
"""Bytes by which a reader knows its kind of log."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message. `bare`: numbers in rows without a header."""

    kind: Literal["sentence", "table", "log", "bare"]
    text: str


def cleaned(text: str) -> str:
    """Text with plain line breaks, without control, direction and zero-width characters."""
    return _CONTROL.sub("", _BREAKS.sub("\n", text)).replace("\u00a0", " ").strip()


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a cleaned message, in order."""
    lines = text.split("\n")
    opens = next(
        (at for at, line in enumerate(lines) if line.lstrip()[:1] in ("{", "[") and len(line.strip()) > 1), None
    )
    if opens is not None and _structured(rest := "\n".join(lines[opens:])):
        yield from _lines(lines[:opens])
        yield Piece("table", rest)
        return
    prose = _outside_tables(text) if len(lines) > 1 else None
    if prose is None:
        yield from _lines(lines)
        return
    inside = [at for at, line in enumerate(lines) if at not in prose and line.strip()]
    while len(inside) > 2 and not re.search(r"\d", lines[inside[-1]]):
        prose |= {inside.pop()}
    yield from _lines(lines[: inside[0]])
    yield Piece("table", "\n".join(lines[at] for at in range(inside[0], inside[-1] + 1) if at not in prose))
    yield from _lines([line for at, line in enumerate(lines) if at > inside[0] and at in prose])


def read_by_a_log_reader(text: str) -> bool:
    """Whether a reader of logs (not of tables) takes the text."""
    head = text[:HEAD].encode("utf-8", "replace")
    try:
        return any(reader.sniff(head) >= registry.SURE_ENOUGH for reader in registry.READERS if reader is not table)
    except (InputError, RecursionError):
        return False


def _structured(text: str) -> bool:
    try:
        if any(understand_rows(grid, "") for grid in structured.grids(text, "")[0]):
            return True
    except (InputError, RecursionError):
        return False
    return read_by_a_log_reader(text)


def _outside_tables(text: str) -> frozenset[int] | None:
    """Lines of prose beside the tables of the text; None where it has no table."""
    if len(_RANK_LINE.findall(text)) > 1:
        return None
    lines = text.split("\n")
    if len(lines) > 2 * FIRST_LINES and not _has_table("\n".join(lines[:FIRST_LINES])):
        return None
    parts = split(text)
    if not any(understand_rows(grid, "") for grid in parts.grids):
        return None
    return frozenset(number - 1 for number, _ in parts.prose)


def _has_table(text: str) -> bool:
    return any(understand_rows(grid, "") for grid in split(text).grids)


def _lines(lines: list[str]) -> Iterator[Piece]:
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and (
            _LOG.search(lines[end][:LONGEST_SENTENCE]) or (end > at and lines[end][:1].isspace())
        ):
            end += 1
        if end > at:
            yield Piece("log", "\n".join(lines[at:end]))
            at = end
            continue
        while end < len(lines) and _NUMBERS.fullmatch(lines[end][:LONGEST_SENTENCE]):
            end += 1
        if end > at + 1:
            yield Piece("bare", "\n".join(lines[at:end]))
            at = end
            continue
        yield from _sentences(lines[at])
        at += 1


def _sentences(line: str) -> Iterator[Piece]:
    if len(line) > LONGEST_SENTENCE:
        yield Piece("sentence", line)
        return
    for sentence in _SENTENCE.split(line.lstrip("-*• \t>")):
        if sentence.strip():
            yield Piece("sentence", sentence.strip())
