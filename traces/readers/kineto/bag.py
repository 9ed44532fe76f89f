"""Very many spans, kept as their union in bounded memory."""

from __future__ import annotations

import numpy as np

from ...intervals import union
from ...tables import Floats

MERGE_AT = 1 << 18
MAX_SPANS = 1 << 15
"""Spans kept of one kind: beyond it neighbours are joined."""


class SpanBag:
    """Spans (us) that are merged whenever there are many. Gaps up to `gap_us` between spans are closed."""

    def __init__(self, gap_us: float) -> None:
        self._gap_us = gap_us
        self._starts: list[Floats] = []
        self._ends: list[Floats] = []
        self._held = 0

    def add(self, start_us: Floats, end_us: Floats) -> None:
        """Add spans."""
        self._starts.append(start_us)
        self._ends.append(end_us)
        self._held += len(start_us)
        if self._held >= MERGE_AT:
            self._replace(self.merged())

    def _replace(self, spans: tuple[Floats, Floats]) -> None:
        self._starts, self._ends, self._held = [spans[0]], [spans[1]], len(spans[0])

    def merged(self) -> tuple[Floats, Floats]:
        """Sorted disjoint spans, at most MAX_SPANS."""
        if not self._starts:
            return np.empty(0), np.empty(0)
        start, end = union(np.concatenate(self._starts), np.concatenate(self._ends) + self._gap_us)
        return joined(start, end - self._gap_us, MAX_SPANS)


def joined(start_us: Floats, end_us: Floats, most: int) -> tuple[Floats, Floats]:
    """At most `most` spans: neighbours with the smallest gaps become one, as long as the sum of both, from the
    first one's start. Time covered stays exact; it moves by less than the gaps that were closed."""
    if len(start_us) <= most:
        return start_us, end_us
    gaps = start_us[1:] - end_us[:-1]
    widest = np.partition(gaps, len(gaps) - most + 1)[len(gaps) - most + 1]
    first = np.flatnonzero(np.concatenate(([True], gaps > widest)))
    return start_us[first], start_us[first] + np.add.reduceat(end_us - start_us, first)
