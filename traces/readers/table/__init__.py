"""Per-rank tables and pasted text: CSV, TSV, Markdown, aligned text, JSON, JSON lines, lists in prose.

`read_text` is pure; `read` opens a file (plain or gzip). What a header means is data: columns.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ....knowledge.errors import InputError
from ...limits import DEFAULT_LIMITS, Limits
from ...tables import Note, Tables
from ..source import HEAD_BYTES, Progress, Source, Stream, require_text
from . import prose, structured
from .assemble import Rows, understand_rows
from .block import join, number_steps
from .result import expand, job_ranks, tables_of
from .split import split
from .stated import stated

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\ufeff]")
_BREAKS = re.compile(r"\r\n?|[\u2028\u2029\x85]")
MOST_BYTES = 1 << 29
"""Largest table that is read: its cells are held in memory."""
_FOREIGN = (b'"traceEvents"', b'"pg_config"', b'"schemaVersion"', b'"deviceProperties"')
_EXAMPLE = (
    "A row a rank is enough, for example:\n  rank,input_wait_ms,compute_ms,arrival_ms\n  0,20,180,200\n  1,21,181,202\n"
    "or a sentence such as: rank 2 input wait 140 ms, others 20 ms."
)


def sniff(head: bytes) -> float:
    """How sure it is, 0 to 1, that a file with this decompressed head is a table or text about ranks."""
    if b"\0" in head[:4096] or any(mark in head for mark in _FOREIGN):
        return 0.0
    text = _clean(head.decode("utf-8", "replace"))[0]
    whole = (text.rpartition("\n")[0] or text) if len(head) >= HEAD_BYTES else text
    if any(understand_rows(grid, "") for grid in structured.grids(whole, "")[0]):
        return 0.7
    parts = split(whole)
    if any(understand_rows(grid, "") for grid in parts.grids):
        return 0.7
    return 0.3 if prose.read(parts.prose[:200], "").rows is not None else 0.0


def read(
    where: Path | str | bytes, *, name: str = "", limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Tables:
    """Tables of a file. Raises InputError where it is no text, too large, or says nothing about ranks."""
    source = Source.of(where, name)
    require_text(source.head(), source)
    stream = Stream(source, replace(limits, max_bytes=min(limits.max_bytes, MOST_BYTES)), progress)
    data = b"".join(stream)
    tables = read_text(data.decode("utf-8", "replace"), name=source.name)
    if stream.trouble:
        return tables.with_notes(
            Note("gzip-damaged", "weakens", stream.trouble, source.name, weakens="the rows at the end")
        )
    return tables


def read_text(text: str, *, name: str, limits: Limits | None = None, world_size: int | None = None) -> Tables:
    """Tables of text: one row a rank has step SUMMARY, times are in ms, NaN is not measured.

    `world_size` is the number of ranks if it is known from elsewhere; it says who "others" are.
    Raises InputError, with an example of what can be read, where nothing about ranks is recognised.
    """
    if limits is not None and len(text) > limits.max_bytes:
        raise InputError(f"is longer than {limits.max_bytes:,} characters", where=name, remedy="Give fewer steps.")
    text, notes = _clean(text, name)
    grids, found = structured.grids(text, name)
    sentences: Sequence[tuple[int, str]] = ()
    comments: Sequence[tuple[int, str]] = ()
    if not grids:
        parts = split(text)
        grids, sentences, comments = list(parts.grids), parts.prose, parts.comments
    said = prose.read(sentences, name)
    tables = [rows for grid in grids if (rows := understand_rows(grid, name))]
    job = stated((*sentences, *comments), name)
    world_size = world_size or job.world_size
    notes = [*notes, *found, *said.notes, *job.notes, *(note for rows in tables for note in rows.notes)]
    return _merged(tables, said.rows, name, world_size).with_notes(*notes)


def _merged(tables: list[Rows], said: Rows | None, name: str, world_size: int | None) -> Tables:
    everything = [*tables, *([said] if said else [])]
    job, notes = job_ranks(everything, world_size, name)
    if not everything or not job:
        raise InputError("nothing in it says what a rank measured", where=name, remedy=_EXAMPLE)
    blocks = []
    for rows in tables:
        block, assumed = number_steps(expand(rows, job), name)
        blocks.append(block)
        notes += assumed
    if said:
        blocks.append(expand(said, job))
    block, conflicts = join(blocks, name)
    result = tables_of(block, job, name, world_size)
    return result.with_notes(*notes, *conflicts)


def _clean(text: str, name: str = "") -> tuple[str, list[Note]]:
    """Text with plain line breaks and without control characters, and a note of what went."""
    text = _BREAKS.sub("\n", text.removeprefix("\ufeff"))
    text, count = _CONTROL.subn("", text)
    bad = text.count("\ufffd")
    notes = (
        [Note("control-characters", "info", f"{count} control characters were left out", name, count=count)]
        if count
        else []
    )
    if bad:
        notes.append(Note("not-utf8", "info", f"{bad} bytes are not UTF-8", name, count=bad))
    return text, notes
