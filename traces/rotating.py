"""Ranks that take turns at being late, since their work varies from step to step (sequence lengths, routed tokens).

What tells it from one bad rank is that no rank is last in half of the steps; what tells it from noise is that a
stage varies within each rank and covers the lateness of whoever is last (methods.md 1.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..knowledge.facts import Fact, fact
from ..knowledge.thresholds import threshold
from .attribute import stage_names, stage_values
from .lateness import known_step, sampling
from .matrix import StepMatrix
from .scopes import LateScope
from .tables import BatchTable, Floats, Ints

SCOPE = "rotating"


@dataclass(frozen=True, slots=True)
class Turns:
    """Mean lateness of the last rank (ms), the varying stage, its variation, and the largest share of last places."""

    loss_ms: float
    stage: str
    cv: float
    top_share: float


def take_turns(matrix: StepMatrix, scopes: tuple[LateScope, ...], batches: BatchTable | None) -> Turns | None:
    """The rotating lateness of a job in which no rank stands out; None where there is none, or too few steps."""
    step_ms = known_step(matrix)
    if scopes or step_ms is None or len(matrix.steps) < threshold("sufficient_steps_rare") or len(matrix.ranks) < 2:
        return None
    last = matrix.own.argmax(axis=0)
    behind = matrix.own.max(axis=0) - np.median(matrix.own, axis=0)
    top_share = float(np.bincount(last, minlength=len(matrix.ranks)).max()) / len(last)
    if float(behind.mean()) < threshold("rotating_loss_share") * step_ms or top_share >= threshold("late_steps_share"):
        return None
    stage = _varying_stage(matrix, last, behind)
    if stage is None or not _backed(matrix, stage, batches):
        return None
    return Turns(float(behind.mean()), stage, variation(stage_values(matrix, stage)), top_share)


def variation(values: Floats) -> float:
    """Coefficient of variation over steps within a rank, median over ranks."""
    mean = values.mean(axis=1)
    return float(np.median(values.std(axis=1) / np.maximum(mean, 1e-9)))


def _varying_stage(matrix: StepMatrix, last: Ints, behind: Floats) -> str | None:
    """The stage that varies within ranks and covers most of the lateness of the last one, largest cover first."""
    steps = np.arange(len(last))
    found: list[tuple[float, str]] = []
    for stage in stage_names(matrix):
        values = stage_values(matrix, stage)
        excess = values[last, steps] - np.median(values, axis=0)
        cover = float(excess.mean() / behind.mean())
        if cover >= threshold("coverage_large") and variation(values) >= threshold("variation_cv"):
            found.append((cover, stage))
    return max(found)[1] if found else None


def _backed(matrix: StepMatrix, stage: str, batches: BatchTable | None) -> bool:
    """Whether the variation is of the work: it follows the tokens where they are known; else ranks must be many."""
    if batches is None:
        return len(matrix.ranks) >= threshold("z_ranks")
    values = stage_values(matrix, stage)
    best = 0.0
    for tokens in (batches.tokens, batches.padded_tokens, batches.max_len):
        seen = np.full(values.shape, np.nan)
        rows = {r: i for i, r in enumerate(matrix.ranks)}
        columns = {n: k for k, n in enumerate(matrix.steps.tolist())}
        for rank, step, count in zip(batches.rank.tolist(), batches.step.tolist(), tokens.tolist(), strict=True):
            if count >= 0 and rank in rows and step in columns:
                seen[rows[rank], columns[step]] = count
        known = np.isfinite(seen)
        if known.sum() >= 10 and np.std(seen[known]) > 0:
            best = max(best, float(np.corrcoef(seen[known], values[known])[0, 1]))
    return best >= threshold("coverage_large")


def turn_facts(matrix: StepMatrix, turns: Turns, ranks_text: str) -> list[Fact]:
    """scope and variation."""
    step_ms = known_step(matrix) or 0.0
    steps = len(matrix.steps)
    scope = {
        "scope": SCOPE,
        "kind": "rotating",
        "ranks": ranks_text,
        "lateness_ms": turns.loss_ms,
        "loss_ms": turns.loss_ms,
        "loss_share": turns.loss_ms / step_ms if step_ms else 0.0,
        "pattern": "persistent",
        "late_steps": steps,
        "steps": steps,
        "sampling": sampling(steps, len(matrix.ranks), summary=False, rare=True),
        "split": "clear",
        "excess_in": matrix.basis,
    }
    varies = {"scope": SCOPE, "stage": turns.stage, "cv": turns.cv, "top_share": turns.top_share}
    return [fact("scope", scope), fact("variation", varies)]
