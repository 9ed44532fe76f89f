"""What-if: replay max-over-ranks over every sync of each step (DESIGN section 3, methods.md section 5).

E_k = max(max over ranks of ready_rk, E_(k-1)) + transfer_k; a rank goes on from E_k where the sync blocks it,
else from its own arrival. Published only where the replay of the unmodified trace meets the recorded steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .matrix import StepMatrix, SyncMatrix
from .tables import Floats, Ints

BLOCK = 5
"""Steps a bootstrap block; neighbouring steps are not independent (methods.md section 4)."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Recoverable:
    """What a step would gain if one stage of a scope took what it takes on the on-time ranks; 95 % interval."""

    scope: str
    stage: str
    ms_per_step: float
    share: float
    low_ms: float
    high_ms: float
    replay_error: float


def replay(sync: SyncMatrix, own: Floats, steps: Ints) -> Floats:
    """Step times (steps,) in ms of the replay, from the end of the previous step to the last end."""
    times = np.zeros(len(steps))
    for position, n in enumerate(steps):
        ready = np.zeros(own.shape[0])
        ended = 0.0
        for k in np.flatnonzero(sync.step == n):
            ready = ready + np.nan_to_num(own[:, k])
            ended = max(float(ready.max()), ended) + float(sync.transfer[k])
            if sync.blocking[k]:
                ready = np.full_like(ready, ended)
        times[position] = ended
    return times


def replay_error(sync: SyncMatrix, steps: Ints, times: Floats) -> float:
    """Relative difference of the unmodified replay and the recorded step times, summed."""
    recorded = sum(sync.period_ms.get(int(n), np.nan) for n in steps)
    return abs(float(times.sum()) - recorded) / recorded if recorded else np.inf


def gain(sync: SyncMatrix, rows: list[int], on_time: list[int], stage: str, scope: str) -> Recoverable | None:
    """Gain of setting `stage` of the scope's rows to the on-time median at every sync; None where not valid."""
    steps = np.array(sorted(sync.period_ms), dtype=np.int64)
    values = sync.stages.get(stage)
    if stage == "compute" and values is None:
        values = sum((sync.stages[p] for p in ("forward", "backward") if p in sync.stages), np.zeros_like(sync.own))
    if values is None or len(steps) == 0:
        return None
    before = replay(sync, sync.own, steps)
    error = replay_error(sync, steps, before)
    if not error <= threshold("replay_error"):
        return None
    changed = sync.own.copy()
    excess = values[rows] - np.median(values[on_time], axis=0)
    changed[rows] -= np.maximum(excess, 0.0)
    gained = before - replay(sync, changed, steps)
    low, high = bootstrap(gained)
    return Recoverable(scope, stage, float(gained.mean()), float(gained.sum() / before.sum()), low, high, error)


def gain_from_steps(
    matrix: StepMatrix, rows: list[int], on_time: list[int], stage: str, scope: str
) -> Recoverable | None:
    """The same for a table with one sync a step: max own - max of the others and the mended own."""
    if stage not in matrix.stages or matrix.summary is False and matrix.own.shape[1] == 0:
        return None
    excess = np.maximum(matrix.stages[stage][rows] - np.median(matrix.stages[stage][on_time], axis=0), 0.0)
    changed = matrix.own.copy()
    changed[rows] -= excess
    gained = matrix.own.max(axis=0) - changed.max(axis=0)
    transfer = np.zeros(len(gained)) if matrix.transfer is None else np.nan_to_num(matrix.transfer)
    total = matrix.own.max(axis=0) + transfer if matrix.step is None else matrix.step
    low, high = bootstrap(gained)
    modelled = matrix.own.max(axis=0) + transfer
    error = abs(float(modelled.sum() - total.sum())) / float(total.sum())
    if error > threshold("replay_error"):
        return None
    return Recoverable(scope, stage, float(gained.mean()), float(gained.sum() / total.sum()), low, high, error)


def bootstrap(values: Floats) -> tuple[float, float]:
    """95 % interval of the mean by a block bootstrap with a fixed seed; the mean itself below two steps."""
    count = len(values)
    if count < 2:
        return float(values.mean()), float(values.mean())
    rng = np.random.default_rng(20_26)
    block = min(BLOCK, max(1, count // 3))
    starts = rng.integers(0, count, size=(RESAMPLES, -(-count // block)))
    index = (starts[..., None] + np.arange(block)) % count
    means = values[index.reshape(RESAMPLES, -1)[:, :count]].mean(axis=1)
    return float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))
