"""Clock offsets from the ends of synchronising collectives (order of trust 3, methods.md section 3).

Offsets are a cross-check and a warning; lateness does not need them. A rank that always leaves late looks like an
offset clock, so an offset is claimed only where it is larger than the transfer itself, or where causality (nobody
ends before another has started) excludes that the clocks agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .match import Pairing
from .profile import synchronising
from .tables import CollectiveTable, Floats

SWEEPS = 20
EXIT_SKEW_MS = 0.005
"""Systematic exit skew allowed for on top of the statistical uncertainty (methods.md section 3, step 5)."""


MANY = 64
"""Above this many ranks the reference is the rank nearest to the median, since pairwise bounds grow as the square."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Clock of a rank minus the group's, ms. `claimed`: it cannot be exit skew."""

    rank: int
    offset_ms: float
    uncertainty_ms: float
    claimed: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """`offsets` is empty where offsets are not identifiable; `bar_ms`: no claim about starts below it."""

    offsets: tuple[Offset, ...]
    bar_ms: float | None
    end_spread_ms: float | None
    identifiable: bool


NOT_IDENTIFIABLE = Alignment((), None, None, False)


def align(table: CollectiveTable, pairing: Pairing) -> Alignment:
    """Offsets of every rank that takes part in at least three common synchronising collectives."""
    index = pairing.index[:, synchronising(table, pairing)]
    index = index[:, (index >= 0).all(axis=0)]
    if index.shape[1] < 3 or len(pairing.ranks) < 2:
        return NOT_IDENTIFIABLE
    end, start = table.end_us[index] / 1000.0, table.arrival_us[index] / 1000.0
    theta, residual = _polish(end)
    sigma = 1.4826 * np.median(np.abs(residual - np.median(residual, axis=1, keepdims=True)), axis=1)
    uncertain = 3.0 * 1.2533 * sigma / np.sqrt(index.shape[1]) + EXIT_SKEW_MS
    majority = _reference(theta, start, end)
    skew = float(np.median((end - start).min(axis=0)))
    offsets = tuple(
        _offset(r, float(theta[i] - theta[majority]), float(uncertain[i]), skew, _may_be_zero(start, end, i, majority))
        for i, r in enumerate(pairing.ranks)
    )
    aligned = end - theta[:, None]
    spread = float(np.median(aligned.max(axis=0) - aligned.min(axis=0)))
    return Alignment(offsets, float(2 * uncertain.max()), spread, True)


def _offset(rank: int, offset_ms: float, uncertain_ms: float, skew_ms: float, may_be_zero: bool) -> Offset:
    claimed = abs(offset_ms) > max(uncertain_ms, threshold("offset_floor_ms")) and (
        abs(offset_ms) > skew_ms or not may_be_zero
    )
    return Offset(rank, offset_ms, uncertain_ms, claimed)


def _polish(end_ms: Floats) -> tuple[Floats, Floats]:
    """Median polish of ends into collective + rank + residual; the median rank offset is zero."""
    theta = np.zeros(end_ms.shape[0])
    base = end_ms[:, :1].mean()
    values = end_ms - base
    for _ in range(SWEEPS):
        centre = np.median(values - theta[:, None], axis=0)
        updated = np.median(values - centre, axis=1)
        updated -= np.median(updated)
        if np.allclose(updated, theta, atol=1e-6):
            break
        theta = updated
    centre = np.median(values - theta[:, None], axis=0)
    return theta, values - centre - theta[:, None]


def _bounds(start: Floats, end: Floats, i: int, j: int) -> tuple[float, float]:
    """Hard bounds on clock i minus clock j: no end before the other's start."""
    return float((start[i] - end[j]).max()), float((end[i] - start[j]).min())


def _may_be_zero(start: Floats, end: Floats, i: int, j: int) -> bool:
    low, high = _bounds(start, end, i, j)
    return i == j or low <= 0.0 <= high or low > high


def _reference(theta: Floats, start: Floats, end: Floats) -> int:
    """The rank whose clock agrees with the most others; the clocks of a host agree, so the majority is right."""
    if len(theta) > MANY:
        return int(np.argmin(np.abs(theta)))
    count = [sum(_may_be_zero(start, end, i, j) for j in range(len(theta))) for i in range(len(theta))]
    middle = np.abs(theta - np.median(theta))
    return min(range(len(theta)), key=lambda i: (-count[i], middle[i], i))
