"""Interval arithmetic against a brute force on a grid."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from latecomer.traces.intervals import Spans, covered_us, inside, subtract, union

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)), max_size=8).map(
    lambda pairs: union(np.array([a for a, _ in pairs], float), np.array([a + n for a, n in pairs], float))
)
GRID = np.arange(0.5, 60.0)


def grid(of: Spans) -> set[int]:
    return {int(t) for t in GRID if any(a <= t < b for a, b in zip(*of, strict=True))}


@given(spans)
def test_union_is_sorted_and_disjoint(one: Spans) -> None:
    assert (one[0][1:] > one[1][:-1]).all() and (one[0] <= one[1]).all()


@given(spans, spans)
def test_subtract_keeps_what_the_other_does_not_cover(one: Spans, other: Spans) -> None:
    assert grid(subtract(one, other)) == grid(one) - grid(other)


@given(spans, st.integers(0, 50), st.integers(-5, 50))
def test_covered_time_counts_the_grid(one: Spans, start: int, length: int) -> None:
    window = set(range(start, start + max(length, 0)))
    covered = covered_us(one, np.array([float(start)]), np.array([float(start + length)]))
    assert covered[0] == len(grid(one) & window)


@given(spans)
def test_inside_agrees_with_the_spans(one: Spans) -> None:
    assert {int(t) for t, ok in zip(GRID, inside(one, GRID), strict=True) if ok} == grid(one)
