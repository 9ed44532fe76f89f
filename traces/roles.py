"""Comparable ranks: only ranks of the same role are compared (DESIGN section 2), here the same pipeline stage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .lateness import Lateness
from .matrix import StepMatrix
from .scopes import LateScope, Stray, find
from .tables import Tables


def roles(tables: Tables) -> dict[int, int]:
    """Pipeline stage of each rank whose trace tells it."""
    return {info.rank: info.pipeline_stage for info in tables.ranks if info.pipeline_stage is not None}


def same_role(matrix: StepMatrix, role: Mapping[int, int], ranks: tuple[int, ...]) -> list[int]:
    """Rows of the ranks that may be compared with the given ones."""
    wanted = {role.get(r) for r in ranks}
    return [i for i, r in enumerate(matrix.ranks) if role.get(r) in wanted]


def find_by_role(matrix: StepMatrix, role: Mapping[int, int]) -> tuple[Lateness, list[LateScope], list[Stray]]:
    """Late scopes within each role. A role with one rank has nobody to be compared with."""
    parts: dict[int | None, list[int]] = {}
    for row, rank in enumerate(matrix.ranks):
        parts.setdefault(role.get(rank), []).append(row)
    if len(parts) == 1:
        return find(matrix)
    late_ms, z = np.zeros_like(matrix.own), np.zeros(len(matrix.ranks))
    on_time: list[int] = []
    scopes: list[LateScope] = []
    strays: list[Stray] = []
    noises: list[float] = []
    mean_step_ms: float | None = None
    for rows in parts.values():
        late, found, single = find(matrix.only(rows))
        late_ms[rows], z[rows] = late.late_ms, late.z
        on_time.extend(late.on_time)
        scopes.extend(found)
        strays.extend(single)
        noises.extend([late.noise_ms] if late.noise_ms is not None else [])
        mean_step_ms = late.mean_step_ms
    noise = float(np.median(noises)) if noises else None
    whole = Lateness(matrix.ranks, tuple(sorted(on_time)), late_ms, noise, mean_step_ms, z)
    return whole, sorted(scopes, key=lambda s: (-s.loss_ms, s.ranks)), strays
