"""Lateness of each rank and step against the on-time ranks, and how much the steps allow to say (DESIGN 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .matrix import StepMatrix
from .tables import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Lateness:
    """Per rank and step, ms, against the median of the on-time ranks of that step."""

    ranks: tuple[int, ...]
    on_time: tuple[int, ...]
    late_ms: Floats
    noise_ms: float | None
    mean_step_ms: float | None
    z: Floats


def sampling(steps: int, ranks: int, *, summary: bool, rare: bool = False) -> str:
    """How much may be concluded from so many steps (DESIGN 3.5, samples); `rare` for intermittent lateness."""
    if summary:
        return "summary"
    if steps == 0:
        return "none"
    if steps < threshold("few_steps"):
        return "single_step"
    if steps < threshold("candidate_steps"):
        return "few"
    enough = threshold("sufficient_steps_many_ranks" if ranks > threshold("many_ranks") else "sufficient_steps")
    if steps < (max(enough, threshold("sufficient_steps_rare")) if rare else enough):
        return "candidate"
    return "ample" if steps >= threshold("ample_steps") else "sufficient"


def on_time_ranks(mean_own: Floats) -> Bools:
    """Sort, split at the largest gap; the earlier group is on time (whoever arrives last holds the others)."""
    order = np.argsort(mean_own, kind="stable")
    gaps = np.diff(mean_own[order])
    mask = np.zeros(len(mean_own), dtype=bool)
    mask[order[: int(np.argmax(gaps)) + 1] if len(gaps) else order] = True
    return mask


def lateness(matrix: StepMatrix) -> Lateness:
    """Lateness of every rank and step, its noise (1.4826 x MAD over steps, median over ranks) and the step time."""
    mean_own = matrix.own.mean(axis=1)
    mask = on_time_ranks(mean_own)
    late = matrix.own - np.median(matrix.own[mask], axis=0)
    noise: float | None = matrix.noise_hint_ms
    if late.shape[1] >= threshold("noise_min_steps"):
        spread = np.median(np.abs(late - np.median(late, axis=1, keepdims=True)), axis=1)
        noise = float(1.4826 * np.median(spread))
    on_time = tuple(r for r, ok in zip(matrix.ranks, mask, strict=True) if ok)
    step_ms = mean_step(matrix)
    return Lateness(matrix.ranks, on_time, late, noise, step_ms, _z(late, step_ms or 0.0))


def mean_step(matrix: StepMatrix) -> float | None:
    """Mean step, ms: as recorded; else the slowest rank's arrival (or stages) and the transfer."""
    if matrix.step is not None and np.isfinite(matrix.step).all():
        return float(matrix.step.mean())
    reach = matrix.own.max(axis=0)
    if matrix.basis == "arrival" and matrix.stages:
        reach = np.maximum(reach, sum(matrix.stages.values(), np.zeros_like(matrix.own)).max(axis=0))
    transfer = 0.0 if matrix.transfer is None else np.nan_to_num(matrix.transfer)
    total = float(np.mean(reach + transfer))
    return total if total > 0 else None


def known_step(matrix: StepMatrix) -> float | None:
    """Mean step, ms, where the evidence tells it; None where there is only a scale to compare losses with."""
    return None if matrix.relative and matrix.step is None else mean_step(matrix)


def _z(late_ms: Floats, step_ms: float) -> Floats:
    """Modified z-score of each rank's median lateness among ranks (methods.md section 4). Infinite where a quarter
    of the ranks are late, since the MAD breaks then."""
    centre = np.median(late_ms, axis=1)
    mad = 1.4826 * float(np.median(np.abs(centre - np.median(centre))))
    if (centre > 0.5 * centre.max()).mean() >= 0.25:
        return np.full(len(centre), np.inf)
    return (centre - np.median(centre)) / max(mad, 0.001 * step_ms, 1e-9)
