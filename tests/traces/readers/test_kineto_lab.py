"""Facts that the notes on the lab traces and their truth files state, read back from our tables (CPU and gloo)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from latecomer.traces.readers import kineto, sidelog
from latecomer.traces.tables import STAGES, SUMMARY, Floats, Tables

from .helpers import shared


def lab(scenario: str, rank: int) -> Tables:
    return kineto.read(shared("lab", scenario, f"rank{rank}.pt.trace.json.gz"))


def stage_ms(tables: Tables, stage: str) -> Floats:
    """Time of a stage in each step, ms."""
    steps, spans = tables.steps, tables.spans
    assert steps and spans
    mine = spans.stage == STAGES.index(stage)
    start, length = spans.start_us[mine], (spans.end_us - spans.start_us)[mine]
    ends = steps.start_us + steps.columns["step_ms"] * 1e3
    windows = zip(steps.start_us, ends, strict=True)
    return np.array([length[(start >= begin - 1) & (start < end)].sum() / 1e3 for begin, end in windows])


@pytest.mark.parametrize("scenario", ["01_healthy", "02_input_stall_rank2", "04_mixed", "06c_comm_slow_link_rank1"])
@pytest.mark.parametrize("rank", range(4))
def test_steps_and_two_all_reduces_a_step(scenario: str, rank: int) -> None:
    tables = lab(scenario, rank)
    steps, calls = tables.steps, tables.collectives
    assert steps and calls
    assert steps.step.tolist() == list(range(2, 14))
    assert calls.step.tolist() == [step for step in range(2, 14) for _ in range(2)]
    assert calls.ops == ("all_reduce",) and calls.groups == ((0, 1, 2, 3),) and calls.dtypes == ("float32",)
    assert sorted(set(calls.bytes.tolist())) == [4 * 162_152, 4 * 227_584]
    assert bool(np.all(calls.end_us > calls.arrival_us)) and tables.report == ()


def test_rank_says_who_it_is() -> None:
    info = lab("02_input_stall_rank2", 2).ranks[0]
    assert (info.rank, info.world_size, info.backend, info.host, info.clock) == (2, 4, "gloo", "vm", "host")
    assert info.job == lab("02_input_stall_rank2", 0).ranks[0].job != ""


@pytest.mark.parametrize(
    ("scenario", "stage", "medians"),
    [
        ("02_input_stall_rank2", "input_wait", (0.2, 0.3, 121.3, 0.3)),
        ("02b_input_stall_rank2_workers1", "input_wait", (2.6, 4.4, 144.3, 3.2)),
        ("03_compute_skew_rank3", "forward", (13.1, 11.8, 12.0, 53.8)),
        ("14_all_ranks_input_bound", "input_wait", (122.1, 121.8, 122.1, 123.3)),
    ],
)
def test_L03_medians_of_a_stage(scenario: str, stage: str, medians: tuple[float, ...]) -> None:
    for rank, expected in enumerate(medians):
        assert np.median(stage_ms(lab(scenario, rank), stage)) == pytest.approx(expected, abs=0.06)


def test_L07_rare_long_loads_survive() -> None:
    wait = stage_ms(lab("05_tail_input", 2), "input_wait")
    steps = lab("05_tail_input", 2).steps
    assert steps
    assert steps.step[wait > 300].tolist() == [7, 13, 19, 25]
    assert np.median(wait) < 1 and wait.max() == pytest.approx(401.8, abs=0.1)


def test_L15_arrival_is_the_call_and_not_the_gloo_event() -> None:
    """Own wait of an on-time rank is about rank 2's lateness; rank 2's own is short."""
    own = []
    for rank in (0, 2):
        calls = lab("02_input_stall_rank2", rank).collectives
        assert calls and np.array_equal(calls.arrival_us, calls.host_entry_us)
        own.append(float(np.median(calls.end_us - calls.arrival_us)) / 1e3)
    assert own[0] > 110 and own[1] < 25


def test_times_are_wall_clock() -> None:
    """Profiler step starts lie within 30 us of the side log's wall clock (reference: -29 to -4 us)."""
    steps = lab("02_input_stall_rank2", 1).steps
    log = sidelog.read(shared("lab", "02_input_stall_rank2", "rank1.steps.jsonl")).steps
    assert steps and log
    logged = log.start_us[np.isin(log.step, steps.step)]
    assert bool(np.all(np.abs(steps.start_us - logged) < 30.5))


def test_clock_offsets_are_left_in() -> None:
    plain, shifted = lab("02_input_stall_rank2", 3).steps, lab("11_clock_skew", 3).steps
    assert plain and shifted
    assert shifted.start_us - plain.start_us == pytest.approx(-1.2e6, abs=1)
    assert shifted.columns["step_ms"] == pytest.approx(plain.columns["step_ms"], abs=1e-3)


def test_L04_a_hung_broadcast_is_a_row() -> None:
    calls = lab("07_divergent_order", 0).collectives
    assert calls
    broadcast = np.flatnonzero(calls.op == calls.ops.index("broadcast"))
    assert len(broadcast) == 1
    assert (calls.end_us - calls.arrival_us)[broadcast[0]] / 1e3 == pytest.approx(6012, abs=10)


def test_L05_an_exhausted_rank_has_no_collective_in_its_last_step() -> None:
    tables = lab("08_exhausted_iterator", 3)
    assert tables.steps and tables.collectives
    assert tables.steps.step[-1] == 13 and 13 not in tables.collectives.step


def test_every_lab_trace_is_read_with_steps_from_its_truth() -> None:
    for truth in sorted(shared("lab").glob("*/truth.json")):
        first = json.loads(truth.read_text())["first_active_step"]
        for path in sorted(truth.parent.glob("*.pt.trace.json.gz")):
            tables = kineto.read(path)
            assert tables.steps and tables.collectives, path
            assert tables.steps.step[0] == first and SUMMARY not in tables.collectives.step


def test_L09_side_log_has_batches_and_stages() -> None:
    tables = sidelog.read(shared("lab", "02_input_stall_rank2", "rank2.steps.jsonl"))
    assert tables.steps and tables.batches
    assert tables.batches.sources == ("cold_store",) and set(tables.batches.samples) == {4}
    assert tables.steps.columns["input_wait_ms"][0] == 121.461 and "host_ms" in tables.steps.columns
    assert tables.steps.line.tolist() == list(range(1, 15))
