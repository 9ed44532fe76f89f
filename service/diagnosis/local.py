"""Diagnoses files or pasted text in this process: read, measure, infer, write the document."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ...knowledge.facts import Fact
from ...traces.job import Progress, read_job
from ...traces.limits import DEFAULT_LIMITS, Limits
from ...traces.measure import measure
from ...traces.merge import merge
from ...traces.readers.registry import read_file
from ...traces.tables import Tables
from . import documents
from .reasoner import Reasoner, local_reasoner
from .schemas import Diagnosis, ReadReport
from .service import diagnose

PASTED = "pasted text"
OnRead = Callable[[ReadReport], None]
"""Called with the report of reading, before anything is concluded."""


def diagnose_paths(
    paths: Sequence[str | Path],
    *,
    answers: Sequence[Fact] = (),
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
    progress: Progress | None = None,
    created_at: str | None = None,
    reasoner: Reasoner | None = None,
    on_read: OnRead | None = None,
) -> Diagnosis:
    """The diagnosis of the job whose files, folders or globs are given. Sources below the current directory are named
    from there. Raises InputError where nothing can be used."""
    tables = read_job([near(p) for p in paths], limits=limits, workers=workers, progress=progress)
    return diagnose_tables(tables, answers=answers, created_at=created_at, reasoner=reasoner, on_read=on_read)


def diagnose_text(
    text: str,
    *,
    answers: Sequence[Fact] = (),
    created_at: str | None = None,
    reasoner: Reasoner | None = None,
    on_read: OnRead | None = None,
) -> Diagnosis:
    """The diagnosis of a pasted table or log. Raises InputError where no reader knows it."""
    tables = merge([read_file(text.encode(), name=PASTED)])
    return diagnose_tables(tables, answers=answers, created_at=created_at, reasoner=reasoner, on_read=on_read)


def diagnose_tables(
    tables: Tables,
    *,
    answers: Sequence[Fact] = (),
    created_at: str | None = None,
    reasoner: Reasoner | None = None,
    on_read: OnRead | None = None,
) -> Diagnosis:
    """The diagnosis of tables already read, and of what the engineer stated; an answer replaces a measured fact."""
    report = documents.read_report(tables)
    if on_read is not None:
        on_read(report)
    measured = measure(tables, answers)
    facts = [*(f for f in measured.facts if f not in answers), *answers]
    return diagnose(facts, report, measured.extras, reasoner=reasoner or local_reasoner(), created_at=created_at)


def near(path: str | Path) -> str | Path:
    """An absolute path below the current directory, from there; any other as it is."""
    text = str(path)
    here = os.path.join(os.getcwd(), "")
    return text.removeprefix(here) if text.startswith(here) and text != here else path
