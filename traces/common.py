"""Time that all ranks lose together: transfer, and stages that are long on every rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..knowledge.facts import Fact, fact
from ..knowledge.thresholds import threshold
from .lateness import known_step, sampling
from .matrix import StepMatrix
from .rows import RowsView

COMMON = "common"


@dataclass(frozen=True, slots=True)
class Transfer:
    """Post-arrival time per step, ms."""

    mean_ms: float
    low_ms: float
    high_ms: float
    share: float
    wait_ms: float
    steady: bool | None
    excess: bool


def transfer_view(matrix: StepMatrix) -> Transfer | None:
    """Transfer of the matrix, against the largest mean wait and the step."""
    if matrix.transfer is None or not np.isfinite(matrix.transfer).any():
        return None
    values = matrix.transfer[np.isfinite(matrix.transfer)]
    mean, step = float(values.mean()), known_step(matrix)
    wait = 0.0 if matrix.wait is None else float(matrix.wait.mean(axis=1).max())
    low, high = (float(v) for v in np.percentile(values, [10, 90]))
    low, high = low - matrix.transfer_half_ms, high + matrix.transfer_half_ms
    steady = bool(high - low <= 0.5 * float(np.median(values))) if len(values) >= 3 else None
    share = mean / step if step else 0.0
    measured = matrix.step is not None
    return Transfer(mean, low, high, share, wait, steady, measured and share > threshold("transfer_half_step"))


def common_facts(
    matrix: StepMatrix | None,
    rows: RowsView | None,
    ranks: tuple[int, ...],
    solo: Mapping[str, tuple[float, float]],
    steps: int,
) -> list[Fact]:
    """transfer and common_stage facts, and the common scope where one of them is a loss."""
    found: list[Fact] = []
    losses: list[tuple[float, float]] = []
    moved = None if matrix is None else transfer_view(matrix)
    if moved is not None:
        found.append(_transfer_fact(moved))
        losses.extend([(moved.mean_ms, moved.share)] if moved.excess else [])
    for stage, (share, value) in {**solo, **_uniform(matrix, rows)}.items():
        if stage == "input_wait" and share >= threshold("common_input_share"):
            found.append(fact("common_stage", {"scope": COMMON, "stage": stage, "share": share, "value_ms": value}))
            losses.append((value, share))
    if losses:
        found.append(_common_scope(ranks, max(losses), steps))
    return found


def _transfer_fact(moved: Transfer) -> Fact:
    short = moved.mean_ms < threshold("transfer_short") * moved.wait_ms
    size = "dominant" if moved.excess else "short" if short else "comparable"
    return fact(
        "transfer",
        {
            "transfer_ms": moved.mean_ms,
            "low_ms": moved.low_ms,
            "high_ms": moved.high_ms,
            "share": moved.share,
            "wait_ms": moved.wait_ms,
            "size": size,
            "steady": moved.steady,
            "reference": "half_step" if moved.excess else "none",
            "excess": moved.excess,
        },
    )


def _uniform(matrix: StepMatrix | None, rows: RowsView | None) -> dict[str, tuple[float, float]]:
    """{stage: (smallest share of the step over ranks, median ms)}."""
    if matrix is not None:
        stages, step = matrix.stages, known_step(matrix)
    elif rows is not None and len(rows.stages) > 1:
        stages = rows.stages
        step = float(sum(v.mean() for v in stages.values()))
    else:
        return {}
    if not step:
        return {}
    return {n: (float(v.mean(axis=1).min()) / step, float(np.median(v.mean(axis=1)))) for n, v in stages.items()}


def _common_scope(ranks: tuple[int, ...], loss: tuple[float, float], steps: int) -> Fact:
    level = sampling(steps, len(ranks), summary=steps == 0)
    from .statements import rank_text

    return fact(
        "scope",
        {
            "scope": COMMON,
            "kind": "common",
            "ranks": rank_text(ranks),
            "lateness_ms": 0.0,
            "loss_ms": loss[0],
            "loss_share": loss[1],
            "pattern": "summary" if level == "summary" else "persistent",
            "late_steps": steps,
            "steps": steps,
            "noise_ms": None,
            "sampling": level,
            "split": "clear",
            "excess_in": "stage",
        },
    )
