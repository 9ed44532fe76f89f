"""Typed tables -> ranks x steps. Decides on what lateness can be measured, and says when it cannot.

In order: arrivals; time waited or time in communication (the late rank waits least); the sum of the stages
before the collective. A phase that contains the collective is equalised by it (293/292/293/293 ms): it is
left out of that sum, and a table that has nothing else cannot show who was late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .matrix import Basis, StepMatrix
from .tables import SUMMARY, Bools, Floats, Ints, StepTable

BEFORE_SYNC = ("input_wait", "forward", "backward", "compute", "host", "optimizer")
ALIKE = 0.05
"""Phases within 5 % of each other are alike: below it a straggler would not be reported anyway (loss share)."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsView:
    """`matrix` is None where the table cannot show lateness. `equalised` maps a stage to (value, spread) ms."""

    matrix: StepMatrix | None
    stages: Mapping[str, Floats]
    ranks: tuple[int, ...]
    steps: Ints
    equalised: Mapping[str, tuple[float, float]]


def grid(table: StepTable) -> tuple[tuple[int, ...], Ints, dict[str, Floats]]:
    """Columns as (ranks, steps) matrices, ms. Summary rows are used only where no step rows exist."""
    use = table.step != SUMMARY
    if not use.any():
        use = np.ones(len(table.step), dtype=bool)
    rank, step = table.rank[use], table.step[use]
    ranks, steps = np.unique(rank), np.unique(step)
    at = (np.searchsorted(ranks, rank), np.searchsorted(steps, step))
    columns: dict[str, Floats] = {}
    for name, values in table.columns.items():
        cells = np.full((len(ranks), len(steps)), np.nan)
        cells[at] = values[use]
        if np.isfinite(cells).any():
            columns[name.removesuffix("_ms")] = cells
    return tuple(int(r) for r in ranks), steps, columns


def view_rows(table: StepTable) -> RowsView:
    """The table as a matrix of lateness, where it allows one."""
    ranks, steps, columns = grid(table)
    complete = _complete_steps(columns)
    columns = {name: values[:, complete] for name, values in columns.items()}
    steps = steps[complete]
    stages = {n: columns[n] for n in BEFORE_SYNC if n in columns and np.isfinite(columns[n]).all()}
    equal = _equalised(columns, stages) if len(ranks) > 1 else {}
    own, basis, wait, transfer = _own(columns, {n: v for n, v in stages.items() if n not in equal}, bool(equal))
    if own is None:
        return RowsView(None, stages, ranks, steps, equal)
    step = columns.get("step")
    matrix = StepMatrix(
        ranks, steps, own, {n: v for n, v in stages.items() if n not in equal}, None, wait, transfer,
        None if step is None or not np.isfinite(step).all() else step.mean(axis=0),
        basis, bool(steps[0] == SUMMARY), _noise_hint(table),
        transfer_half_ms=_half_range(table, "transfer_ms"),
        relative="step" not in columns and _from_elsewhere(columns, basis, equal),
    )  # fmt: skip
    return RowsView(matrix, stages, ranks, steps, {} if basis != "stage" else equal)


def _from_elsewhere(columns: Mapping[str, Floats], basis: Basis, equalised: Mapping[str, object]) -> bool:
    """Whether `own` leaves out parts of the step, so that it does not tell the step's length."""
    if basis == "arrival":
        return "arrival" not in columns
    return bool(equalised) or sum(name in columns for name in BEFORE_SYNC) < 2


def _complete_steps(columns: Mapping[str, Floats]) -> Bools:
    """Steps in which every rank has each column that is known for at least half of all cells."""
    dense = [v for v in columns.values() if np.isfinite(v).mean() >= 0.5]
    if not dense:
        return np.zeros(next(iter(columns.values())).shape[1] if columns else 0, dtype=bool)
    good = np.all([np.isfinite(v).all(axis=0) for v in dense], axis=0)
    return good if good.any() else np.ones(len(good), dtype=bool)


def _half_range(table: StepTable, name: str) -> float:
    widths = table.half_range_ms.get(name)
    return float(np.nanmax(widths)) if widths is not None and np.isfinite(widths).any() else 0.0


def _noise_hint(table: StepTable) -> float | None:
    """Half of the widest typed range: what one step may differ from the figure that was given."""
    ranges = {n: w for n, w in table.half_range_ms.items() if n != "transfer_ms"}
    widths = [np.nanmax(w) for w in ranges.values() if len(w) and np.isfinite(w).any()]
    return float(max(widths)) if widths else None


def _spread(values: Floats) -> tuple[float, float]:
    mean = values.mean(axis=1)
    return float(np.median(mean)), float(mean.max() - mean.min())


def _equalised(columns: Mapping[str, Floats], stages: Mapping[str, Floats]) -> dict[str, tuple[float, float]]:
    """Phases that a collective inside them has made alike or that make up for another phase's difference."""
    if "arrival" in columns or "wait" in columns:
        return {}
    found: dict[str, tuple[float, float]] = {}
    total = sum(stages.values(), np.zeros_like(next(iter(stages.values())))) if stages else None
    for name in ("backward", "compute"):
        if name not in stages:
            continue
        value, spread = _spread(stages[name])
        rest = None if total is None else total - stages[name]
        if rest is None or value <= 0:
            continue
        rest_value, rest_spread = _spread(rest)
        balanced = _spread(total)[1] <= ALIKE * _spread(total)[0] if total is not None else False
        compensates = balanced and rest_spread > ALIKE * (rest_value + value) and spread > 0.5 * rest_spread
        alone = name == "backward" and set(stages) <= {"backward"} and spread <= ALIKE * value
        if compensates or alone:
            found[name] = (value, spread)
    return found


def _own(
    columns: Mapping[str, Floats], before: Mapping[str, Floats], equalised: bool
) -> tuple[Floats | None, Basis, Floats | None, Floats | None]:
    transfer = columns.get("transfer")
    given = None if transfer is None or not np.isfinite(transfer).any() else np.nanmedian(transfer, axis=0)
    if "arrival" in columns and np.isfinite(columns["arrival"]).all():
        own = columns["arrival"]
        return own, "arrival", own.max(axis=0) - own, given
    for name in ("wait", "communication"):
        if name in columns and np.isfinite(columns[name]).all() and len(columns[name]) > 1:
            still = columns[name]
            least = still.min(axis=0)
            moved = given if given is not None or name == "wait" else least
            return still.max(axis=0) - still, "arrival", still - least, moved
    if not before or (equalised and set(before) <= {"optimizer"}):
        return None, "stage", None, given
    own = sum(before.values(), np.zeros_like(next(iter(before.values()))))
    return own, "stage", own.max(axis=0) - own, given
