"""The Kineto reader on made-up traces: variants of the format, damage, and limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from latecomer.knowledge.errors import InputError
from latecomer.traces.limits import Limits
from latecomer.traces.readers import kineto
from latecomer.traces.readers.kineto.identity import rank_in_name, ranks_of
from latecomer.traces.readers.kineto.names import dtype_of, operation
from latecomer.traces.tables import Tables

from .helpers import generator

made = generator()
REPAIRED = ("nan", "inf", "na", "control", "quotes", "utf8")


def text_of(rank: int = 0, **job: Any) -> bytes:
    one = made.Job(ranks=2, **{"steps": 6, "operations": 4} | job)
    return b"".join(made.trace(one, rank, made.schedule(one)[rank]))


def codes(tables: Tables) -> dict[str, int]:
    return {note.code: note.count for note in tables.report}


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("kernel", [made.MODERN, made.OLD])
def test_blanks_and_kernel_names_do_not_matter(compact: bool, kernel: str) -> None:
    tables = kineto.read(text_of(1, compact=compact, kernel=kernel))
    calls = tables.collectives
    assert calls and tables.steps and tables.report == ()
    assert tables.ranks[0].rank == 1 and len(tables.steps.step) == 6
    assert calls.ops == ("all_reduce",) and calls.groups == ((0, 1),) and calls.sequence.tolist() == [1, 2, 3, 4, 5, 6]
    assert calls.step.tolist() == list(range(6)) and set(calls.bytes) == {4_000_000}
    assert bool(np.all(calls.host_entry_us < calls.arrival_us))


def test_pieces_do_not_change_the_result() -> None:
    text = text_of(compact=True, steps=8, operations=30)
    whole, pieces = kineto.read(text), kineto.read(text, limits=Limits(piece_bytes=1500))
    assert whole.spans and pieces.spans and whole.collectives and pieces.collectives
    assert np.array_equal(whole.spans.start_us, pieces.spans.start_us)
    assert np.array_equal(whole.collectives.end_us, pieces.collectives.end_us) and pieces.report == ()


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("piece", [1500, 1 << 20])
@pytest.mark.parametrize("defect", REPAIRED)
def test_a_damaged_event_costs_no_other(defect: str, piece: int, compact: bool) -> None:
    tables = kineto.read(text_of(compact=compact, defects={0: (defect,)}), limits=Limits(piece_bytes=piece))
    assert tables.steps and tables.collectives
    assert len(tables.steps.step) == 6 and len(tables.collectives.op) == 6
    assert codes(tables) == {"events-repaired": 1}


@pytest.mark.parametrize(
    ("defect", "code"),
    [("zero_ts", "no-time"), ("negative", "negative-duration"), ("absurd", "absurd-duration")],
)
def test_impossible_times_are_said(defect: str, code: str) -> None:
    tables = kineto.read(text_of(defects={0: (defect,)}))
    assert codes(tables) == {f"event-{code}": 1} and tables.steps and len(tables.steps.step) == 6


def test_truncation_keeps_what_came_before() -> None:
    tables = kineto.read(text_of(defects={0: ("truncated",)}))
    assert tables.collectives and len(tables.collectives.op) == 5
    assert codes(tables)["truncated"] == 1


def test_trailing_comma_doubles_and_bare_lists() -> None:
    assert kineto.read(text_of(defects={0: ("comma",)})).report == ()
    doubled = kineto.read(text_of(defects={0: ("double",)}))
    assert codes(doubled) == {"events-doubled": 1}
    bare = kineto.read(text_of(defects={0: ("bare_list",)}), name="trace_rank_5_step_2.json")
    assert bare.ranks[0].rank == 5 and codes(bare) == {"rank-from-name": 1}


def test_metadata_behind_the_events_and_texts_for_numbers() -> None:
    trace = json.loads(text_of())
    events = [event | {"pid": str(event["pid"]), "tid": str(event["tid"])} for event in trace.pop("traceEvents")]
    trace["distributedInfo"]["pg_config"][0]["ranks"] = "[0, 1]"
    trace["deviceProperties"] = [{"id": number, "name": "x" * 40} for number in range(100)]
    text = json.dumps({"traceEvents": events} | trace).encode()
    for piece in (900, 1 << 20):
        tables = kineto.read(text, limits=Limits(piece_bytes=piece))
        assert tables.ranks[0].rank == 0 and tables.report == ()
        assert tables.collectives and tables.collectives.groups == ((0, 1),)


def test_names_of_files_and_lists_of_ranks() -> None:
    names = ("rank12_trace.json", "rank-12.Apr_03.json", "a/rank_12.json", "worker12.99.pt.trace.json", "rank12/t.json")
    assert {rank_in_name(name) for name in names} == {12}
    assert rank_in_name("host_4242.1698954910154219890.pt.trace.json.gz") is None
    assert ranks_of("[0, 1, ..., 29, ...]", 64, 0, 1) == tuple(range(64))
    assert ranks_of("[0, 8, ..., 232, ...]", 64, 0, 8) == tuple(range(0, 512, 8))
    assert ranks_of("[0, 3, ..., 29, ...]", None) == () and ranks_of([1, "x"]) == ()


def test_canonical_operations_and_types() -> None:
    names = {
        "allreduce_coalesced": "all_reduce",
        "_allgather_base": "all_gather",
        "nccl:_reduce_scatter_base": "reduce_scatter",
        "c10d::alltoall_base_": "all_to_all",
        "SendRecv": "send_recv",
        "all_to_allv": "all_to_allv",
        "wait": "unknown",
    }
    assert {name: operation(name) for name in names} == names
    assert dtype_of("BFloat16") == ("bfloat16", 2) and dtype_of("Float8_e4m3fn") == ("float8", 1)


def test_a_wrapper_around_a_call_is_one_call() -> None:
    trace = json.loads(text_of(steps=1, described=False))
    call = next(event for event in trace["traceEvents"] if event["name"] == "c10d::allreduce_")
    trace["distributedInfo"]["backend"] = "gloo"
    outer = call | {"name": "c10d::allreduce_coalesced_", "ts": call["ts"] - 5, "dur": call["dur"] + 10}
    events = [event for event in trace["traceEvents"] if event["cat"] != "kernel"] + [outer]
    calls = kineto.read(json.dumps(trace | {"traceEvents": events}).encode()).collectives
    assert calls and len(calls.op) == 1 and bool(np.isnan(calls.end_us[0]))


@pytest.mark.parametrize("text", [b"{}", b'{"traceEvents": []}', b"[]", b'{"a": 1}', b'{"traceEvents": 3}'])
def test_no_events_is_an_error_that_names_the_file(text: bytes) -> None:
    with pytest.raises(InputError, match=r"odd\.json"):
        kineto.read(text, name="odd.json")


def test_sniff_knows_its_own() -> None:
    assert kineto.sniff(text_of()) > 0.8 and kineto.sniff(text_of(defects={0: ("bare_list",)})) > 0.8
    assert kineto.sniff(b"rank,step_ms\n0,12\n") == 0 and kineto.sniff(b'{"rank": 0, "step": 1}\n') == 0


SMALL = text_of(steps=2, operations=1, compact=True)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    cut=st.integers(0, len(SMALL)),
    flips=st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), max_size=8),
    piece=st.sampled_from([200, 1 << 20]),
)
def test_damage_of_any_kind_gives_tables_or_an_error(cut: int, flips: list[tuple[int, int]], piece: int) -> None:
    damaged = bytearray(SMALL)
    for where, value in flips:
        damaged[where] = value
    try:
        tables = kineto.read(bytes(damaged[:cut]), limits=Limits(piece_bytes=piece))
    except InputError:
        return
    assert tables.ranks and all(note.detail for note in tables.report)


@settings(max_examples=60, deadline=None)
@given(where=st.integers(len(SMALL) // 4, len(SMALL) - 60), junk=st.binary(min_size=1, max_size=12))
def test_junk_inside_one_event_costs_at_most_that_one(where: int, junk: bytes) -> None:
    try:
        tables = kineto.read(SMALL[:where] + junk + SMALL[where:])
    except InputError:
        return
    clean = kineto.read(SMALL)
    assert tables.collectives is not None and clean.collectives is not None
    assert len(tables.collectives.op) >= len(clean.collectives.op) - 1


def test_reading_from_a_path(tmp_path: Path) -> None:
    paths = made.write(made.Job(ranks=2, steps=3, gz=True), tmp_path)
    seen: list[int] = []
    tables = kineto.read(paths[1], progress=seen.append)
    assert tables.ranks[0].rank == 1 and sum(seen) == paths[1].stat().st_size
