"""Tables as bytes: nothing lost on the way, and bytes from anybody give tables or an InputError."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latecomer.knowledge.errors import InputError
from latecomer.service.example import JOB
from latecomer.traces import codec
from latecomer.traces.codec import decode, encode
from latecomer.traces.job import read_job
from latecomer.traces.limits import Limits
from latecomer.traces.measure import measure
from latecomer.traces.tables import BatchTable, Event, Note, Tables

from .made import meet, noisy, rows

NONE = np.full(2, -1, dtype=np.int64)
JOB_OF_TWO = meet({"input_wait": noisy(2, 12, 20, 2), "forward": noisy(2, 12, 50, 3)})
EVERYTHING = replace(
    JOB_OF_TWO,
    batches=BatchTable(NONE + 1, NONE, NONE + 9, NONE, NONE, NONE + 300, np.array([-1, 0]), ["shard-a"]),
    events=(Event(None, "timeout", "watchdog: é\0", 0, 7), Event(1, "exception", "x")),
    sources=("rank0.json", "rank1.json"),
    report=(Note("rank-missing", "weakens", "rank 3", rank=3, weakens="who is late"),),
)
TABLES = {
    "meet": JOB_OF_TWO,
    "everything": EVERYTHING,
    "rows": rows(input_wait=[20, 21, 160, np.nan], step=[300, 300, 300, 300]),
    "rows and steps": rows(steps=True, input_wait=noisy(4, 20, 20, 2), backward=noisy(4, 20, 90, 2)),
    "nothing": Tables(),
}


def payload(data: bytes) -> bytes:
    return zlib.decompress(data[len(codec._MARK) + 1 :])


def sealed(content: bytes, version: int = codec.VERSION) -> bytes:
    return codec._MARK + bytes([version]) + zlib.compress(content)


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        decode(data)
    assert caught.value.remedy
    return caught.value.what


@pytest.mark.parametrize("name", TABLES)
def test_nothing_is_lost(name: str) -> None:
    tables = TABLES[name]
    there = decode(encode(tables))
    assert (there.events, there.ranks, there.sources, there.report) == (
        tables.events, tables.ranks, tables.sources, tables.report,
    )  # fmt: skip
    for kind in ("steps", "spans", "collectives", "batches"):
        sent, got = getattr(tables, kind), getattr(there, kind)
        for field in () if sent is None else sent.__slots__:
            np.testing.assert_equal(_plain(getattr(got, field)), _plain(getattr(sent, field)), f"{kind}.{field}")
    assert encode(there) == encode(tables)
    assert measure(there).facts == measure(tables).facts


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def test_a_real_job_measures_the_same() -> None:
    tables = read_job([JOB])
    sent = encode(tables)
    assert measure(decode(sent)).facts == measure(tables).facts


def test_equal_tables_give_equal_bytes() -> None:
    steps = JOB_OF_TWO.steps
    assert steps is not None
    columns = {"wait_ms": steps.columns["step_ms"], "step_ms": steps.columns["step_ms"]}
    turned = dict(reversed(columns.items()))
    one, other = (encode(Tables(steps=replace(steps, columns=c))) for c in (columns, turned))
    assert one == other
    wide = replace(steps, rank=steps.rank.astype(np.int32), start_us=steps.start_us.astype(">f8"))
    assert encode(Tables(steps=wide)) == encode(Tables(steps=steps))


@pytest.mark.parametrize("value", [0, 127, 128, -129, 1 << 15, 1 << 31, (1 << 63) - 1, -1 << 63])
def test_whole_numbers_of_any_size(value: int) -> None:
    steps = rows(step=[1.0]).steps
    assert steps is not None
    there = decode(encode(Tables(steps=replace(steps, line=np.array([value]))))).steps
    assert there is not None and there.line.tolist() == [value] and there.line.dtype == np.int64


def test_file_names_that_are_not_utf8_can_be_sent() -> None:
    there = decode(encode(Tables(sources=("rank\udcff.json",), events=(Event(0, "x", "\ud800"),))))
    assert there.sources == ("rank?.json",) and there.events[0].text == "?"


def _changed(kind: str, name: str, change: Callable[[Any], Any]) -> Tables:
    table = getattr(EVERYTHING, kind)
    return replace(EVERYTHING, **{kind: replace(table, **{name: change(getattr(table, name))})})


HOSTILE = {
    "stage": _changed("spans", "stage", lambda index: index + 7),
    "group": _changed("collectives", "groups", lambda _: ()),
    "op": _changed("collectives", "op", lambda index: index + 1),
    "dtype": _changed("collectives", "dtype", lambda index: index - 1),
    "batches.source": _changed("batches", "source", lambda index: index + 1),
    "steps.origin": _changed("steps", "origin", lambda index: index + 2),
    "events.origin": replace(EVERYTHING, events=(Event(0, "x", "", 1 << 62),)),
    "columns of spans": _changed("spans", "device", lambda values: values[1:]),
    "columns of steps": _changed("steps", "half_range_ms", lambda _: {"step_ms": np.zeros(1)}),
    "no column 'nap_ms'": _changed("steps", "columns", lambda columns: {"nap_ms": columns["step_ms"]}),
    "infinite": _changed("steps", "start_us", lambda values: values + np.inf),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_tables_that_point_nowhere_are_refused(what: str) -> None:
    assert what in refused(encode(HOSTILE[what]))


def test_bytes_that_are_no_tables_are_refused() -> None:
    whole = encode(EVERYTHING)
    assert "not tables" in refused(b"") and "not tables" in refused(b"PK\3\4") and "not tables" in refused(codec._MARK)
    assert "format 2" in refused(sealed(payload(whole), version=2))
    for cut in (len(codec._MARK) + 1, len(whole) // 2, len(whole) - 1):
        assert "cut off" in refused(whole[:cut])
    assert "cut off" in refused(whole + b"x")
    assert "damaged" in refused(sealed(payload(whole)[:-1]))
    assert "damaged" in refused(sealed(b"\x91" * 100_000))


def test_few_rows_spread_over_a_huge_table_are_refused() -> None:
    steps = rows(step=np.ones(8000)).steps
    assert steps is not None
    assert "too many ranks and steps" in refused(encode(Tables(steps=replace(steps, step=steps.rank))))


def test_an_array_shorter_than_it_says_is_refused() -> None:
    packed = codec._DECODER.decode(payload(encode(EVERYTHING)))
    assert packed.spans is not None
    for length in (-1, packed.spans.rank.length + 1, 1 << 62):
        packed.spans.rank.length = length
        assert "spans.rank" in refused(sealed(codec.msgspec.msgpack.encode(packed)))


@pytest.mark.parametrize("limits", [Limits(max_bytes=1 << 20), Limits(ratio_floor_bytes=1 << 20)])
def test_a_bomb_is_stopped_before_it_is_expanded(limits: Limits) -> None:
    bomb = sealed(bytes(64 << 20))
    with pytest.raises(InputError, match="expand to more than") as caught:
        decode(bomb, limits=limits)
    assert int(caught.value.what.split()[-2]) <= 32


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_bytes_give_tables_or_an_input_error(data: st.DataObject) -> None:
    content = bytearray(payload(encode(EVERYTHING)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    whole = sealed(bytes(content))
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole = whole[:at] + data.draw(st.binary(min_size=1, max_size=2)) + whole[at + 1 :]
    with suppress(InputError):
        assert isinstance(decode(whole), Tables)
