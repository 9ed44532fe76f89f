"""JSONL side logs that a training loop writes, one object a rank and step, with wall-clock starts.

Told from other JSON lines by `t_start_unix_ns` beside `rank` and `step`. Stage times are in ms as named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...knowledge.errors import InputError
from ..limits import DEFAULT_LIMITS, Limits
from ..tables import STEP_COLUMNS, BatchTable, Floats, Ints, Note, RankInfo, StepTable, Tables
from .source import Progress, Source, Stream, require_text

_START = "t_start_unix_ns"
_COUNTS = ("samples", "tokens", "padded_tokens", "max_len")
_RENAMED = {"other_ms": "host_ms"}
_UNKNOWN = -1


def sniff(head: bytes) -> float:
    """How sure it is, 0 to 1, that a file with this decompressed head is such a side log."""
    line = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return 0.0
    return 0.97 if isinstance(entry, dict) and {"rank", "step", _START} <= entry.keys() else 0.0


def read(
    where: Path | str | bytes, *, name: str = "", limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Tables:
    """Steps and batches of a side log. Raises InputError where no line can be used."""
    source = Source.of(where, name)
    require_text(source.head(), source)
    stream = Stream(source, limits, progress)
    lines = b"".join(stream).splitlines()
    rows: list[tuple[int, Mapping[str, Any]]] = []
    dropped = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            entry = _entry(line)
            if entry is None:
                dropped += 1
            else:
                rows.append((number, entry))
    if not rows:
        raise InputError("holds no line with rank, step and start", where=source.name, remedy="Check the file.")
    report = []
    if dropped:
        detail = f"{dropped} lines are no complete record and were left out"
        report.append(Note("lines-dropped", "weakens", detail, file=source.name, count=dropped, weakens="these steps"))
    if stream.trouble:
        report.append(Note("gzip-damaged", "weakens", stream.trouble, file=source.name, weakens="later steps"))
    entries = [entry for _, entry in rows]
    ranks = sorted({entry["rank"] for entry in entries})
    return Tables(
        steps=_steps(rows),
        batches=_batches(entries),
        ranks=tuple(RankInfo(rank=rank, clock="log") for rank in ranks),
        sources=(source.name,),
        report=tuple(report),
    )


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    whole = isinstance(entry, dict) and all(_is_count(entry.get(key)) for key in ("rank", "step", _START))
    return entry if whole else None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _ints(entries: list[Mapping[str, Any]], key: str) -> Ints:
    values = (entry.get(key) for entry in entries)
    return np.array([value if _is_count(value) else _UNKNOWN for value in values], dtype=np.int64)


def _floats(entries: list[Mapping[str, Any]], key: str) -> Floats:
    values = (entry.get(key) for entry in entries)
    return np.array([float(value) if isinstance(value, (int, float)) else np.nan for value in values])


def _steps(rows: list[tuple[int, Mapping[str, Any]]]) -> StepTable:
    entries = [entry for _, entry in rows]
    keys = {key: _RENAMED.get(key, key) for entry in entries for key in entry}
    return StepTable(
        rank=_ints(entries, "rank"),
        step=_ints(entries, "step"),
        start_us=_floats(entries, _START) / 1e3,
        columns={column: _floats(entries, key) for key, column in keys.items() if column in STEP_COLUMNS},
        half_range_ms={},
        origin=np.zeros(len(rows), dtype=np.int64),
        line=np.array([number for number, _ in rows], dtype=np.int64),
    )


def _batches(entries: list[Mapping[str, Any]]) -> BatchTable | None:
    if not any(key in entry for entry in entries for key in (*_COUNTS, "source")):
        return None
    labels: dict[str, int] = {}
    source = [
        labels.setdefault(entry["source"], len(labels)) if isinstance(entry.get("source"), str) else _UNKNOWN
        for entry in entries
    ]
    samples, tokens, padded, longest = (_ints(entries, key) for key in _COUNTS)
    return BatchTable(
        rank=_ints(entries, "rank"),
        step=_ints(entries, "step"),
        samples=samples,
        tokens=tokens,
        padded_tokens=padded,
        max_len=longest,
        source=np.array(source, dtype=np.int64),
        sources=tuple(labels),
    )
