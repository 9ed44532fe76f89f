"""Traces read where they lie, for a client that sends compact tables instead of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ...traces.codec import encode
from ...traces.job import Progress, read_job
from ..diagnosis.documents import read_report
from ..diagnosis.local import near
from ..diagnosis.schemas import ReadReport

MOST_LABEL = 60


def tables_of(paths: Sequence[str], progress: Progress | None = None) -> tuple[bytes, str, ReadReport]:
    """The encoded tables of one job, what to call them, and what was read, dropped and repaired. Sources below the
    current directory are named from there. Raises InputError where nothing can be used."""
    named = [near(Path(p) if os.path.exists(p) else p) for p in paths]
    tables = read_job(named, progress=progress)
    return encode(tables), _label(named), read_report(tables)


def _label(paths: Sequence[str | Path]) -> str:
    label = ", ".join(str(path) for path in paths)
    return label if len(label) <= MOST_LABEL else f"...{label[3 - MOST_LABEL :]}"
