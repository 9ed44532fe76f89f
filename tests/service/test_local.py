"""From files and pasted text to the document, in this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from latecomer.knowledge.errors import InputError
from latecomer.service.diagnosis.local import diagnose_paths, diagnose_text, near

BESIDE = Path(__file__).resolve().parents[2] / "../shared/traces"
LAB = Path(os.environ.get("LATECOMER_SHARED_TRACES", BESIDE)) / "lab"
EXAMPLE = """| rank | input ms | compute ms | arrival ms |
|---|---|---|---|
| 0 | 20 | 180 | 200 |
| 1 | 20 | 180 | 200 |
| 2 | 140 | 180 | 320 |
| 3 | 20 | 180 | 200 |
"""


def test_L31_pasted_table_names_rank_2_and_the_waits() -> None:
    got = diagnose_text(EXAMPLE)
    assert got.leading is not None and (got.leading.cause, got.leading.ranks) == ("input_delay", (2,))
    assert got.verdict == "probable"
    assert got.measures.wait_ms == {0: 120.0, 1: 120.0, 2: 0.0, 3: 120.0}
    assert got.read_report.sources == ("pasted text",)


def test_text_that_is_no_evidence_is_an_error() -> None:
    with pytest.raises(InputError):
        diagnose_text("\x00\x01")


@pytest.mark.skipif(not LAB.exists(), reason="shared lab traces are not here")
@pytest.mark.parametrize(
    ("run", "cause", "ranks"),
    [
        ("02_input_stall_rank2", "input_delay", (2,)),
        ("03_compute_skew_rank3", "compute_imbalance", (3,)),
        ("10b_slow_host_rank0_every", "host_stall", (0,)),
    ],
)
def test_lab_runs_lead_to_their_cause(run: str, cause: str, ranks: tuple[int, ...]) -> None:
    got = diagnose_paths([LAB / run], workers=1)
    assert got.leading is not None and (got.leading.cause, got.leading.ranks) == (cause, ranks)
    assert got.recoverable is not None and got.recoverable.scope == got.leading.scope


@pytest.mark.skipif(not LAB.exists(), reason="shared lab traces are not here")
def test_time_that_all_lose_names_nobody() -> None:
    got = diagnose_paths([LAB / "06_comm_limited"], workers=1)
    assert got.leading is not None and (got.leading.scope, got.leading.ranks) == ("common", ())
    assert got.scopes[0].ranks == () and got.scopes[0].members
    assert all(r.becomes.ranks == () for r in got.revise_if if r.becomes.cause == got.leading.cause)


def test_paths_below_the_current_directory_are_named_from_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert near(tmp_path / "a" / "b.csv") == "a/b.csv"
    assert [near(p) for p in ("a", "/elsewhere/b", str(tmp_path))] == ["a", "/elsewhere/b", str(tmp_path)]
