"""What tables without times of steps still show: unequal work, unequal pipeline stages, slow pairs, odd devices.

Each finding is a fact, with the scope it speaks of. None of them is a measured lateness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..knowledge.facts import Fact, Scalar, fact
from ..knowledge.thresholds import threshold
from .roles import roles
from .rows import BEFORE_SYNC, grid
from .statements import rank_text
from .tables import BatchTable, Reading, StepTable, Tables

if TYPE_CHECKING:
    from .measure import View

WORK = ("padded_tokens", "tokens", "max_len")
"""Counts that are work, the nearest to it first; samples are not (L23)."""
WORSE = {"clock_mhz": "low", "power_w": "low", "pcie_generation": "low", "pcie_width": "low", "temperature_c": "high"}
"""Which end of a reading is the suspicious one."""


def reading_contrasts(seen: View) -> list[Fact]:
    """unexplained, work_contrast, stage_contrast, pair_contrast and device_contrast, with their scopes."""
    tables, found = seen.tables, list[Fact]()
    if tables.steps is not None and tables.spans is None and tables.steps.columns:
        found += _unexplained(tables.steps)
        found += [] if seen.scopes else _stages(tables, tables.steps)
    if tables.batches is not None and tables.steps is None and tables.collectives is None:
        found += _work(tables.batches)
    return [*found, *_pairs(tables.readings), *_devices(tables.readings)]


def told_scope(ranks: Sequence[int], **values: Scalar) -> Fact:
    """A scope of ranks that stand out by something else than time."""
    kind = "rank" if len(ranks) == 1 else "set"
    told: dict[str, Scalar] = {
        "scope": f"{kind}:{','.join(map(str, ranks))}",
        "kind": kind,
        "ranks": rank_text(ranks),
        "lateness_ms": 0.0,
        "loss_ms": 0.0,
        "loss_share": 0.0,
        "pattern": "told",
        "late_steps": 0,
        "steps": 0,
        "sampling": "told",
        "split": "clear",
        "excess_in": "stage",
    }
    return fact("scope", {**told, **values})


def _unexplained(table: StepTable) -> list[Fact]:
    """Stages that were timed beside the step and explain less than half of it on every rank."""
    _, _, columns = grid(table)
    step = columns.get("step")
    stages = [n for n in (*BEFORE_SYNC, "communication", "wait") if n in columns]
    if step is None or not stages:
        return []
    total = sum((np.nan_to_num(columns[n]) for n in stages), np.zeros_like(step))
    known = np.nansum(step, axis=1) > 0
    shares = np.nansum(total, axis=1)[known] / np.nansum(step, axis=1)[known]
    share = float(np.nanmax(shares)) if len(shares) else 1.0
    if share >= threshold("coverage_large"):
        return []
    told = {"share": share, "step_ms": float(np.nanmean(step)), "stages": ", ".join(stages).replace("_", " ")}
    return [fact("unexplained", told)]


def _work(table: BatchTable) -> list[Fact]:
    """The ranks with the most work, where no times were given."""
    for name in WORK:
        values: Mapping[int, float] = _means(table, name)
        if len(values) < 2:
            continue
        most = max(values.values())
        late = tuple(r for r, v in values.items() if v >= most * (1 - threshold("loss_share")))
        rest = float(np.median([v for r, v in values.items() if r not in late] or [most]))
        ratio = most / max(rest, 1.0)
        if ratio < threshold("batch_ratio"):
            return []
        scope = told_scope(late, split="even" if 2 * len(late) == len(values) else "clear")
        contrast = {"scope": scope["scope"], "property": name, "ranks": scope["ranks"], "most": most, "rest": rest}
        return [scope, fact("work_contrast", {**contrast, "ratio": ratio})]
    return []


def _means(table: BatchTable, name: str) -> dict[int, float]:
    values = getattr(table, name)
    ranks = np.unique(table.rank[values >= 0])
    return {int(r): float(values[(table.rank == r) & (values >= 0)].mean()) for r in ranks}


def _stages(tables: Tables, table: StepTable) -> list[Fact]:
    """Ranks of different pipeline stages whose compute differs: nobody is late, one stage is longer."""
    role, (ranks, _, columns) = roles(tables), grid(table)
    parts = [n for n in ("compute", "forward", "backward") if n in columns]
    if len({role.get(r) for r in ranks}) < 2 or any(r not in role for r in ranks) or not parts:
        return []
    used = parts[:1] if parts[0] == "compute" else parts
    own = sum((np.nanmean(columns[n], axis=1) for n in used), np.zeros(len(ranks)))
    longest = float(np.max(own))
    late = tuple(r for r, v in zip(ranks, own, strict=True) if v >= longest * (1 - threshold("loss_share")))
    rest = [float(v) for r, v in zip(ranks, own, strict=True) if r not in late]
    if not rest or longest < float(np.median(rest)) * (1 + threshold("loss_share_noise_unknown")):
        return []
    more = longest - float(np.median(rest))
    share = more / longest
    scope = told_scope(late, lateness_ms=more, loss_ms=more, loss_share=share, pattern="summary", sampling="summary")
    contrast = {"scope": scope["scope"], "of": "job", "ranks": scope["ranks"], "ratio": longest / (longest - more)}
    return [scope, fact("stage_contrast", {**contrast, "long_ms": longest, "others_ms": longest - more})]


def _pairs(readings: Sequence[Reading]) -> list[Fact]:
    """The one end that all slow pairs share, and no fast one."""
    pairs = {r.ranks: r.value for r in readings if r.name == "bandwidth_gbs" and len(r.ranks) == 2 and r.value > 0}
    if len(pairs) < 3:
        return []
    limit = max(pairs.values()) / threshold("batch_ratio")
    slow = [set(p) for p, v in pairs.items() if v < limit]
    fast = [set(p) for p, v in pairs.items() if v >= limit]
    shared = set.intersection(*slow) - set.union(*fast) if len(slow) > 1 and fast else set[int]()
    if len(shared) != 1:
        return []
    scope = told_scope(tuple(shared))
    low = float(np.median([v for v in pairs.values() if v < limit]))
    high = float(np.median([v for v in pairs.values() if v >= limit]))
    contrast = {"scope": scope["scope"], "ranks": scope["ranks"], "slow_gbs": low, "others_gbs": high}
    return [scope, fact("pair_contrast", {**contrast, "ratio": high / low})]


def _devices(readings: Sequence[Reading]) -> Iterator[Fact]:
    """Readings of one device that stand apart from its peers', on the suspicious side."""
    scopes: dict[str, Fact] = {}
    for name, side in WORSE.items():
        values = {r.ranks[0]: r.value for r in readings if r.name == name and len(r.ranks) == 1 and r.value > 0}
        if len(values) < 2:
            continue
        worst = (min if side == "low" else max)(values, key=lambda r: (values[r], r))
        others = float(np.median([v for r, v in values.items() if r != worst]))
        apart = others / values[worst] if side == "low" else values[worst] / others
        if apart < 1 + threshold("loss_share"):
            continue
        scope = told_scope((worst,))
        scopes.setdefault(str(scope["scope"]), scope)
        told = {"scope": scope["scope"], "of": "job", "ranks": scope["ranks"], "property": name}
        yield fact("device_contrast", {**told, "value": values[worst], "others": others})
    yield from scopes.values()
