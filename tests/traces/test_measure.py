"""Measures on made-up jobs, by the definitions of DESIGN section 3."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latecomer.knowledge.facts import Fact
from latecomer.knowledge.loader import load
from latecomer.traces.measure import Measured, measure

from .made import meet, noisy, rows


def of(measured: Measured, kind: str) -> list[Fact]:
    return [f for f in measured.facts if f.kind == kind]


def one(measured: Measured, kind: str) -> Fact:
    (found,) = of(measured, kind)
    return found


def late_input(ranks: int = 4, steps: int = 14, late: int = 2, by_ms: float = 30.0) -> dict[str, np.ndarray]:
    stages = {"input_wait": noisy(ranks, steps, 1, 0.2), "forward": noisy(ranks, steps, 20, 0.5, seed=2)}
    stages["input_wait"][late] += by_ms
    return stages


def test_every_fact_is_of_the_vocabulary() -> None:
    knowledge = load()
    for tables in (meet(late_input()), rows(arrival=[200, 210, 205, 360]), rows(backward=[293.0, 292.2, 293.0, 293.1])):
        assert [knowledge.check(f) for f in measure(tables).facts]


def test_L01_L02_waits_are_split_from_transfer_without_clocks() -> None:
    measured = measure(meet(late_input(), offsets_ms=[0, 45, -1200, 7]))
    waits = {f["rank"]: f["wait_ms"] for f in of(measured, "wait")}
    assert waits[0] == pytest.approx(30, abs=2) and waits[2] == pytest.approx(0, abs=1)
    assert one(measured, "transfer")["transfer_ms"] == pytest.approx(10, abs=0.5)
    assert one(measured, "transfer")["size"] == "short"


def test_L21_late_input_is_attributed_to_input_wait() -> None:
    measured = measure(meet(late_input()))
    assert one(measured, "scope")["ranks"] == "2"
    parts = {f["stage"]: f["part"] for f in of(measured, "stage_excess")}
    assert parts["input_wait"] == "whole" and parts["forward"] == "none"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5000, 5000), min_size=4, max_size=4))
def test_L16_L38_no_clock_changes_who_is_late(offsets_ms: list[float]) -> None:
    plain, skewed = measure(meet(late_input())), measure(meet(late_input(), offsets_ms=offsets_ms))
    assert one(plain, "scope")["ranks"] == one(skewed, "scope")["ranks"]
    assert one(plain, "scope")["lateness_ms"] == pytest.approx(one(skewed, "scope")["lateness_ms"], abs=0.01)


def test_clock_offsets_are_recovered_with_an_uncertainty() -> None:
    measured = measure(meet(late_input(), offsets_ms=[0, 37, 0, -1200], exit_skew_ms=2.0))
    offsets = {f["rank"]: f for f in of(measured, "clock_offset")}
    assert set(offsets) == {1, 3}
    for rank, truth in ((1, 37.0), (3, -1200.0)):
        assert abs(float(offsets[rank]["offset_ms"]) - truth) <= float(offsets[rank]["uncertainty_ms"]) + 0.5


def test_a_rank_that_recorded_two_steps_late_shifts_nothing() -> None:
    measured = measure(meet(late_input(), skip_steps={1: 2}))
    assert one(measured, "scope")["ranks"] == "2"
    assert one(measured, "gate")["unpaired"] == 6


def test_L07_a_tail_that_the_median_hides_is_intermittent() -> None:
    stages = late_input(steps=24, by_ms=0.0)
    stages["input_wait"][2, [5, 11, 17, 23]] += 200
    scope = one(measure(meet(stages)), "scope")
    assert (scope["pattern"], scope["late_steps"], scope["ranks"]) == ("intermittent", 4, "2")
    assert one(measure(meet(stages)), "recurrence")["period_steps"] == 6


def test_one_late_step_is_a_note_and_no_scope() -> None:
    stages = late_input(steps=24, by_ms=0.0)
    stages["input_wait"][2, 9] += 200
    measured = measure(meet(stages))
    assert not of(measured, "scope") and one(measured, "stray_event")["step"] == 9


def test_a_stall_after_the_collective_shows_one_step_later() -> None:
    tables = meet({"input_wait": noisy(4, 24, 1, 0.1), "forward": noisy(4, 24, 20, 0.5), "host": _tail_stall()})
    measured = measure(tables)
    assert one(measured, "scope")["late_steps"] == 2
    parts = {f["stage"]: f["part"] for f in of(measured, "stage_excess")}
    assert parts["host"] == "whole"


def _tail_stall() -> np.ndarray:
    host = noisy(4, 24, 1, 0.1, seed=5)
    host[0, [6, 14]] += 300
    return host


@pytest.mark.parametrize("seed", range(8))
def test_a_healthy_job_names_nobody(seed: int) -> None:
    stages = {"input_wait": noisy(4, 20, 1, 0.3, seed), "forward": noisy(4, 20, 20, 1.5, seed + 100)}
    assert not of(measure(meet(stages)), "scope")


def test_two_of_four_late_alike_are_one_set() -> None:
    scope = one(measure(rows(arrival=[100.0, 101.0, 200.0, 201.0])), "scope")
    assert (scope["scope"], scope["split"]) == ("set:2,3", "even")


def test_two_faults_on_two_ranks_are_two_scopes() -> None:
    stages = late_input(by_ms=0)
    stages["input_wait"][1] += 60
    stages["forward"][3] += 25
    measured = measure(meet(stages))
    assert [f["ranks"] for f in of(measured, "scope")] == ["1", "3"]
    gains = {g.scope: g.ms_per_step for g in measured.extras.recoverable}
    assert gains["rank:1"] == pytest.approx(35, abs=3)


def test_L41_arrivals_alone_give_waits_and_leave_the_cause_open() -> None:
    measured = measure(rows(arrival=[200, 210, 205, 360]))
    assert next(f for f in of(measured, "wait") if f["rank"] == 0)["wait_ms"] == 160
    assert one(measured, "scope")["ranks"] == "3" and of(measured, "stages_unknown")


def test_L31_one_row_a_rank() -> None:
    measured = measure(rows(input_wait=[20, 20, 140, 20], compute=[180] * 4, arrival=[200, 200, 320, 200]))
    assert [f["wait_ms"] for f in of(measured, "wait")] == [120, 120, 0, 120]
    assert one(measured, "scope")["sampling"] == "summary"


def test_L15_phases_equalised_by_their_collective_show_nobody() -> None:
    measured = measure(rows(backward=[293.0, 292.2, 293.0, 293.1]))
    assert not of(measured, "scope") and one(measured, "equalised")["stage"] == "backward"
    assert one(measured, "job")["lateness_known"] is False


def test_a_phase_that_makes_up_for_another_is_equalised() -> None:
    measured = measure(rows(input_wait=[10, 10, 199, 11], compute=[340, 341, 150, 340], step=[362.0] * 4))
    assert one(measured, "scope")["ranks"] == "2"
    assert {f["stage"] for f in of(measured, "stage_excess")} == {"input_wait"}


def test_L08_eight_thousand_ranks_one_late() -> None:
    arrival = np.random.default_rng(3).normal(200, 3, (8192, 20))
    arrival[17] += 120
    measured = measure(rows(steps=True, arrival=arrival))
    assert one(measured, "scope")["ranks"] == "17"
    assert len(measured.facts) < 300


def test_all_ranks_starved_is_a_common_scope() -> None:
    stages = {"input_wait": noisy(4, 14, 120, 1), "forward": noisy(4, 14, 20, 0.5)}
    measured = measure(meet(stages))
    assert one(measured, "scope")["kind"] == "common" and one(measured, "common_stage")["stage"] == "input_wait"


def test_transfer_above_half_the_step_is_a_loss() -> None:
    stages = {"forward": noisy(4, 14, 20, 0.5)}
    measured = measure(meet(stages, transfer_ms=80))
    assert one(measured, "transfer")["excess"] is True and one(measured, "scope")["kind"] == "common"


def test_same_evidence_in_another_order_gives_the_same_facts() -> None:
    tables = rows(input_wait=[20, 20, 140, 20], compute=[180] * 4, arrival=[200, 200, 320, 200])
    assert tables.steps is not None
    from dataclasses import replace

    turned = replace(
        tables,
        steps=replace(
            tables.steps,
            rank=tables.steps.rank[::-1],
            columns={n: v[::-1] for n, v in tables.steps.columns.items()},
        ),
    )
    assert measure(tables).facts == measure(turned).facts


def test_every_fact_names_the_files_and_steps_it_rests_on() -> None:
    from dataclasses import replace

    tables = replace(rows(input_wait=[20, 20, 140, 20], arrival=[200, 200, 320, 200]), sources=("table.csv",))
    assert {f.source.ref for f in measure(tables).facts} == {"table.csv"}
    assert all(f.source.span for f in measure(meet(late_input())).facts)


def varying_work(ranks: int) -> dict[str, np.ndarray]:
    lengths = np.random.default_rng(9).lognormal(0, 0.4, (ranks, 40))
    return {"input_wait": noisy(ranks, 40, 1, 0.1), "forward": 40 * lengths}


def test_L23_ranks_that_take_turns_are_a_rotating_scope() -> None:
    measured = measure(meet(varying_work(16)))
    assert one(measured, "scope")["kind"] == "rotating"
    varies = one(measured, "variation")
    assert varies["stage"] == "forward" and float(varies["cv"]) > 0.2 and float(varies["top_share"]) < 0.5


def test_few_ranks_that_vary_need_the_tokens_to_tell() -> None:
    assert not of(measure(meet(varying_work(4))), "variation")


def test_ranks_of_other_pipeline_stages_are_not_compared() -> None:
    from dataclasses import replace

    stages = {"forward": noisy(4, 14, 20, 0.5)}
    stages["forward"][2:] += 40
    tables = meet(stages)
    staged = replace(tables, ranks=tuple(replace(i, pipeline_stage=i.rank // 2) for i in tables.ranks))
    assert one(measure(tables), "scope")["kind"] == "set"
    assert not of(measure(staged), "scope")


def test_one_stage_alone_tells_no_share_of_the_step() -> None:
    measured = measure(rows(input_wait=[20.0, 20.0, 20.0, 20.0]))
    assert not of(measured, "scope") and one(measured, "job").get("step_ms") is None


def test_a_missing_rank_may_be_later_than_a_small_lateness() -> None:
    from dataclasses import replace

    def without_a_rank(by_ms: float) -> Measured:
        tables = meet(late_input(by_ms=by_ms), transfer_ms=10.0)
        return measure(replace(tables, ranks=tuple(replace(i, world_size=5) for i in tables.ranks)))

    assert of(without_a_rank(5.0), "missing_may_be_later")
    assert not of(without_a_rank(30.0), "missing_may_be_later")
