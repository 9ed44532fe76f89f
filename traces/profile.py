"""Profiles -> own times: split each rank's timeline at its collectives and attribute what lies between.

A rank's own time before collective k runs from its arrival at collective k-1 to its arrival at k, less the time
it stood still inside collective k-1 (the part of that collective's window that no work of the rank covers).
All of it are durations on the rank's own clock, so no clock has to be aligned (order of trust 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .intervals import EMPTY, Spans, covered_us, subtract, union
from .match import Pairing
from .matrix import StepMatrix, SyncMatrix
from .tables import STAGES, SUMMARY, Bools, CollectiveTable, Floats, Ints, SpanTable, Tables

HOST_WORK = ("input_wait", "optimizer", "forward", "backward")
DEVICE_WORK = ("compute", "input_wait")
"""Stages in the order in which they claim a moment: what the device does hides what the host does beside it. On a
device trace the host's forward and backward are only launches; a device that has none of its own work is waiting
for the host."""

SYNCHRONISING = frozenset({"all_reduce", "all_gather", "reduce_scatter", "barrier", "all_to_all"})
"""Operations in which nobody can finish before all have started (uneven all-to-all is checked by its ends)."""


@dataclass(frozen=True, slots=True, eq=False)
class RankSplit:
    """One rank's calls in launch order: step, own time, stages of it, stand-still time (all us).

    `damaged`: steps with a call whose end is not known, or whose own time hangs on such an end."""

    rows: Ints
    step: Ints
    own_us: Floats
    stages_us: Mapping[str, Floats]
    before_us: Floats
    still_us: Floats
    damaged: frozenset[int]


def split_rank(table: CollectiveTable, rows: Ints, work: Mapping[str, Spans], starts: Mapping[int, float]) -> RankSplit:
    """Split one rank. The first call of the window has no previous end: its own time is NaN."""
    arrival, end = table.arrival_us[rows], table.end_us[rows]
    previous = np.concatenate(([np.nan], arrival[:-1]))
    open_call = ~np.isfinite(end)
    until = np.concatenate(([np.nan], np.maximum.accumulate(np.where(open_call, -np.inf, end))[:-1]))
    until = np.minimum(until, arrival)
    busy: dict[str, Floats] = {}
    inside: dict[str, Floats] = {}
    lo, mid, hi = np.nan_to_num(previous), np.nan_to_num(until), arrival
    device = "compute" in work
    for stage, spans in work.items():
        inside[stage] = covered_us(spans, lo, mid) if stage == "compute" or not device else np.zeros(len(rows))
        busy[stage] = inside[stage] + covered_us(spans, mid, hi)
    still_before = np.maximum(mid - lo - sum(inside.values(), np.zeros(len(rows))), 0.0)
    own = arrival - previous - still_before
    host = np.maximum(own - sum(busy.values(), np.zeros(len(rows))), 0.0)
    step = table.step[rows]
    begin = np.array([starts.get(int(s), np.nan) for s in step])
    before = np.clip(np.nan_to_num(begin - mid), 0.0, np.nan_to_num(arrival - mid))
    before[0] = np.nan
    still = np.concatenate((still_before[1:], [_last_still(end[-1] - arrival[-1], work, arrival[-1], end[-1])]))
    stages = {**busy, "host": host}
    for values in stages.values():
        values[0] = np.nan
    hangs = open_call | np.concatenate(([False], open_call[:-1]))
    return RankSplit(rows, step, own, stages, before, still, frozenset(step[hangs].tolist()))


def _last_still(window: float, work: Mapping[str, Spans], start: float, end: float) -> float:
    counts = {"compute": work["compute"]} if "compute" in work else work
    covered = sum(float(covered_us(s, np.array([start]), np.array([end]))[0]) for s in counts.values())
    return max(window - covered, 0.0)


def work_spans(spans: SpanTable | None, rank: int) -> dict[str, Spans]:
    """Exclusive spans of each stage of one rank."""
    if spans is None:
        return {}
    found: dict[str, Spans] = {}
    taken = EMPTY
    mine = spans.rank == rank
    for stage in DEVICE_WORK if (spans.device & mine).any() else HOST_WORK:
        chosen = mine & (spans.stage == STAGES.index(stage))
        if not chosen.any():
            continue
        whole = union(spans.start_us[chosen], spans.end_us[chosen])
        found[stage] = subtract(whole, taken)
        taken = union(np.concatenate((taken[0], whole[0])), np.concatenate((taken[1], whole[1])))
    return found


def split_all(tables: Tables, ranks: tuple[int, ...]) -> dict[int, RankSplit]:
    """Split every rank that has collectives."""
    table = tables.collectives
    assert table is not None
    splits: dict[int, RankSplit] = {}
    for rank in ranks:
        rows = np.flatnonzero(table.rank == rank)
        if len(rows):
            rows = rows[np.argsort(table.arrival_us[rows], kind="stable")]
            splits[rank] = split_rank(table, rows, work_spans(tables.spans, rank), step_starts(tables, rank))
    return splits


def step_starts(tables: Tables, rank: int) -> dict[int, float]:
    """Start of each profiler step of a rank, us on its clock."""
    steps = tables.steps
    if steps is None:
        return {}
    mine = (steps.rank == rank) & np.isfinite(steps.start_us) & (steps.step != SUMMARY)
    return dict(zip(steps.step[mine].tolist(), steps.start_us[mine].tolist(), strict=True))


def common_steps(splits: Mapping[int, RankSplit]) -> Ints:
    """Steps in which every rank has a collective and no call of any rank lacks its end."""
    sets = [set(s.step[s.step != SUMMARY].tolist()) - s.damaged for s in splits.values()]
    return np.array(sorted(set.intersection(*sets)) if sets else [], dtype=np.int64)


def step_matrix(tables: Tables, splits: Mapping[int, RankSplit], pairing: Pairing) -> StepMatrix | None:
    """Sum own times over the calls of each step. Steps whose first call has no previous end are left out, unless
    fewer than five would remain (then they count from their first recorded collective)."""
    steps = common_steps(splits)
    if len(steps) == 0:
        return None
    ranks = tuple(sorted(splits))
    partial = np.array([any(s.step[0] == n for s in splits.values()) for n in steps])
    if (~partial).sum() >= 5:
        steps = steps[~partial]
    names = sorted({name for s in splits.values() for name in s.stages_us})
    own = np.array([_per_step(splits[r], splits[r].own_us, steps) for r in ranks])
    stages = {
        n: np.array(
            [_per_step(splits[r], splits[r].stages_us.get(n, np.zeros(len(splits[r].step))), steps) for r in ranks]
        )
        for n in names
    }
    before = np.array([_per_step(splits[r], splits[r].before_us, steps) for r in ranks])
    wait, transfer = waits(tables, splits, pairing, ranks, steps)
    return StepMatrix(
        ranks, steps, own, stages, before, wait, transfer, step_times(tables, ranks, steps), "own_time", profile=True
    )


def _per_step(split: RankSplit, values_us: Floats, steps: Ints) -> Floats:
    total = np.zeros(len(steps))
    where = np.searchsorted(steps, split.step)
    ok = (where < len(steps)) & np.isfinite(values_us)
    ok &= steps[np.minimum(where, len(steps) - 1)] == split.step
    np.add.at(total, where[ok], values_us[ok] / 1000.0)
    return total


def step_times(tables: Tables, ranks: tuple[int, ...], steps: Ints) -> Floats | None:
    """Mean over ranks of each step's duration, ms; None where no source has steps."""
    table = tables.steps
    column = None if table is None else table.columns.get("step_ms")
    if table is None or column is None:
        return None
    use = np.isin(table.rank, ranks) & np.isin(table.step, steps) & np.isfinite(column)
    at = np.searchsorted(steps, table.step[use])
    count = np.bincount(at, minlength=len(steps))
    total = np.bincount(at, weights=column[use], minlength=len(steps))
    return total / count if len(steps) and count.all() else None


def synchronising(table: CollectiveTable, pairing: Pairing) -> Bools:
    """Which matched collectives nobody can leave before all have come."""
    known = np.array([op in SYNCHRONISING for op in table.ops], dtype=bool)
    first = pairing.index.max(axis=0) if pairing.index.size else np.empty(0, dtype=np.int64)
    return known[table.op[first]]


def waits(
    tables: Tables, splits: Mapping[int, RankSplit], pairing: Pairing, ranks: tuple[int, ...], steps: Ints
) -> tuple[Floats | None, Floats | None]:
    """Stand-still time per rank and step, split into wait and transfer without any clock.

    Per matched synchronising collective, transfer = min over ranks of the stand-still time, wait = own minus
    that (anchors 1d). None where collectives are not paired.
    """
    table = tables.collectives
    assert table is not None
    if pairing.paired == 0:
        return None, None
    still = np.full(len(table.rank), np.nan)
    for split in splits.values():
        still[split.rows] = split.still_us / 1000.0
    index = pairing.index[:, synchronising(table, pairing)]
    if index.shape[1] == 0:
        return None, None
    values = np.where(index >= 0, still[index], np.nan)
    floor = np.nanmin(values, axis=0)
    step = np.array([table.step[column[column >= 0][0]] for column in index.T])
    wait = np.array([[np.nansum((values[i] - floor)[step == n]) for n in steps] for i in range(len(pairing.ranks))])
    transfer = np.array([floor[step == n].sum() for n in steps])
    order = [pairing.ranks.index(r) for r in ranks]
    return wait[order], transfer


def sync_matrix(tables: Tables, splits: Mapping[int, RankSplit], pairing: Pairing, steps: Ints) -> SyncMatrix | None:
    """The replay's input. None where ranks do not all take part in every collective (several groups)."""
    table = tables.collectives
    if table is None or pairing.paired == 0 or (pairing.index < 0).any():
        return None
    own_all = np.full(len(table.rank), np.nan)
    still = np.full(len(table.rank), np.nan)
    stage_all: dict[str, Floats] = {}
    for split in splits.values():
        own_all[split.rows] = split.own_us / 1000.0
        still[split.rows] = split.still_us / 1000.0
        for name, values in split.stages_us.items():
            stage_all.setdefault(name, np.zeros(len(table.rank)))[split.rows] = values / 1000.0
    index = pairing.index
    step = table.step[index[0]]
    use = np.isin(step, steps)
    index, step = index[:, use], step[use]
    end, arrival = table.end_us[index], table.arrival_us[index]
    earlier = np.concatenate((np.full((len(index), 1), -np.inf), end[:, :-1]), axis=1)
    transfer = np.maximum((end - np.maximum(arrival, earlier)).min(axis=0) / 1000.0, 0.0)
    window = (end - arrival) / 1000.0
    blocking = np.median(still[index], axis=0) >= 0.5 * np.median(window, axis=0)
    blocking |= np.concatenate((step[1:] != step[:-1], [True])) if len(step) else blocking
    return SyncMatrix(
        pairing.ranks,
        step,
        own_all[index],
        {name: values[index] for name, values in stage_all.items()},
        transfer,
        blocking,
        _periods(table, pairing, steps),
    )


def _periods(table: CollectiveTable, pairing: Pairing, steps: Ints) -> dict[int, float]:
    """Median over ranks of the time from the last end of the previous step to the last end of a step, ms."""
    step = table.step[pairing.index[0]]
    periods: dict[int, float] = {}
    for n in steps:
        mine, before = pairing.index[:, step == n], pairing.index[:, step < n]
        if mine.size and before.size:
            gap = table.end_us[mine].max(axis=1) - table.end_us[before].max(axis=1)
            periods[int(n)] = float(np.median(gap)) / 1000.0
    return periods
