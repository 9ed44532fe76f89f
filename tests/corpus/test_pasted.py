"""The lesson's observations, pasted as people paste them."""

from __future__ import annotations

import numpy as np
import pytest
from latecomer.service.diagnosis.local import diagnose_text
from latecomer.service.diagnosis.schemas import Diagnosis

from .shared import causes, named

L31 = """| rank | input (ms) | compute (ms) | arrival (ms) |
|---|---|---|---|
| 0 | 20 | 180 | 200 |
| 1 | 20 | 180 | 200 |
| 2 | 140 | 180 | 320 |
| 3 | 20 | 180 | 200 |
"""
L17 = """| rank | input wait (ms) | compute (ms) | source |
|---|---|---|---|
| 0 | 15-25 | 175-185 | S1 local cached |
| 1 | 15-25 | 175-185 | S2 local cached |
| 2 | 130-150 | 175-185 | S9 remote |
| 3 | 15-25 | 175-185 | S4 local cached |

Ten slow steps. The collective completes 18-22 ms after the last arrival.
"""


def waits(found: Diagnosis) -> list[float]:
    return [float(f.values["wait_ms"]) for f in found.facts if f.kind == "wait"]


def test_L31_the_worked_example() -> None:
    found = diagnose_text(L31)
    assert causes(found) == {"rank:2": "input_delay"} and found.verdict == "probable"
    assert waits(found) == [120, 120, 0, 120]
    assert found.next.experiment is not None and found.next.experiment.id == "replay-decoded-batches"
    texts = " ".join(r.text for r in found.revise_if)
    assert "the delay stays" in texts and "its compute changes too" in texts


def test_L17_L18_the_ten_slow_steps() -> None:
    found = diagnose_text(L17)
    assert causes(found) == {"rank:2": "input_delay"}
    transfer = next(f.values for f in found.facts if f.kind == "transfer")
    assert (transfer["low_ms"], transfer["high_ms"]) == (18, 22)
    assert any("a comparison to make, not a cause" in limit.text for limit in found.limits)


def test_L32_the_exercise() -> None:
    found = diagnose_text("Arrivals 250/252/251/410 ms; compute 200/200/200/360 ms")
    assert causes(found) == {"rank:3": "compute_imbalance"} and waits(found) == [160, 158, 159, 0]
    assert found.next.experiment is not None and found.next.experiment.id in ("equalise-lengths", "identical-work")


def test_L41_arrivals_only_name_the_rank_and_leave_its_cause_open() -> None:
    found = diagnose_text("Arrivals 200/210/205/360 ms")
    assert waits(found)[0] == 160 and named(found) == {3} and causes(found) == {"rank:3": None}
    assert "stage_times" in [q.id for q in found.next.questions]


def test_L39_a_late_rank_and_its_peers() -> None:
    assert named(diagnose_text("Rank 3 arrives 150 ms after its peers and the collective then takes 20 ms.")) == {3}


def test_L15_a_backward_that_its_collective_made_alike() -> None:
    found = diagnose_text("rank,backward_ms\n0,293.0\n1,292.2\n2,293.0\n3,293.1\n")
    assert found.verdict == "insufficient_evidence" and found.next.questions[0].id == "arrivals"


@pytest.mark.parametrize(
    ("arrivals", "ranks"), [("100,100,200,201", {2, 3}), ("100,200", {1})], ids=["two of four", "two ranks"]
)
def test_late_groups(arrivals: str, ranks: set[int]) -> None:
    lines = [f"{rank},{value}" for rank, value in enumerate(arrivals.split(","))]
    found = diagnose_text("rank,arrival_ms\n" + "\n".join(lines))
    assert named(found) == ranks and found.verdict != "established"


def test_L08_one_late_rank_of_8192() -> None:
    arrival = np.random.default_rng(3).normal(200, 2, 8192)
    arrival[17] += 120
    lines = [f"{rank},{value:.2f}" for rank, value in enumerate(arrival)]
    assert named(diagnose_text("rank,arrival_ms\n" + "\n".join(lines))) == {17}
