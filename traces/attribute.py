"""Which stage covers a lateness: a stage of the late ranks against the on-time ranks, over the same steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .lateness import Lateness
from .matrix import StepMatrix
from .tables import Bools, Floats

COMPUTE_PARTS = ("forward", "backward")


@dataclass(frozen=True, slots=True)
class StageExcess:
    """A stage of the late ranks against the on-time ranks, over the same steps; ms."""

    stage: str
    excess_ms: float
    coverage: float
    part: str
    late_ms: float
    on_time_ms: float


def on_time_mask(late: Lateness, but: Sequence[int] = ()) -> Bools:
    """Which rows are on time, the given ones left out; all others where none would remain."""
    on_time = set(late.on_time)
    mask = np.array([r in on_time for r in late.ranks])
    mask[list(but)] = False
    return mask if mask.any() else np.array([k not in but for k in range(len(late.ranks))])


def excess_by_step(matrix: StepMatrix, late: Lateness, i: int, stage: str) -> Floats:
    """A stage of one rank minus the median of the on-time ranks, per step; ms."""
    values = stage_values(matrix, stage)
    return values[i] - np.median(values[on_time_mask(late, (i,))], axis=0)


def stage_values(matrix: StepMatrix, stage: str) -> Floats:
    """A stage, or compute as the sum of its parts."""
    if stage == "compute" and stage not in matrix.stages:
        return matrix.stages["forward"] + matrix.stages["backward"]
    return matrix.stages[stage]


def stage_names(matrix: StepMatrix) -> list[str]:
    """Stages of the matrix, with compute added where both parts are known."""
    names = list(matrix.stages)
    if "compute" not in names and all(p in names for p in COMPUTE_PARTS):
        names.append("compute")
    return names


def common_stage(matrix: StepMatrix, late: Lateness, i: int, events: Bools) -> str | None:
    """The stage that covers every event."""
    for stage in stage_names(matrix):
        excess = excess_by_step(matrix, late, i, stage)[events]
        if len(excess) and (excess >= threshold("coverage_large") * late.late_ms[i][events]).all():
            return stage
    return None


def biggest_stage(matrix: StepMatrix, late: Lateness, i: int, k: int) -> str:
    """The stage with the largest excess of a rank in one step."""
    names = stage_names(matrix)
    if not names:
        return "unknown"
    return max(names, key=lambda stage: (float(excess_by_step(matrix, late, i, stage)[k]), stage))


def stage_excess(
    matrix: StepMatrix,
    late: Lateness,
    rows: tuple[int, ...],
    stage: str,
    steps: Bools,
    pattern: str,
) -> StageExcess:
    """A stage of the late rows against the on-time ranks, with its coverage of the lateness (DESIGN 3.5)."""
    use = steps if pattern == "intermittent" else np.ones(len(steps), dtype=bool)
    values = stage_values(matrix, stage)[:, use]
    mine = float(values[list(rows)].mean())
    others = float(np.median(values[on_time_mask(late, rows)], axis=0).mean())
    lateness_ms = float(late.late_ms[list(rows)][:, use].mean())
    coverage = (mine - others) / lateness_ms if lateness_ms else 0.0
    return StageExcess(stage, mine - others, coverage, part_of(coverage, late.noise_ms, lateness_ms), mine, others)


def part_of(coverage: float, noise_ms: float | None = None, lateness_ms: float = 1.0) -> str:
    slack = 0.0 if noise_ms is None else threshold("late_noise_factor") * noise_ms / lateness_ms
    tolerance = max(threshold("coverage_tolerance"), min(slack, threshold("coverage_large")))
    if abs(coverage - 1.0) <= tolerance:
        return "whole"
    if coverage >= threshold("coverage_large"):
        return "large"
    return "some" if coverage >= threshold("coverage_some") else "none"
