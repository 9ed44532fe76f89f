"""Real jobs with injected faults: the right cause and rank, and nobody where nobody is right."""

from __future__ import annotations

import pytest

from .shared import causes, diagnosed, named, needs_traces

pytestmark = needs_traces
ONE_FAULT = {
    "02_input_stall_rank2": ("rank:2", "input_delay"),
    "02b_input_stall_rank2_workers1": ("rank:2", "input_delay"),
    "03_compute_skew_rank3": ("rank:3", "compute_imbalance"),
    "03b_compute_skew_sleep_rank3": ("rank:3", "compute_imbalance"),
    "05_tail_input": ("rank:2", "input_delay"),
    "06_comm_limited": ("common", "communication_limit"),
    "06c_comm_slow_link_rank1": ("common", "communication_limit"),
    "10_slow_host_rank0": ("rank:0", "host_stall"),
    "10b_slow_host_rank0_every": ("rank:0", "host_stall"),
    "11_clock_skew": ("rank:2", "input_delay"),
    "13_replay_local_on_mixed": ("rank:3", "compute_imbalance"),
    "14_all_ranks_input_bound": ("common", "uniform_input_bound"),
}


@pytest.mark.parametrize(("folder", "scope", "cause"), [(f, *v) for f, v in ONE_FAULT.items()])
def test_L21_one_fault_is_found_and_nothing_else(folder: str, scope: str, cause: str) -> None:
    assert causes(diagnosed(f"lab/{folder}")) == {scope: cause}


@pytest.mark.parametrize("folder", ["01_healthy", "12_replay_local", "15_first_step_warmup"])
def test_a_healthy_job_names_nobody(folder: str) -> None:
    found = diagnosed(f"lab/{folder}")
    assert found.verdict == "healthy" and not found.scopes and found.leading is None


def test_L42_two_faults_are_two_scopes_and_the_gain_is_bounded() -> None:
    found = diagnosed("lab/04_mixed")
    assert causes(found) == {"rank:1": "input_delay", "rank:3": "compute_imbalance"}
    assert found.recoverable is not None and 45 <= found.recoverable.ms_per_step <= 57


def test_L07_the_tail_that_the_median_hides() -> None:
    (scope,) = diagnosed("lab/05_tail_input").scopes
    assert scope.pattern == "intermittent"


def test_two_checkpoints_are_probable_at_most_and_their_period_a_candidate() -> None:
    found = diagnosed("lab/10_slow_host_rank0")
    assert found.verdict == "probable"
    assert [f for f in found.findings if "candidate" in f.text and "period" in f.text or "every 4 steps" in f.text]


def test_L38_clocks_that_are_off_change_nothing_and_are_told() -> None:
    found = diagnosed("lab/11_clock_skew")
    offsets = {f.values["rank"]: f.values for f in found.facts if f.kind == "clock_offset"}
    assert offsets[1]["offset_ms"] == pytest.approx(37, abs=0.5)
    assert offsets[3]["offset_ms"] == pytest.approx(-1200, abs=0.5)
    assert all(0 < float(v["uncertainty_ms"]) < 2 for v in offsets.values())


def test_L02_a_rank_that_is_last_by_inheritance_is_not_blamed() -> None:
    found = diagnosed("lab/06c_comm_slow_link_rank1")
    assert named(found) == set()
    assert any("slow link" in f.text for f in found.findings)
    assert any(f.kind == "inherited" and f.values["rank"] == 0 for f in found.facts)


def test_the_first_step_is_set_aside() -> None:
    assert any(f.kind == "warmup" for f in diagnosed("lab/15_first_step_warmup").facts)


def test_L18_the_source_label_is_a_comparison_to_make() -> None:
    found = diagnosed("lab/02_input_stall_rank2")
    assert any("cold_store" in limit.text and "not a cause" in limit.text for limit in found.limits)


@pytest.mark.parametrize(
    "folder",
    [
        "07_divergent_order",
        "07b_skipped_collective",
        "07c_skipped_last_collective",
        "08_exhausted_iterator",
        "08b_exhausted_barrier",
        "08c_exhausted_exit",
        "09_worker_exception",
        "09b_worker_exception_exit",
    ],
)
def test_L05_a_job_that_hung_is_never_healthy_and_names_no_slow_rank(folder: str) -> None:
    found = diagnosed(f"lab/{folder}")
    assert found.verdict == "insufficient_evidence" and not causes(found).get("rank:2")
    assert found.leading is None or found.leading.cause is None
