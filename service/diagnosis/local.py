"""Diagnoses files or pasted text in this process: read, measure, infer, write the document."""

from __future__ import annotations

from collections.abc import Sequence
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
from .schemas import Diagnosis
from .service import diagnose

PASTED = "pasted text"


def diagnose_paths(
    paths: Sequence[str | Path],
    *,
    answers: Sequence[Fact] = (),
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
    progress: Progress | None = None,
    created_at: str | None = None,
    reasoner: Reasoner | None = None,
) -> Diagnosis:
    """The diagnosis of the job whose files, folders or globs are given. Raises InputError where nothing can be used."""
    tables = read_job(paths, limits=limits, workers=workers, progress=progress)
    return diagnose_tables(tables, answers=answers, created_at=created_at, reasoner=reasoner)


def diagnose_text(
    text: str, *, answers: Sequence[Fact] = (), created_at: str | None = None, reasoner: Reasoner | None = None
) -> Diagnosis:
    """The diagnosis of a pasted table or log. Raises InputError where no reader knows it."""
    tables = merge([read_file(text.encode(), name=PASTED)])
    return diagnose_tables(tables, answers=answers, created_at=created_at, reasoner=reasoner)


def diagnose_tables(
    tables: Tables, *, answers: Sequence[Fact] = (), created_at: str | None = None, reasoner: Reasoner | None = None
) -> Diagnosis:
    """The diagnosis of tables already read, and of what the engineer stated; an answer replaces a measured fact."""
    measured = measure(tables, answers)
    facts = [*(f for f in measured.facts if f not in answers), *answers]
    report = documents.read_report(tables)
    return diagnose(facts, report, measured.extras, reasoner=reasoner or local_reasoner(), created_at=created_at)
