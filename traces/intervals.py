"""Interval arithmetic on sorted, disjoint spans of one rank's timeline (microseconds)."""

from __future__ import annotations

import numpy as np

from .tables import Bools, Floats

Spans = tuple[Floats, Floats]
"""Starts and ends, sorted and disjoint."""

EMPTY: Spans = (np.empty(0), np.empty(0))


def union(start_us: Floats, end_us: Floats) -> Spans:
    """Disjoint union of arbitrary spans."""
    if len(start_us) == 0:
        return EMPTY
    order = np.argsort(start_us, kind="stable")
    start, end = start_us[order], np.maximum.accumulate(end_us[order])
    first = np.concatenate(([True], start[1:] > end[:-1]))
    last = np.concatenate((first[1:], [True]))
    return start[first], end[last]


def subtract(a: Spans, b: Spans) -> Spans:
    """The parts of `a` that `b` does not cover."""
    if len(a[0]) == 0 or len(b[0]) == 0:
        return a
    edges = np.unique(np.concatenate((*a, *b)))
    middle = (edges[:-1] + edges[1:]) / 2
    keep = inside(a, middle) & ~inside(b, middle)
    return union(edges[:-1][keep], edges[1:][keep])


def inside(spans: Spans, at_us: Floats) -> Bools:
    """Whether each instant lies in a span."""
    index = np.searchsorted(spans[0], at_us, side="right") - 1
    found = index >= 0
    found[found] = at_us[found] < spans[1][index[found]]
    return found


def covered_us(spans: Spans, from_us: Floats, to_us: Floats) -> Floats:
    """Covered time in each window [from, to]; windows with to <= from count 0."""
    if len(spans[0]) == 0:
        return np.zeros(len(from_us))
    total = np.concatenate(([0.0], np.cumsum(spans[1] - spans[0])))
    knots = np.column_stack(spans).ravel()
    heights = np.repeat(total, 2)[1:-1]

    def until(at_us: Floats) -> Floats:
        return np.interp(at_us, knots, heights, left=0.0, right=float(total[-1]))

    return np.where(to_us > from_us, until(np.maximum(to_us, from_us)) - until(from_us), 0.0)
