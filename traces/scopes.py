"""Lateness -> scopes: which rank or set of ranks is late, how often, and which stage covers it (DESIGN 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .attribute import (
    COMPUTE_PARTS,
    StageExcess,
    biggest_stage,
    common_stage,
    on_time_mask,
    stage_excess,
    stage_names,
)
from .lateness import Lateness, known_step, lateness, sampling
from .matrix import StepMatrix
from .tables import Bools, Floats


@dataclass(frozen=True, slots=True, eq=False)
class LateScope:
    """The lateness of one rank or of ranks late alike."""

    ranks: tuple[int, ...]
    pattern: str
    lateness_ms: float
    loss_ms: float
    loss_share: float
    late_steps: tuple[int, ...]
    steps: int
    noise_ms: float | None
    sampling: str
    split: str
    stages: tuple[StageExcess, ...]
    before_ms: float

    @property
    def id(self) -> str:
        """rank:2 or set:0,1."""
        return f"{'rank' if len(self.ranks) == 1 else 'set'}:{','.join(map(str, self.ranks))}"


@dataclass(frozen=True, slots=True)
class Stray:
    """One late step of one rank: a note, never a scope."""

    rank: int
    step: int
    lateness_ms: float
    stage: str


def find(matrix: StepMatrix) -> tuple[Lateness, list[LateScope], list[Stray]]:
    """All late scopes, largest loss first, and the single late steps."""
    late = lateness(matrix)
    found: list[LateScope] = []
    strays: list[Stray] = []
    too_few = not matrix.summary and len(matrix.steps) < threshold("few_steps")
    if len(matrix.ranks) < 2 or too_few:  # one raw profiler step names nobody
        return late, found, strays
    on_time = set(late.on_time)
    for i, rank in enumerate(matrix.ranks):
        if rank in on_time and not _tail(late, i):
            continue
        scope, stray = _classify(matrix, late, i)
        found.extend([scope] if scope else [])
        strays.extend(stray)
    merged = _merge_alike(matrix, late, found)
    return late, sorted(merged, key=lambda s: (-s.loss_ms, s.ranks)), strays


def _tail(late: Lateness, i: int) -> bool:
    """An on-time rank may still have rare, long steps."""
    return late.noise_ms is not None and bool((late.late_ms[i] > _event_floor(late)).any())


def _event_floor(late: Lateness) -> float:
    return max(threshold("event_noise_factor") * (late.noise_ms or 0.0), 0.02 * (late.mean_step_ms or 0.0))


def _classify(matrix: StepMatrix, late: Lateness, i: int) -> tuple[LateScope | None, list[Stray]]:
    values, mean = late.late_ms[i], late.mean_step_ms or 0.0
    noise = late.noise_ms
    loss = float(values.mean())
    floor = max(threshold("late_noise_factor") * (noise or 0.0), 0.02 * mean)
    share_needed = threshold("loss_share" if noise is not None else "loss_share_noise_unknown")
    late_mask = values > floor
    persistent = (
        late_mask.mean() >= threshold("late_steps_share")
        and float(np.median(values)) >= threshold("late_noise_factor") * (noise or 0.0)
        and loss >= share_needed * mean
        and (matrix.summary or len(matrix.ranks) < threshold("z_ranks") or late.z[i] >= threshold("z_cut"))
        and (noise is not None or _agree(values, matrix))
    )
    if persistent:
        return _scope(matrix, late, (i,), late_mask, "summary" if matrix.summary else "persistent"), []
    if noise is None:
        return None, []
    events = values > _event_floor(late)
    stage = common_stage(matrix, late, i, events)
    if (
        events.sum() >= threshold("event_min_count")
        and stage
        and float(values[events].sum()) / len(values) >= share_needed * mean
    ):
        return _scope(matrix, late, (i,), events, "intermittent"), []
    return None, [
        Stray(matrix.ranks[i], int(matrix.steps[k]), float(values[k]), biggest_stage(matrix, late, i, k))
        for k in np.flatnonzero(events).tolist()
        if values[k] >= 0.5 * mean
    ][:3]


def _agree(values: Floats, matrix: StepMatrix) -> bool:
    """Fewer than five steps: all must agree (a summary row stands for many)."""
    return matrix.summary or bool((values > 0.5 * values.mean()).all())


def _scope(
    matrix: StepMatrix,
    late: Lateness,
    rows: tuple[int, ...],
    steps: Bools,
    pattern: str,
) -> LateScope:
    values = late.late_ms[list(rows)].mean(axis=0)
    mean = late.mean_step_ms or 0.0
    typical = float(values[steps].mean() if pattern == "intermittent" else np.median(values))
    loss = float(values[steps].sum() / len(values)) if pattern == "intermittent" else float(values.mean())
    before = 0.0 if matrix.before is None else float(np.nanmean(matrix.before[list(rows)][:, steps]))
    before -= 0.0 if matrix.before is None else float(np.nanmean(matrix.before[on_time_mask(late, rows)][:, steps]))
    return LateScope(
        ranks=tuple(matrix.ranks[i] for i in rows),
        pattern=pattern,
        lateness_ms=typical,
        loss_ms=loss,
        loss_share=loss / mean if mean and known_step(matrix) else 0.0,
        late_steps=tuple(int(n) for n in matrix.steps[steps]),
        steps=len(matrix.steps),
        noise_ms=late.noise_ms,
        sampling=sampling(len(matrix.steps), len(matrix.ranks), summary=matrix.summary, rare=pattern == "intermittent"),
        split=_split(len(rows), len(matrix.ranks)),
        stages=tuple(stage_excess(matrix, late, rows, s, steps, pattern) for s in stage_names(matrix)),
        before_ms=before,
    )


def _split(late: int, ranks: int) -> str:
    if ranks == 2:
        return "two_ranks"
    return "even" if 2 * late == ranks else "clear"


def leading_stage(scope: LateScope) -> str | None:
    """The stage with the largest excess, compute before its parts; None where stages are unknown."""
    whole = [s for s in scope.stages if s.stage not in COMPUTE_PARTS or all(x.stage != "compute" for x in scope.stages)]
    return max(whole, key=lambda s: (s.excess_ms, s.stage)).stage if whole else None


def _merge_alike(matrix: StepMatrix, late: Lateness, found: list[LateScope]) -> list[LateScope]:
    """Ranks late in the same steps, by amounts within 20 %, and in the same stage are one scope."""
    groups: list[list[LateScope]] = []
    for scope in sorted(found, key=lambda s: s.lateness_ms):
        home = next((g for g in groups if _alike(g[0], scope)), None)
        if home is None:
            groups.append([scope])
        else:
            home.append(scope)
    merged: list[LateScope] = []
    for group in groups:
        if len(group) == 1:
            merged.append(group[0])
            continue
        rows = tuple(sorted(matrix.ranks.index(r) for s in group for r in s.ranks))
        steps = np.isin(matrix.steps, sorted({n for s in group for n in s.late_steps}))
        merged.append(_scope(matrix, late, rows, steps, group[0].pattern))
    return merged


def _alike(a: LateScope, b: LateScope) -> bool:
    same = a.pattern == b.pattern and leading_stage(a) == leading_stage(b)
    shared = set(a.late_steps) & set(b.late_steps)
    together = len(shared) >= 0.8 * max(len(a.late_steps), len(b.late_steps))
    return same and together and b.lateness_ms <= 1.2 * a.lateness_ms
