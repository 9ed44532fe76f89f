"""Pairing: sequence numbers, launch order with late windows, and refusal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from latecomer.traces.match import pair
from latecomer.traces.tables import CollectiveTable

from .made import meet, noisy

RANKS = (0, 1, 2, 3)
STEP_US = 31_000.0


def calls(**options: object) -> CollectiveTable:
    table = meet({"forward": noisy(4, 12, 20, 2)}, **options).collectives  # pyright: ignore[reportArgumentType]
    assert table is not None
    return table


def test_launch_order_pairs_every_call() -> None:
    found = pair(calls(), RANKS, STEP_US)
    assert (found.method, found.paired, found.unpaired) == ("launch_order", 12, 0)


def test_a_window_that_opens_late_is_shifted() -> None:
    table = calls(skip_steps={2: 3})
    found = pair(table, RANKS, STEP_US)
    assert (found.paired, found.unpaired) == (9, 9)
    assert all(len(set(table.step[column])) == 1 for column in found.index.T)


def test_step_numbers_decide_where_clocks_are_far_apart() -> None:
    table = calls(offsets_ms=[0, 31, 0, -1200])
    found = pair(table, RANKS, STEP_US)
    assert all(len(set(table.step[column])) == 1 for column in found.index.T)


def test_ends_decide_where_steps_are_numbered_from_each_window() -> None:
    table = calls(skip_steps={2: 3})
    renumbered = replace(table, step=np.where(table.rank == 2, table.step - 3, table.step))
    found = pair(renumbered, RANKS, STEP_US)
    assert all(len(set(table.step[column])) == 1 for column in found.index.T)


def test_sequence_numbers_go_before_launch_order() -> None:
    table = calls(skip_steps={1: 2})
    found = pair(replace(table, sequence=table.step + 100), RANKS, STEP_US)
    assert (found.method, found.paired) == ("sequence", 10)


def test_ends_that_disagree_are_refused() -> None:
    table = calls()
    rng = np.random.default_rng(5)
    scattered = np.where(table.rank == 1, table.end_us + rng.uniform(0, 200_000, len(table.end_us)), table.end_us)
    found = pair(replace(table, end_us=scattered, step=np.full(len(table.step), -1)), RANKS, STEP_US)
    assert found.paired == 0 and "do not line up" in found.refused


def test_calls_of_other_sizes_do_not_pair() -> None:
    table = calls()
    sizes = np.where(table.rank == 1, 64, 128)
    assert pair(replace(table, bytes=sizes), RANKS, STEP_US).paired == 0


def test_rows_of_several_groups_in_any_order_pair_within_their_group() -> None:
    table = calls()
    by_time = np.argsort(table.arrival_us, kind="stable")
    columns = {n: v[by_time] for n in table.__slots__ if isinstance(v := getattr(table, n), np.ndarray)}
    mixed = replace(table, **columns, groups=[(0, 1), (2, 3)])
    found = pair(replace(mixed, group=mixed.rank // 2), RANKS, STEP_US)
    assert (found.paired, found.unpaired) == (24, 0)
    for column, group in zip(found.index.T, found.group, strict=True):
        assert [int(mixed.rank[row]) for row in column if row >= 0] == [2 * group, 2 * group + 1]
