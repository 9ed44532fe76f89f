"""Which reader reads a file: each says how sure it is from the first bytes, decompressed; the surest reads."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ...knowledge.errors import InputError
from ..limits import DEFAULT_LIMITS, Limits
from ..tables import Tables
from . import collective_summary, kineto, sidelog, table
from .source import Progress, Source, require_text

READERS: tuple[ModuleType, ...] = (kineto, sidelog, collective_summary, table)
SURE_ENOUGH = 0.2


def read_file(
    where: Path | str | bytes, *, name: str = "", limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Tables:
    """Tables of one file. Raises InputError where no reader knows it or the reader cannot use it."""
    source = Source.of(where, name)
    head = source.head()
    require_text(head, source)
    scores = [(reader.sniff(head), -order, reader) for order, reader in enumerate(READERS)]
    score, _, reader = max(scores, key=lambda s: s[:2])
    if score < SURE_ENOUGH:
        raise InputError(
            "no reader knows this kind of file",
            where=source.name,
            remedy="Give profiler traces (JSON, gzip), tables (CSV, TSV, Markdown, JSON) or JSONL step logs.",
        )
    return reader.read(where, name=name, limits=limits, progress=progress)
