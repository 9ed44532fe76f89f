"""Measurements in sentences: "rank 2 input wait 130-150 ms, others 15-25 ms"; "input 20/20/140/20".

A sentence is read from left to right: a measure holds until the next, ranks hold until the next, a number
belongs to both. Numbers that find no measure or no rank are reported, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...tables import SUMMARY, Note
from . import ranks
from .assemble import Rows
from .block import Block
from .columns import Column, understand
from .numbers import NUMBER, Quantity, unit_pattern
from .tokens import LONGEST_LINE, ON, Token, shared_unit, tokens

_CLAUSES = re.compile(r";|\.(?=\s|$)|(?<=[a-z])\?(?=\s|$)")
_READS = re.compile(r"\breads?\b(?:\s+from)?", re.IGNORECASE)
_SOURCE_WHO = re.compile(
    r"^\W*((?:ranks?|gpus?)\s+\d(?:[\d,\s\-–and]*\d)?|\d+|(?:the\s+|all\s+)*(?:others?|rest|all ranks|all))\b", re.I
)
_LOG_LINE = re.compile(r"(?i)watchdog|WorkNCCL|NCCL (?:INFO|WARN)|timed? ?out|time across ranks|Traceback|Error\b")
_FOR_ALL = ("transfer_ms", "step_ms")
_KEYED = re.compile(r"^[\W_]*([A-Za-z][\w +/()\[\].-]{0,60}?)\s*[:=]\s*(.+)$")


@dataclass(frozen=True, slots=True)
class Statement:
    """`key` of `who` in `step` is `quantity`; `relative` means more than the other ranks."""

    who: ranks.Ranks
    step: int
    key: str
    quantity: Quantity
    line: int
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What sentences stated: rows for the table, and what was not understood."""

    rows: Rows | None
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Memory:
    """What earlier sentences leave behind for one that names no measure or no rank: `rank 2 input 140. others 20`."""

    column: Column | None = None
    who: ranks.Ranks | None = None


@dataclass(slots=True)
class _Context:
    """What holds while a line is read. `carried`: the measure of an earlier sentence."""

    line: int
    who: ranks.Ranks | None = None
    column: Column | None = None
    carried: Column | None = None
    step: int = SUMMARY
    found: list[Statement] = field(default_factory=list)
    sources: list[tuple[ranks.Ranks, str, int]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


_WAITS_FOR_INPUT = re.compile(
    rf"\bwait(?:s|ed|ing)?\s+((?:about|around|some|roughly|~)?\s*{NUMBER}(?:\s*(?:-|–|to)\s*{NUMBER})?\s*\w{{0,12}})"
    r"\s+(?:for|on)\s+(?:its\s+|the\s+|their\s+)?(?:next\s+)?(?:data|inputs?|batch(?:es)?|loaders?)\b",
    re.IGNORECASE,
)
"""The measure stands behind its value: `waits about 140 ms for data`."""


def read(lines: Sequence[tuple[int, str]], name: str) -> Said:
    """Statements of prose lines (number, text) as rows; never raises."""
    found: list[Statement] = []
    sources: list[tuple[ranks.Ranks, str, int]] = []
    unused: list[str] = []
    heading: ranks.Ranks | None = None
    skipped = 0
    for number, line in lines:
        context = _Context(number, who=heading)
        if len(line) > LONGEST_LINE or _LOG_LINE.search(line):
            skipped += 1
            continue
        if _keyed(line, context):
            found += context.found
            continue
        parts = [tuple(tokens(clause)) for clause in _clauses(line, context)]
        only = [token for part in parts for token in part]
        if len(only) == 1 and only[0].kind == "who" and line.rstrip(":").endswith(only[0].text.rstrip()):
            heading = only[0].who
            continue
        for part in parts:
            context.column = context.carried = None
            context.who = heading if context.who == "others" else context.who
            _read_clause(part, context)
        found += context.found
        sources += context.sources
        unused += context.unused
    said = _said(found, sources, unused, name)
    if not skipped:
        return said
    note = Note(
        "log-lines", "info", f"{skipped} lines are log messages or too long; not read as data", name, count=skipped
    )
    return replace(said, notes=(*said.notes, note))


def sentence(text: str, memory: Memory) -> tuple[list[Statement], list[tuple[ranks.Ranks, str]], list[str]]:
    """Statements of one sentence, what ranks read, and numbers that found no measure or rank; updates the memory."""
    context = _Context(0, who=memory.who, carried=memory.column)
    if len(text) > LONGEST_LINE or _LOG_LINE.search(text):
        return [], [], []
    if not _keyed(text, context):
        for clause in _clauses(text, context):
            context.column = None
            _read_clause(tuple(tokens(clause)), context)
    memory.column, memory.who = context.carried, context.who
    return _last_named(context.found), [(who, words) for who, words, _ in context.sources], context.unused


def _clauses(line: str, context: _Context) -> list[str]:
    """Clauses of a line; those that name what ranks read are taken as source labels."""
    clauses = []
    for clause in _CLAUSES.split(_WAITS_FOR_INPUT.sub(r"input wait \1", line)):
        if not (_READS.search(clause) and _sources(clause, context)):
            clauses.append(clause)
    return clauses


def _sources(clause: str, context: _Context) -> bool:
    found: list[tuple[ranks.Ranks, str, int]] = []
    for part in re.split(r",(?!\s*\d)", clause):
        match = _SOURCE_WHO.match(part)
        who = ranks.label(match[1]) if match else None
        words = _READS.sub("", part[match.end() :]).strip(" .:") if match else ""
        if who is None or not words or re.search(rf"{NUMBER}\s*{unit_pattern()}", words):
            return False
        found.append((who, words, context.line))
    context.sources += found
    return True


def _keyed(line: str, context: _Context) -> bool:
    """A line `input wait (ms): 20 20 140 20`: a value a rank, in order."""
    match = _KEYED.match(line)
    column = understand(match[1]) if match else None
    if match is None or column is None or column.kind not in ("time", "count"):
        return False
    body, unit = match[2].strip().strip("[]."), ""
    if tail := re.search(rf"(?<=[\d\s])({unit_pattern()})$", body):
        body, unit = body[: tail.start()], tail[1]
    parts = [part for part in re.split(r"\s*[,/|]\s*|\s+", body.strip()) if part]
    if len(parts) < 2 or not all(re.fullmatch(rf"~?{NUMBER}(?:-{NUMBER})?|nan|n/?a|-", part, re.I) for part in parts):
        return False
    values = shared_unit([*parts[:-1], parts[-1] + unit])
    context.found += [
        Statement((rank,), SUMMARY, column.key, _scaled(value, column), context.line)
        for rank, value in enumerate(values)
    ]
    return True


def _read_clause(part: Sequence[Token], context: _Context) -> None:
    skip = -1
    for at, token in enumerate(part):
        if at <= skip:
            continue
        if token.kind == "who":
            before = part[at - 1].who if at and part[at - 1].kind == "who" else None
            several = isinstance(before, tuple) and isinstance(token.who, tuple)
            context.who = (*before, *token.who) if several else token.who  # type: ignore[misc]
        elif token.kind == "step":
            context.step = int(token.text)
        elif token.kind == "column":
            context.column = token.column or context.column
        elif token.kind == "alien":
            context.unused.append(token.text)
        elif token.kind in ("value", "list"):
            skip = _take_value(part, at, context)


def _take_value(part: Sequence[Token], at: int, context: _Context) -> int:
    """Record the value at `at` with the words that follow it; returns the last token used."""
    token, used = part[at], at
    column, who, relative = context.column, context.who, False
    for ahead in range(at + 1, len(part)):
        word = part[ahead]
        if word.kind == "who" and _trailing(part, ahead):
            if ahead - 1 == used > at and isinstance(who, tuple) and isinstance(word.who, tuple):
                who = (*who, *word.who)
            else:
                who = word.who
            used = ahead
            if context.who is None:
                context.who = word.who
        elif word.kind == "column" and word.column and _follows(word, column, token):
            column, used = word.column, ahead
        elif word.kind in ("after", "more"):
            relative, used = True, ahead
        else:
            break
    _record(token, column, who, relative, context)
    return used


def _trailing(part: Sequence[Token], ahead: int) -> bool:
    """Ranks after a number belong to it after a preposition, or unless a number follows them."""
    if re.match(rf"{ON.pattern}\b", part[ahead].text, re.IGNORECASE):
        return True
    following = part[ahead + 1].kind if ahead + 1 < len(part) else "comma"
    return following not in ("value", "list", "column", "more", "after")


def _follows(word: Token, column: Column | None, token: Token) -> bool:
    """A measure after a number counts where none stood before, for counts, and for "after the last arrival"."""
    timed = any(value.factor_ms is not None for value in token.values)
    counted = word.column is not None and word.column.kind == "count" and not timed
    return column is None or counted or word.text.lower().startswith(("after", "past"))


def _record(token: Token, column: Column | None, who: ranks.Ranks | None, relative: bool, context: _Context) -> None:
    column = column or context.carried
    if column is None or column.kind not in ("time", "count"):
        context.unused.append(token.text)
        return
    values = [_scaled(value, column) for value in token.values]
    if len(values) > 1 and (who is None or who == "all"):
        targets: list[ranks.Ranks] = [(rank,) for rank in range(len(values))]
    elif len(values) > 1 and isinstance(who, tuple) and len(who) == len(values):
        targets = [(rank,) for rank in who]
    elif len(values) == 1 and (who is not None or column.key in _FOR_ALL):
        targets = ["all" if who is None or column.key == "transfer_ms" else who]
    else:
        context.unused.append(token.text)
        return
    context.carried = column
    for target, value in zip(targets, values, strict=True):
        context.found.append(Statement(target, context.step, column.key, value, context.line, relative))


def _scaled(value: Quantity, column: Column) -> Quantity:
    factor = (value.factor_ms or column.factor_ms or 1.0) if column.kind == "time" else 1.0
    return replace(value, value=value.value * factor, half=value.half * factor)


def _said(found: list[Statement], sources: list[tuple[ranks.Ranks, str, int]], unused: list[str], name: str) -> Said:
    notes = []
    if unused:
        sample = ", ".join(repr(text.strip()) for text in unused[:8])
        notes.append(
            Note(
                "numbers-unused", "info", f"numbers without a known measure and rank: {sample}", name, count=len(unused)
            )
        )
    if not found and not sources:
        return Said(None, tuple(notes))
    found, more = _absolute(_last_named(found), name)
    return Said(_rows(found, sources), (*notes, *more))


def _last_named(found: list[Statement]) -> list[Statement]:
    """`the last rank` is the one that arrives last, or without arrivals the highest that is named."""
    arrivals = {
        s.who[0]: s.quantity.value for s in found if s.key == "arrival_ms" and isinstance(s.who, tuple) and s.who
    }
    named = [rank for s in found if isinstance(s.who, tuple) for rank in s.who]
    last = max(arrivals, key=lambda rank: arrivals[rank]) if arrivals else max(named, default=None)
    if last is None:
        return [s for s in found if s.who != "last"]
    return [replace(s, who=(last,)) if s.who == "last" else s for s in found]


def _absolute(found: list[Statement], name: str) -> tuple[list[Statement], list[Note]]:
    """Turn "150 ms after its peers" into values that differ by that much; the peers count as 0 if unknown."""
    result = [s for s in found if not s.relative]
    notes: list[Note] = []
    for said in (s for s in found if s.relative):
        peers = [s.quantity.value for s in result if s.key == said.key and s.who != said.who]
        base = float(np.median(peers)) if peers else 0.0
        result.append(replace(said, quantity=replace(said.quantity, value=said.quantity.value + base)))
        if not peers:
            result.append(Statement("others", said.step, said.key, Quantity(0.0), said.line))
            detail = (
                f"{said.key} was given as a difference to the other ranks, whose own value is unknown and counts as 0"
            )
            notes.append(Note("relative-values", "info", detail, name))
    return result, notes


def _rows(found: list[Statement], sources: list[tuple[ranks.Ranks, str, int]]) -> Rows:
    keys = list(dict.fromkeys(s.key for s in found))
    whose: list[ranks.Ranks] = [*(s.who for s in found), *(who for who, _, _ in sources)]
    values = {key: np.full(len(whose), math.nan) for key in keys}
    half = {key: np.full(len(whose), math.nan) for key in keys}
    for row, s in enumerate(found):
        values[s.key][row] = s.quantity.value
        half[s.key][row] = s.quantity.half
    labels = {"source": [*[""] * len(found), *(label for _, label, _ in sources)]}
    step = np.array([*(s.step for s in found), *[SUMMARY] * len(sources)], np.int64)
    line = np.array([*(s.line for s in found), *(line for _, _, line in sources)], np.int64)
    half = {key: width for key, width in half.items() if not np.isnan(width).all()}
    return Rows(whose, Block(np.zeros(len(whose), np.int64), step, line, values, half, labels), ())
