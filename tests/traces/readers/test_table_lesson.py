"""The lesson's observations as pasted text; public incident rows; arbitrary text; speed."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latecomer.knowledge.errors import InputError
from latecomer.traces.readers import collective_summary, registry, table
from latecomer.traces.readers.table import read_text
from latecomer.traces.tables import StepTable

SHARED = Path(os.environ.get("LATECOMER_SHARED_TRACES", Path(__file__).resolve().parents[4] / "shared/traces"))
L17 = (
    "Ten slow steps: rank 2 input wait 130-150 ms, others 15-25 ms; compute on all ranks 175-185 ms; rank 2 "
    "reads remote shard S9, the others local cached shards; the collective completes 18-22 ms after the last arrival."
)


def steps_of(text: str, world_size: int | None = None) -> StepTable:
    steps = read_text(text, name="pasted", world_size=world_size).steps
    assert steps is not None
    return steps


def test_L17_ten_slow_steps() -> None:
    tables = read_text(L17, name="pasted", world_size=4)
    steps, batches = tables.steps, tables.batches
    assert steps is not None and batches is not None and steps.rank.tolist() == [0, 1, 2, 3]
    assert steps.columns["input_wait_ms"].tolist() == [20, 20, 140, 20]
    assert steps.half_range_ms["input_wait_ms"].tolist() == [5, 5, 10, 5]
    assert steps.columns["compute_ms"].tolist() == [180] * 4 and steps.columns["transfer_ms"].tolist() == [20] * 4
    assert [batches.sources[at] for at in batches.source][1:3] == ["local cached shards", "remote shard S9"]
    assert [note.count for note in tables.report if note.code == "steps-stated"] == [10]


def test_L17_the_number_of_ranks_is_assumed_aloud() -> None:
    tables = read_text(L17, name="pasted")
    assert [info.rank for info in tables.ranks] == [0, 1, 2]
    assert any(note.code == "ranks-assumed" and note.severity == "weakens" for note in tables.report)


def test_L31_lists() -> None:
    steps = steps_of("input 20/20/140/20, compute 180 on every rank, arrival 200/200/320/200")
    assert steps.columns["input_wait_ms"].tolist() == [20, 20, 140, 20]
    assert steps.columns["compute_ms"].tolist() == [180] * 4
    assert steps.columns["arrival_ms"].tolist() == [200, 200, 320, 200]


def test_L32_the_last_ranks_compute_is_longer() -> None:
    tables = read_text("arrivals 250/252/251/410 ms, the last rank's compute is 160 ms longer", name="pasted")
    assert tables.steps is not None and tables.steps.columns["arrival_ms"].tolist() == [250, 252, 251, 410]
    assert tables.steps.columns["compute_ms"].tolist() == [0, 0, 0, 160]
    assert "relative-values" in {note.code for note in tables.report}


def test_L39_arrival_after_the_peers() -> None:
    steps = steps_of("Rank 3 arrives 150 ms after its peers and the collective then takes 20 ms.")
    assert steps.columns["arrival_ms"].tolist() == [0, 0, 0, 150] and steps.columns["transfer_ms"].tolist() == [20] * 4


@pytest.mark.parametrize(
    "text", ["Arrivals 200/210/205/360 ms", "arrival: 200 210 205 360", "arrival (ms) = 200, 210, 205, 360"]
)
def test_L41_arrivals(text: str) -> None:
    assert steps_of(text).columns["arrival_ms"].tolist() == [200, 210, 205, 360]


def test_L31_table_with_a_sentence_below() -> None:
    text = "| rank | input (ms) |\n|---|---|\n| 0 | 20 |\n| 1 | 140 |\n\n"
    text += "The collective completes 20 ms after the last arrival.\n"
    steps = steps_of(text)
    assert steps.columns["input_wait_ms"].tolist() == [20, 140] and steps.columns["transfer_ms"].tolist() == [20, 20]


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        ("rank 5 gets there at 410, everybody else 250-252", "arrival_ms", [251] * 5 + [410]),
        ("rank 2's input wait is 199.7 ms vs rank 0 at 10.4 ms", "input_wait_ms", [10.4, 199.7]),
        ("ranks 0, 1 and 3 wait about 120 ms", "wait_ms", [120] * 3),
        ("forward 90 ms on rank 0 and 250 ms on rank 1", "forward_ms", [90, 250]),
        ("rank 1: data_time: 0.14 s, rank 0: 0.02 s", "input_wait_ms", [20, 140]),
    ],
)
def test_sentences(text: str, column: str, values: list[float]) -> None:
    assert steps_of(text).columns[column] == pytest.approx(values)


def test_numbers_that_are_not_understood_are_reported() -> None:
    tables = read_text("rank 2 input wait 140 ms, others 20 ms; batch norm momentum 0.9", name="pasted")
    assert any(note.code == "numbers-unused" and "0.9" in note.detail for note in tables.report)


def incident_rows() -> list[Any]:
    path = SHARED.parent / "incidents/cases.jsonl"
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    return [pytest.param(c["inputs"]["rows"], id=c["id"]) for c in cases if c["inputs"]["form"] == "rows"]


@pytest.mark.parametrize("rows", incident_rows())
def test_incident_rows_read_alike_in_every_syntax(rows: list[dict[str, Any]]) -> None:
    names = list(rows[0])
    text = io.StringIO()
    csv.DictWriter(text, names).writeheader()
    csv.DictWriter(text, names).writerows(rows)
    line = [f"| {' | '.join(str(row[name]) for name in names)} |" for row in rows]
    markdown = "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * len(names), *line])
    read = [read_text(form, name="case") for form in (text.getvalue(), json.dumps(rows), markdown)]
    assert len({tuple(info.rank for info in tables.ranks) for tables in read}) == 1
    values = [{k: v.tolist() for k, v in t.steps.columns.items()} if t.steps else {} for t in read]
    assert values[0] == values[1] == values[2]


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("rankiput wecms0123456789,;|\t\n-–/.:()[]{}\"'%±~#eEN"), max_size=200) | st.text()
)
def test_any_text_gives_tables_or_an_input_error(text: str) -> None:
    table.sniff(text.encode("utf-8", "replace"))
    try:
        ranks = read_text(text, name="fuzz").ranks
    except InputError:
        return
    assert ranks


@pytest.mark.parametrize(
    "line",
    [
        "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE) ran for 600020 milliseconds",
        "      optimizer ......................................: (3407.56, 3409.92)",
        "rank 3 all_reduce numel=9801523",
    ],
)
def test_log_lines_are_not_taken_for_measurements(line: str) -> None:
    with pytest.raises(InputError):
        read_text(line, name="log")


@pytest.mark.parametrize("text", ["1/" * 9000, "1," * 9000, "all the " * 3000, "rank " + "0, " * 6000, "[{" * 5000])
def test_hostile_text_costs_little_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises(InputError):
        read_text(text, name="hostile")
    assert time.process_time() - start < 5


values = st.lists(st.floats(0, 1e6, allow_nan=False), min_size=2, max_size=9)


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from([",", "\t", " | ", "   "]))
def test_round_trip(numbers: list[float], joint: str) -> None:
    rows = ["rank" + joint + "input_wait_ms", *(f"{rank}{joint}{value!r}" for rank, value in enumerate(numbers))]
    assert steps_of("\n".join(rows)).columns["input_wait_ms"].tolist() == numbers


def test_speed_of_1024_ranks_by_200_steps() -> None:
    rows = [f"{rank},{step},20.5,{90 + rank % 3}.25,200" for step in range(200) for rank in range(1024)]
    text = "\n".join(["rank,step,input_ms,compute_ms,arrival_ms", *rows])
    start = time.process_time()
    steps = steps_of(text)
    assert len(steps.rank) == 204_800 and time.process_time() - start < 6
    assert math.isclose(float(np.mean(steps.columns["arrival_ms"])), 200)


def test_tracelens_rank_4_waits_least() -> None:
    path = SHARED / "public/tracelens_llama70b_tables/nccl_summary_long.csv"
    if not path.exists():
        pytest.skip("shared traces are not here")
    steps = registry.read_file(path).steps
    assert steps is not None and int(steps.rank[np.argmin(steps.columns["wait_ms"])]) == 4


def test_collective_summary_wait_per_call() -> None:
    head = "rank,Process Group Name,Collective name,In msg nelems,dur_sum,operation_count\n"
    text = head + "0,0,_allgather_base,8,30000,10\n1,0,_allgather_base,8,10000,10\n1,0,broadcast,8,9,1\n"
    tables = collective_summary.read(text.encode(), name="summary")
    assert tables.steps is not None and tables.steps.columns["wait_ms"].tolist() == [2.0, 0.0]
    assert tables.steps.columns["communication_ms"].tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        "ranks 0-3 reach the all-reduce at 200 ms, rank 4 at 320 ms",
        "rank 4 gets there at 320, everybody else 200",
        "rank 4 enters the allreduce at 320 ms, the others at 200 ms",
    ],
)
def test_L38_reaching_a_collective_is_an_arrival_and_no_duration(text: str) -> None:
    steps = read_text(text, name="chat").steps
    assert steps is not None and "communication_ms" not in steps.columns
    late = {int(r): v for r, v in zip(steps.rank, steps.columns["arrival_ms"], strict=True)}
    assert late[4] == 320 and late[0] == 200


def test_waiting_for_data_is_input_wait() -> None:
    steps = read_text("rank 2 waits about 140 ms for data, the rest 20", name="chat").steps
    assert steps is not None and list(steps.columns) == ["input_wait_ms"]
    assert steps.columns["input_wait_ms"].tolist() == [20, 20, 140]
