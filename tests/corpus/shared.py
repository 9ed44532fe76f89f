"""Where labelled traces lie that are not part of the project; tests over them skip where they are absent."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from latecomer.service.diagnosis.local import diagnose_paths
from latecomer.service.diagnosis.schemas import Diagnosis

ROOT = Path(__file__).resolve().parents[2]
TRACES = Path(os.environ.get("LATECOMER_SHARED_TRACES", ROOT / ".." / "shared" / "traces"))
needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason="the labelled traces are not beside the project")


@cache
def diagnosed(folder: str) -> Diagnosis:
    """Diagnosis of a folder of the labelled traces."""
    return diagnose_paths([TRACES / folder])


def named(found: Diagnosis) -> set[int]:
    """Every rank that a scope with a verdict holds responsible."""
    judged = [s for s in found.scopes if s.verdict != "insufficient_evidence"]
    return {r for s in judged if s.kind in ("rank", "set") for r in s.ranks}


def causes(found: Diagnosis) -> dict[str, str | None]:
    """Leading cause of each scope that has a verdict."""
    return {s.id: s.causes[0].cause if s.verdict in ("established", "probable") else None for s in found.scopes}
