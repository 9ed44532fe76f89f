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
