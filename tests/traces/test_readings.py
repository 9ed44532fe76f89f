"""Tables without times of steps: what stands out in counts, stages, pairs and readings of devices."""

from __future__ import annotations

import pytest
from latecomer.knowledge import load
from latecomer.knowledge.facts import Fact
from latecomer.traces.codec import decode, encode
from latecomer.traces.measure import measure
from latecomer.traces.merge import merge
from latecomer.traces.readers.registry import read_file
from latecomer.traces.tables import Reading, Tables


def tables(text: str) -> Tables:
    return merge([read_file(text.encode(), name="pasted")])


def facts(text: str) -> dict[str, Fact]:
    return {f.kind: load().check(f) for f in measure(tables(text)).facts}


def test_L23_tokens_and_not_samples_name_the_rank_with_most_work() -> None:
    found = facts("rank,samples,tokens\n0,5,114166\n1,11,59242\n2,13,99157\n3,3,62128")
    assert (found["work_contrast"]["ranks"], found["scope"]["scope"]) == ("0", "rank:0")
    assert found["scope"]["pattern"] == "told"


@pytest.mark.parametrize(
    "text",
    [
        "rank,samples\n0,5\n1,50\n2,5",
        "rank,tokens\n0,100\n1,110\n2,105",
        "rank,tokens,compute_ms\n0,100,180\n1,200,180\n2,100,181",
    ],
    ids=["samples are no work", "alike", "times are known"],
)
def test_L23_no_work_is_contrasted(text: str) -> None:
    assert "work_contrast" not in facts(text)


def test_half_of_the_ranks_with_all_the_tokens() -> None:
    found = facts("rank,routed tokens\n" + "\n".join(f"{r},{8 if r % 2 == 0 else 0}" for r in range(8)))
    assert (found["scope"]["ranks"], found["scope"]["split"]) == ("0,2,4,6", "even")


def test_a_longer_stage_of_a_pipeline_is_named_and_not_a_late_rank() -> None:
    found = facts("rank,stage,compute_ms\n0,0,3.15\n1,1,3.15\n2,2,3.15\n3,3,3.9")
    assert (found["stage_contrast"]["ranks"], found["stage_contrast"]["others_ms"]) == ("3", 3.15)
    assert "stage_contrast" not in facts("rank,stage,compute_ms\n0,0,3.15\n1,1,3.2\n2,2,3.1")


def test_the_end_that_all_slow_pairs_share() -> None:
    found = facts("pair,p2p_on_gbs\n1-2,13.2\n0-1,6.5\n0-2,6.5")
    assert (found["pair_contrast"]["ranks"], found["scope"]["scope"]) == ("0", "rank:0")
    assert "pair_contrast" not in facts("pair,bandwidth_gbs\n1-2,13.2\n0-1,6.5\n0-2,13.0\n2-3,6.6\n0-3,13\n1-3,13")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rank,clock_mhz,temp_c\n0,1515,87\n1,1365,91", ("1", "clock_mhz")),
        ("rank,pcie_gen,pcie_width\n0,3,16\n1,1,16", ("1", "pcie_generation")),
        ("gpu,PCIe link width\n0,16\n1,16\n2,4", ("2", "pcie_width")),
    ],
)
def test_a_device_that_reads_otherwise(text: str, told: tuple[str, str]) -> None:
    found = facts(text)["device_contrast"]
    assert (found["ranks"], found["property"]) == told


def test_alike_devices_stand_out_by_nothing() -> None:
    assert "device_contrast" not in facts("rank,clock_mhz\n0,1515\n1,1500\n2,1510")


def test_L03_stages_that_are_a_small_part_of_the_step() -> None:
    found = facts("rank,step_ms,input_ms,backward_ms\n0,32605,63,322\n1,32600,37,345")
    assert found["unexplained"]["share"] == pytest.approx(0.012, abs=0.001)
    assert "unexplained" not in facts("rank,step_ms,input_ms,compute_ms\n0,124,1,122\n1,125,1,122")


def test_readings_survive_the_way_to_the_service() -> None:
    told = tables("rank,clock_mhz\n0,1515\n1,1365")
    assert (
        decode(encode(told)).readings
        == told.readings
        == (
            Reading((0,), "clock_mhz", 1515.0),
            Reading((1,), "clock_mhz", 1365.0),
        )
    )
