"""Lateness -> scopes: which rank or set of ranks is late, how often, and which stage covers it (DESIGN 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..knowledge.thresholds import threshold
from .matrix import StepMatrix
from .tables import Bools, Floats

COMPUTE_PARTS = ("forward", "backward")


@dataclass(frozen=True, slots=True, eq=False)
class Lateness:
    """Per rank and step, ms, against the median of the on-time ranks of that step."""

    ranks: tuple[int, ...]
    on_time: tuple[int, ...]
    late_ms: Floats
    noise_ms: float | None
    mean_step_ms: float | None
    z: Floats


@dataclass(frozen=True, slots=True)
class StageExcess:
    """A stage of the late ranks against the on-time ranks, over the same steps; ms."""

    stage: str
    excess_ms: float
    coverage: float
    part: str
    late_ms: float
    on_time_ms: float


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
    stage = _common_stage(matrix, late, i, events)
    if (
        events.sum() >= threshold("event_min_count")
        and stage
        and float(values[events].sum()) / len(values) >= share_needed * mean
    ):
        return _scope(matrix, late, (i,), events, "intermittent"), []
    return None, [
        Stray(matrix.ranks[i], int(matrix.steps[k]), float(values[k]), _biggest(matrix, late, i, k))
        for k in np.flatnonzero(events).tolist()
        if values[k] >= 0.5 * mean
    ][:3]


def _agree(values: Floats, matrix: StepMatrix) -> bool:
    """Fewer than five steps: all must agree (a summary row stands for many)."""
    return matrix.summary or bool((values > 0.5 * values.mean()).all())


def _z(late_ms: Floats, step_ms: float) -> Floats:
    """Modified z-score of each rank's median lateness among ranks (methods.md section 4). Infinite where a quarter
    of the ranks are late, since the MAD breaks then."""
    centre = np.median(late_ms, axis=1)
    mad = 1.4826 * float(np.median(np.abs(centre - np.median(centre))))
    if (centre > 0.5 * centre.max()).mean() >= 0.25:
        return np.full(len(centre), np.inf)
    return (centre - np.median(centre)) / max(mad, 0.001 * step_ms, 1e-9)


def _on_time_mask(late: Lateness, but: Sequence[int] = ()) -> Bools:
    on_time = set(late.on_time)
    mask = np.array([r in on_time for r in late.ranks])
    mask[list(but)] = False
    return mask if mask.any() else np.array([k not in but for k in range(len(late.ranks))])


def _excess_by_step(matrix: StepMatrix, late: Lateness, i: int, stage: str) -> Floats:
    values = stage_values(matrix, stage)
    return values[i] - np.median(values[_on_time_mask(late, (i,))], axis=0)


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


def _common_stage(matrix: StepMatrix, late: Lateness, i: int, events: Bools) -> str | None:
    """The stage that covers every event."""
    for stage in stage_names(matrix):
        excess = _excess_by_step(matrix, late, i, stage)[events]
        if len(excess) and (excess >= threshold("coverage_large") * late.late_ms[i][events]).all():
            return stage
    return None


def _biggest(matrix: StepMatrix, late: Lateness, i: int, k: int) -> str:
    names = stage_names(matrix)
    if not names:
        return "unknown"
    return max(names, key=lambda stage: (float(_excess_by_step(matrix, late, i, stage)[k]), stage))


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
    before -= 0.0 if matrix.before is None else float(np.nanmean(matrix.before[_on_time_mask(late, rows)][:, steps]))
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
        stages=tuple(_stage_excess(matrix, late, rows, s, steps, pattern) for s in stage_names(matrix)),
        before_ms=before,
    )


def _split(late: int, ranks: int) -> str:
    if ranks == 2:
        return "two_ranks"
    return "even" if 2 * late == ranks else "clear"


def _stage_excess(
    matrix: StepMatrix,
    late: Lateness,
    rows: tuple[int, ...],
    stage: str,
    steps: Bools,
    pattern: str,
) -> StageExcess:
    use = steps if pattern == "intermittent" else np.ones(len(steps), dtype=bool)
    values = stage_values(matrix, stage)[:, use]
    mine = float(values[list(rows)].mean())
    others = float(np.median(values[_on_time_mask(late, rows)], axis=0).mean())
    lateness_ms = float(late.late_ms[list(rows)][:, use].mean())
    coverage = (mine - others) / lateness_ms if lateness_ms else 0.0
    return StageExcess(stage, mine - others, coverage, _part(coverage, late.noise_ms, lateness_ms), mine, others)


def _part(coverage: float, noise_ms: float | None, lateness_ms: float) -> str:
    slack = 0.0 if noise_ms is None else threshold("late_noise_factor") * noise_ms / lateness_ms
    tolerance = max(threshold("coverage_tolerance"), min(slack, threshold("coverage_large")))
    if abs(coverage - 1.0) <= tolerance:
        return "whole"
    if coverage >= threshold("coverage_large"):
        return "large"
    return "some" if coverage >= threshold("coverage_some") else "none"


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


def parts_by_stage(scope: LateScope) -> Mapping[str, StageExcess]:
    """Stage excesses by stage."""
    return {s.stage: s for s in scope.stages}
