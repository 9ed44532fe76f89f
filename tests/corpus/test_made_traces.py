"""Made-up profiler traces on which other tools go wrong (wrong rank, an innocent rank, or an error)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from latecomer.service.diagnosis.local import diagnose_paths
from latecomer.service.diagnosis.schemas import Diagnosis

from ..traces.readers.helpers import generator
from .shared import causes, named

SLOW_LOADER = {2: 30.0}


def made(folder: Path, **options: Any) -> Diagnosis:
    made_up = generator()
    made_up.write(made_up.Job(**options), folder)
    return diagnose_paths([folder])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": generator().OLD},
        {"compact": True},
        {"gz": True},
        {"clock_ms": {3: 45.0}},
        {"skip_steps": {1: 2}},
        {"ranks": 8},
    ],
    ids=["modern names", "old names", "no blanks", "gzip", "clock of rank 3", "rank 1 began late", "8 ranks"],
)
def test_L21_the_slow_loader_of_rank_2_is_found(options: dict[str, Any], tmp_path: Path) -> None:
    found = made(tmp_path, loader_ms=SLOW_LOADER, **options)
    assert causes(found) == {"rank:2": "input_delay"} and named(found) == {2}


def test_a_healthy_job_names_nobody(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.verdict == "healthy" and not found.scopes


def test_a_missing_file_is_said_and_weakens(tmp_path: Path) -> None:
    found = made(tmp_path, loader_ms=SLOW_LOADER, absent=(1,))
    assert causes(found) == {"rank:2": "input_delay"} and found.verdict == "probable"
    assert found.gate.ranks == "missing" and any(f.kind == "rank_missing" for f in found.facts)


def test_list_folder_glob_and_any_order_give_the_same_diagnosis(tmp_path: Path) -> None:
    folder = made(tmp_path, loader_ms=SLOW_LOADER)
    files = sorted(tmp_path.iterdir())
    assert diagnose_paths(files[::-1]).id == diagnose_paths([str(tmp_path / "*.json")]).id == folder.id
