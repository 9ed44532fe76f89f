"""measure(tables, answers) -> facts and figures. Pure: runs again whenever evidence arrives.

Facts are few: what stands out and the group's summary, not one per rank and step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..knowledge.facts import Fact
from ..knowledge.thresholds import threshold
from . import statements as say
from .align import NOT_IDENTIFIABLE, Alignment, align
from .attribute import COMPUTE_PARTS, stage_names, stage_values
from .batches import batch_facts
from .clocks import clock_facts, inherited_facts
from .common import common_facts, transfer_view
from .lateness import Lateness
from .match import Pairing, pair
from .matrix import StepMatrix, SyncMatrix
from .profile import split_all, step_matrix, step_times, sync_matrix, work_spans
from .provenance import with_sources
from .readings import reading_contrasts
from .replay import Recoverable, gain, gain_from_steps
from .roles import find_by_role, roles, same_role
from .rows import RowsView, view_rows
from .scopes import LateScope, Stray, leading_stage
from .tables import STAGES, SUMMARY, Floats, Ints, StepTable, Tables

HEAT_RANKS = 64
HEAT_STEPS = 200


@dataclass(frozen=True, slots=True)
class RankRow:
    """What a rank spent per step, ms (means)."""

    rank: int
    stages_ms: Mapping[str, float]
    own_time_ms: float | None
    lateness_ms: float | None
    wait_ms: float | None


@dataclass(frozen=True, slots=True)
class Extras:
    """Figures of the document that are not facts: tables and pictures."""

    rows: tuple[RankRow, ...] = ()
    heat_ranks: tuple[int, ...] = ()
    heat_steps: tuple[int, ...] = ()
    heat_ms: tuple[tuple[float | None, ...], ...] = ()
    step_ms: float | None = None
    arrival_skew_ms: float | None = None
    transfer_ms: float | None = None
    recoverable: tuple[Recoverable, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """Facts in a canonical order, and the figures."""

    facts: tuple[Fact, ...]
    extras: Extras = field(default_factory=Extras)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything the facts are stated from."""

    tables: Tables
    ranks: tuple[int, ...]
    pairing: Pairing | None
    alignment: Alignment
    matrix: StepMatrix | None
    sync: SyncMatrix | None
    rows: RowsView | None
    warmup: tuple[int, float, float] | None
    lateness: Lateness | None
    scopes: tuple[LateScope, ...]
    strays: tuple[Stray, ...]


def measure(tables: Tables, answers: Sequence[Fact] = ()) -> Measured:
    """Facts and figures of one job. `answers` (facts the engineer stated) replace measured ones with their key
    later, where the vocabulary is known; here they only pass through."""
    seen = _view(tables)
    gains = tuple(_recoverable(seen))
    facts = [
        *say.job_facts(seen),
        *say.gate_facts(seen),
        *say.reading_facts(tables.report),
        *say.scope_facts(seen),
        *clock_facts(seen),
        *inherited_facts(seen),
        *common_facts(seen.matrix, seen.rows, seen.ranks, _solo_stages(seen), say.step_count(seen)),
        *batch_facts(tables, seen.matrix, seen.scopes),
        *reading_contrasts(seen),
    ]
    return Measured(tuple(sorted([*with_sources(facts, tables), *answers], key=str)), _extras(seen, gains))


def rank_numbers(tables: Tables) -> tuple[int, ...]:
    """Every rank with rows of any kind."""
    found: set[int] = set()
    for table in (tables.steps, tables.collectives, tables.spans):
        if table is not None:
            found.update(int(r) for r in np.unique(table.rank))
    return tuple(sorted(found))


def _view(tables: Tables) -> View:
    ranks = rank_numbers(tables)
    if tables.collectives is not None and len(tables.collectives.rank) and len(ranks) > 1:
        return _profile_view(tables, ranks)
    rows = None if tables.steps is None or not tables.steps.columns else view_rows(tables.steps)
    matrix = None if rows is None else rows.matrix
    if matrix is not None and any(note.code == "relative-values" for note in tables.report):
        matrix = replace(matrix, relative=True)
    return _finish(tables, ranks, None, NOT_IDENTIFIABLE, matrix, None, rows)


def _profile_view(tables: Tables, ranks: tuple[int, ...]) -> View:
    table = tables.collectives
    assert table is not None
    present = tuple(r for r in ranks if (table.rank == r).any())
    pairing = pair(table, present, _median_step_us(tables.steps))
    splits = split_all(tables, present)
    trusted = pairing.paired > 0 or not pairing.refused
    matrix = step_matrix(tables, splits, pairing) if trusted and len(splits) > 1 else None
    sync = None if matrix is None else sync_matrix(tables, splits, pairing, matrix.steps)
    alignment = align(table, pairing) if pairing.paired else NOT_IDENTIFIABLE
    return _finish(tables, ranks, pairing, alignment, matrix, sync, None)


def _median_step_us(steps: StepTable | None) -> float:
    column = None if steps is None else steps.columns.get("step_ms")
    if column is None or not np.isfinite(column).any():
        return 1_000_000.0
    return float(np.nanmedian(column)) * 1000.0


def _finish(
    tables: Tables,
    ranks: tuple[int, ...],
    pairing: Pairing | None,
    alignment: Alignment,
    matrix: StepMatrix | None,
    sync: SyncMatrix | None,
    rows: RowsView | None,
) -> View:
    warmup = _warmup(tables, ranks)
    if matrix is not None and warmup is not None and len(matrix.steps) > 1:
        matrix = matrix.pick(matrix.steps != warmup[0])
    if matrix is None:
        return View(tables, ranks, pairing, alignment, None, sync, rows, warmup, None, (), ())
    late, scopes, strays = find_by_role(matrix, roles(tables))
    return View(tables, ranks, pairing, alignment, matrix, sync, rows, warmup, late, tuple(scopes), tuple(strays))


def _warmup(tables: Tables, ranks: tuple[int, ...]) -> tuple[int, float, float] | None:
    """(step, its ms, median ms of the rest) where the first recorded step is much slower on every rank."""
    table = tables.steps
    if table is None or "step_ms" not in table.columns:
        return None
    steps = np.unique(table.step[table.step != SUMMARY])
    if len(steps) < threshold("noise_min_steps"):
        return None
    times = step_times(tables, ranks, steps)
    if times is None:
        return None
    rest = float(np.median(times[1:]))
    slow = float(times[0]) >= threshold("warmup_ratio") * rest
    return (int(steps[0]), float(times[0]), rest) if slow else None


def _solo_stages(seen: View) -> dict[str, tuple[float, float]]:
    """Stage shares where no rank can be compared: {stage: (share of the step, ms)} from spans of one rank."""
    spans, steps = seen.tables.spans, seen.tables.steps
    if seen.matrix is not None or spans is None or steps is None or "step_ms" not in steps.columns:
        return {}
    total_ms = float(np.nansum(steps.columns["step_ms"]))
    count = int(np.isfinite(steps.columns["step_ms"]).sum())
    if not count or total_ms <= 0:
        return {}
    first, last = steps.start_us.min(), (steps.start_us + steps.columns["step_ms"] * 1000.0).max()
    found: dict[str, tuple[float, float]] = {}
    for rank in seen.ranks:
        for stage, (start, end) in work_spans(spans, rank).items():
            inside = (np.minimum(end, last) - np.maximum(start, first)).clip(min=0).sum() / 1000.0
            found[stage] = (float(inside) / total_ms, float(inside) / count)
    return found


def _recoverable(seen: View) -> list[Recoverable]:
    matrix, late = seen.matrix, seen.lateness
    if matrix is None or late is None:
        return []
    row_of = {rank: row for row, rank in enumerate(matrix.ranks)}
    on_time = [row_of[r] for r in late.on_time]
    found: list[Recoverable] = []
    for scope in seen.scopes:
        stage = leading_stage(scope)
        rows = [row_of[r] for r in scope.ranks]
        alike = set(same_role(matrix, roles(seen.tables), scope.ranks)).difference(rows)
        others = [r for r in on_time if r in alike] or on_time
        if stage is None:
            continue
        one = gain(seen.sync, rows, others, stage, scope.id) if seen.sync is not None else None
        if one is None and seen.sync is None:
            one = gain_from_steps(matrix, rows, others, stage, scope.id)
        found.extend([one] if one else [])
    return found


def _extras(seen: View, gains: tuple[Recoverable, ...]) -> Extras:
    matrix, late = seen.matrix, seen.lateness
    if matrix is None or late is None:
        rows = () if seen.rows is None else tuple(_plain_row(seen.rows, i) for i in range(len(seen.rows.ranks)))
        return Extras(rows=rows, step_ms=say.mean_step_ms(seen))
    wait = None if matrix.wait is None else matrix.wait.mean(axis=1)
    moved = transfer_view(matrix)
    heat_ranks, heat_steps, heat = _heat(matrix, late.late_ms)
    return Extras(
        rows=tuple(_row(matrix, late, wait, i) for i in range(min(len(matrix.ranks), 4096))),
        heat_ranks=heat_ranks,
        heat_steps=heat_steps,
        heat_ms=heat,
        step_ms=say.mean_step_ms(seen),
        arrival_skew_ms=float(np.mean(late.late_ms.max(axis=0) - late.late_ms.min(axis=0))),
        transfer_ms=None if moved is None else moved.mean_ms,
        recoverable=gains,
    )


def _plain_row(rows: RowsView, i: int) -> RankRow:
    return RankRow(rows.ranks[i], {n: round(float(v[i].mean()), 3) for n, v in rows.stages.items()}, None, None, None)


def _row(matrix: StepMatrix, late: Lateness, wait: Floats | None, i: int) -> RankRow:
    names = [n for n in stage_names(matrix) if n != "compute" or not all(p in matrix.stages for p in COMPUTE_PARTS)]
    names.sort(key=STAGES.index)
    return RankRow(
        matrix.ranks[i],
        {n: round(float(stage_values(matrix, n)[i].mean()), 3) for n in names},
        round(float(matrix.own[i].mean()), 3),
        round(float(late.late_ms[i].mean()), 3),
        None if wait is None else round(float(wait[i]), 3),
    )


def _heat(
    matrix: StepMatrix, late_ms: Floats
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[float | None, ...], ...]]:
    """Lateness, ranks x steps, binned by the largest value so that one bad rank is never averaged away."""
    ranks, steps = np.array(matrix.ranks), matrix.steps
    cells, ranks = _bin(late_ms, ranks, HEAT_RANKS)
    cells, steps = _bin(cells.T, steps, HEAT_STEPS)
    table = tuple(tuple(round(float(v), 3) for v in row) for row in cells.T)
    return tuple(int(r) for r in ranks), tuple(int(s) for s in steps), table


def _bin(values: Floats, labels: Ints, most: int) -> tuple[Floats, Ints]:
    if len(labels) <= most:
        return values, labels
    edges = np.linspace(0, len(labels), most + 1).astype(int)[:-1]
    return np.maximum.reduceat(values, edges, axis=0), labels[edges]
