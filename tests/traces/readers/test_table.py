"""Per-rank tables and pasted text: syntaxes, synonyms, units, and what is reported."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from latecomer.knowledge.errors import InputError
from latecomer.traces.readers import table
from latecomer.traces.readers.table import numbers, read_text
from latecomer.traces.readers.table.columns import understand
from latecomer.traces.tables import SUMMARY, Tables

INPUT = [20.0, 20.0, 140.0, 20.0]
COMPUTE = [180.0] * 4
MARKDOWN = """| Rank | Input wait (ms) | Compute (ms) |
|---:|---:|:--|
| 0 | 20 | 180 |
| 1 | 20 | 180 |
| 2 | 140 | 180 |
| 3 | 20 | 180 |"""
SYNTAXES = {
    "markdown": MARKDOWN,
    "csv": "rank,input_wait_ms,compute_ms\n0,20,180\n1,20,180\n2,140,180\n3,20,180\n",
    "tsv": "rank\tinput_wait_ms\tcompute_ms\n0\t20\t180\n1\t20\t180\n2\t140\t180\n3\t20\t180\n",
    "semicolon": "rank;input (ms);compute (ms)\n0;20,0;180\n1;20,0;180\n2;140,0;180\n3;20,0;180\n",
    "aligned": "rank   input wait   compute\n   0   20   180\n   1   20   180\n   2   140   180\n   3   20   180\n",
    "blanks": "rank input compute\n0 20 180\n1 20 180\n2 140 180\n3 20 180\n",
    "boxes": "┌────┬─────┬─────┐\n"
    "│rank│input│fwd+bwd│\n├────┼─────┼─────┤\n│0│20│180│\n│1│20│180│\n│2│140│180│\n│3│20│180│\n└─┘",
    "seconds": "worker,data_time_s,compute [us]\n0,0.02,180000\n1,0.02,180000\n2,0.14,180000\n3,0.02,180000\n",
    "transposed": "| | rank 0 | rank 1 | rank 2 | rank 3 |\n|---|---|---|---|---|\n"
    "|input|20|20|140|20|\n|compute|180|180|180|180|",
    "wide": "rank0_input_ms,rank1_input_ms,rank2_input_ms,rank3_input_ms,"
    "rank0_compute_ms,rank1_compute_ms,rank2_compute_ms,rank3_compute_ms\n20,20,140,20,180,180,180,180\n",
    "others": "rank,input,compute\n2,140 ms,180 ms\nothers,20 ms,180 ms\n3,20 ms,180 ms\n",
    "rank range": "rank,input,compute\n0-1,20,180\n2,140,180\n3,20,180\n",
    "json": json.dumps([{"rank": r, "input_ms": INPUT[r], "compute_ms": 180} for r in range(4)]),
    "json by rank": json.dumps({f"rank{r}": {"input_ms": INPUT[r], "compute_ms": 180} for r in range(4)}),
    "json of lists": json.dumps({"input_ms": INPUT, "compute_ms": COMPUTE}),
    "json by metric": json.dumps({"input_ms": dict(enumerate(INPUT)), "compute_ms": dict(enumerate(COMPUTE))}),
    "json wrapped": json.dumps(
        {"job": "x", "rows": [{"rank": r, "input": INPUT[r], "compute": 180} for r in range(4)]}
    ),
    "jsonl": "\n".join(json.dumps({"rank": r, "input_ms": INPUT[r], "compute_ms": 180}) for r in range(4)),
    "lists": "input 20/20/140/20, compute 180 on every rank",
    "key lines": "input wait: 20 20 140 20 ms\ncompute (ms) = [180, 180, 180, 180]",
    "log": "\n".join(f"[rank {r}] input={INPUT[r]}ms compute=180ms" for r in range(4)),
}


def columns(text: str, world_size: int | None = None) -> dict[str, list[float]]:
    steps = read_text(text, name="pasted", world_size=world_size).steps
    assert steps is not None
    return {key: value.tolist() for key, value in steps.columns.items()}


def codes(tables: Tables) -> set[str]:
    return {note.code for note in tables.report}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_every_syntax_gives_the_same_table(syntax: str) -> None:
    tables = read_text(SYNTAXES[syntax], name="pasted")
    steps = tables.steps
    assert steps is not None and steps.rank.tolist() == [0, 1, 2, 3] and set(steps.step) == {SUMMARY}
    np.testing.assert_allclose(steps.columns["input_wait_ms"], INPUT)
    np.testing.assert_allclose(steps.columns["compute_ms"], COMPUTE)


@pytest.mark.parametrize("syntax", sorted(set(SYNTAXES) - {"lists", "key lines", "log"}))
def test_tables_are_recognised(syntax: str) -> None:
    assert table.sniff(SYNTAXES[syntax].encode()) >= 0.7


@pytest.mark.parametrize("head", [b"\x89PNG\r\n\x1a\n\0\0", b'{"traceEvents": [', b'{"rank": ', b"hello world", b""])
def test_other_content_is_not_claimed(head: bytes) -> None:
    assert table.sniff(head) < 0.2


@pytest.mark.parametrize(
    ("cell", "value", "half", "factor"),
    [
        ("130-150 ms", 140, 10, 1), ("130–150", 140, 10, None), ("130 to 150 ms", 140, 10, 1), ("~20", 20, None, None),
        ("20±3", 20, 3, None), ("0.13s", 0.13, None, 1000), ("1,234.5", 1234.5, None, None),
        ("**140**", 140, None, None),
        ("<2 ms", 1, 1, 1), ("-5", -5, None, None), ("12 µs", 12, None, 1e-3), ("1.5k", 1500, None, None),
        ("2 min", 2, None, 60000), ("900 us - 1 ms", 0.95, 0.05, 1),
    ],
)  # fmt: skip
def test_cells(cell: str, value: float, half: float | None, factor: float | None) -> None:
    read = numbers.quantity(cell)
    assert read.value == pytest.approx(value) and read.factor_ms == factor
    assert np.isnan(read.half) if half is None else read.half == pytest.approx(half)


@pytest.mark.parametrize("cell", ["N/A", "-", "NaN", "inf", "-inf", "", "null", None, "see below"])
def test_cells_without_a_number_are_not_measured(cell: str | None) -> None:
    read = numbers.quantity(cell)
    assert np.isnan(read.value) and read.problem


@pytest.mark.parametrize(
    ("header", "key", "factor"),
    [
        ("Input wait (ms)", "input_wait_ms", 1), ("data_time_s", "input_wait_ms", 1000),
        ("dataTime", "input_wait_ms", None),
        ("fwd [us]", "forward_ms", 1e-3), ("Optimizer", "optimizer_ms", None), ("allreduce_ms", "communication_ms", 1),
        ("after the last arrival", "transfer_ms", None), ("iteration time (s)", "step_ms", 1000),
        ("step", "step", None),
        ("step (ms)", "step_ms", 1), ("mean compute time", "compute_ms", None),
        ("padded tokens", "padded_tokens", None),
        ("seq_len", "max_len", None), ("shard", "source", None), ("global_rank", "rank", None),
    ],
)  # fmt: skip
def test_headers(header: str, key: str, factor: float | None) -> None:
    column = understand(header)
    assert column is not None and (column.key, column.factor_ms) == (key, factor)


@pytest.mark.parametrize(
    "header", ["input (%)", "p99 compute", "loss", "lr", "compute_pct", "throughput", "max input wait"]
)
def test_headers_of_other_things(header: str) -> None:
    assert understand(header) is None


def test_missing_cells_are_nan_and_reported() -> None:
    tables = read_text("rank,input_ms,compute_ms\n0,N/A,inf\n1,20,180\n2,-,180\n", name="x")
    assert tables.steps is not None and np.isnan(tables.steps.columns["input_wait_ms"][[0, 2]]).all()
    assert {"cells-missing", "cells-infinite"} <= codes(tables)


def test_unknown_columns_are_listed() -> None:
    (note,) = [
        n for n in read_text("rank,input_ms,loss\n0,1,2.5\n1,1,2.4\n", name="x").report if n.code == "columns-unused"
    ]
    assert "'loss'" in note.detail


def test_a_unit_that_is_not_written_is_reported() -> None:
    tables = read_text("rank,data_time,compute\n0,0.02,180\n1,0.14,181\n", name="x")
    assert tables.steps is not None and tables.steps.columns["input_wait_ms"].tolist() == [20.0, 140.0]
    assert [n.detail.split(";")[1] for n in tables.report if n.code == "unit-assumed"] == [
        " taken as seconds", " taken as milliseconds",
    ]  # fmt: skip


def test_mixed_units_and_negative_durations_are_suspect() -> None:
    mixed = read_text("rank,compute_ms\n0,180\n1,180\n2,0.18\n", name="x")
    negative = read_text("rank,compute_ms\n0,180\n1,-5\n", name="x")
    assert "unit-suspect" in codes(mixed) and "unit-suspect" in codes(negative)
    assert negative.steps is not None and np.isnan(negative.steps.columns["compute_ms"][1])


def test_rows_that_repeat_a_rank_become_steps() -> None:
    tables = read_text("rank,input_ms\n0,1\n1,2\n0,3\n1,4\n", name="x")
    assert tables.steps is not None and "steps-assumed" in codes(tables)
    assert list(zip(tables.steps.rank, tables.steps.step, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_contradictory_rows_of_a_step_keep_the_first() -> None:
    tables = read_text("rank,step,input_ms\n0,5,1\n0,5,9\n1,5,2\n", name="x")
    assert tables.steps is not None and tables.steps.columns["input_wait_ms"].tolist() == [1.0, 2.0]
    assert "duplicate-row" in codes(tables)


def test_batches_and_hosts() -> None:
    header = 'rank,samples,"tokens",padded tokens,seq_len,shard,node,stage\n'
    text = header + '0,8,"1,024",2048,512,S1,a,0\n1,8,900,,512,S9,b,1\n'
    tables = read_text(text, name="x")
    assert tables.steps is None and tables.batches is not None
    assert tables.batches.tokens.tolist() == [1024, 900] and tables.batches.padded_tokens.tolist() == [2048, -1]
    assert [tables.batches.sources[at] for at in tables.batches.source] == ["S1", "S9"]
    assert [(info.host, info.pipeline_stage) for info in tables.ranks] == [("a", 0), ("b", 1)]


def test_control_characters_are_stripped_and_reported() -> None:
    tables = read_text("rank,input_ms\r\n0,\x1b[31m20\x1b[0m\r\n1,2\x0000\r\n", name="x")
    assert tables.steps is not None and tables.steps.columns["input_wait_ms"].tolist() == [20.0, 200.0]
    assert "control-characters" in codes(tables)


def test_damaged_json_gives_what_is_whole() -> None:
    cut = '[{"rank": 0, "input_ms": 20}, {"rank": 1, "input_ms": N/A}, {"rank": 2, "inp'
    tables = read_text(cut, name="x")
    assert tables.steps is not None and tables.steps.rank.tolist() == [0, 1] and "json-damaged" in codes(tables)


def test_comments_count_steps_but_are_no_data() -> None:
    text = "# 300 steps; 200 ms injected into backward on rank 1\nrank,backward_ms\n0,293.0\n1,292.2\n"
    tables = read_text(text, name="x")
    assert tables.steps is not None and tables.steps.columns["backward_ms"].tolist() == [293.0, 292.2]
    assert [note.count for note in tables.report if note.code == "steps-stated"] == [300]


def test_a_file_without_a_rank_column_takes_it_from_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rank3.csv.gz"
    path.write_bytes(gzip.compress(b"step,input_ms\n0,1\n1,2\n"))
    tables = table.read(path)
    assert tables.steps is not None and tables.steps.rank.tolist() == [3, 3] and tables.steps.step.tolist() == [0, 1]


@pytest.mark.parametrize(
    "text", ["", "hello", "a,b\n1,2", "{}", "[1, 2]", "[[[", "loss 3.1 lr 2e-4", "all ranks compute 180"]
)
def test_nothing_recognised_is_an_error_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="A row a rank"):
        read_text(text, name="x")
