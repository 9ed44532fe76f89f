"""Pair the collectives of all ranks (DESIGN section 3, order of trust 1).

By (member set, sequence number) where every call has one; else by launch order within the group, shifted so
that windows that open late do not move everything: operations, types and sizes must agree over the overlap,
and the collective's ends must agree best. Never by position from the first event, never by record id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Literal

import numpy as np

from ..knowledge.thresholds import threshold
from .tables import CollectiveTable, Floats, Ints, Note

Method = Literal["sequence", "launch_order", "none"]
MAX_SHIFT = 1024
"""Largest difference in launch position that is tried; a profiler window holds fewer calls of a group."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """`index[r, k]`: row of CollectiveTable for ranks[r] in matched collective k, -1 where absent.

    `groups[k]` is the group index. Columns are in launch order. `refused` says why nothing is paired.
    """

    ranks: tuple[int, ...]
    index: Ints
    group: Ints
    method: Method
    paired: int
    unpaired: int
    refused: str = ""
    notes: tuple[Note, ...] = ()


def pair(table: CollectiveTable, ranks: tuple[int, ...], step_us: float) -> Pairing:
    """Pair every group's calls. `step_us` is the median step, the scale on which ends must agree."""
    blocks: list[Ints] = []
    groups: list[int] = []
    methods: set[Method] = set()
    unpaired, refused = 0, ""
    lined_up, possible = 0, 0
    place = {r: position for position, r in enumerate(ranks)}
    for group, rows in _rows_by_group(table, place):
        if len(rows) < 2:
            continue
        block, method, why = _pair_group(table, rows, step_us)
        total = sum(len(r) for r in rows.values())
        possible += min(len(r) for r in rows.values())
        if block is None:
            refused = refused or why
            unpaired += total
            continue
        lined_up += block.shape[1]
        block = block[:, np.isfinite(table.end_us[block]).all(axis=0)]  # a call that never ended has no duration
        full = np.full((len(ranks), block.shape[1]), -1, dtype=np.int64)
        full[[place[r] for r in rows]] = block
        methods.add(method)
        blocks.append(full)
        groups.extend([group] * block.shape[1])
        unpaired += total - int((block >= 0).sum())
    if not blocks:
        empty = np.empty((len(ranks), 0), dtype=np.int64)
        return Pairing(ranks, empty, np.empty(0, dtype=np.int64), "none", 0, unpaired, refused)
    if lined_up < threshold("pair_share") * possible:
        empty = np.empty((len(ranks), 0), dtype=np.int64)
        total = int(np.isin(table.rank, ranks).sum())
        return Pairing(ranks, empty, np.empty(0, dtype=np.int64), "none", 0, total, "most calls have no partner")
    index, group_of = np.concatenate(blocks, axis=1), np.array(groups, dtype=np.int64)
    order = np.argsort(_first_known(table.arrival_us, index), kind="stable")
    method = "launch_order" if "launch_order" in methods else "sequence"
    return Pairing(ranks, index[:, order], group_of[order], method, index.shape[1], unpaired, refused)


def _rows_by_group(table: CollectiveTable, place: Mapping[int, int]) -> Iterator[tuple[int, dict[int, Ints]]]:
    """Each group with the rows of each rank that has some, ranks in the order of `place`, rows in that of the table."""
    order = np.lexsort((table.rank, table.group))
    groups, ranks = table.group[order], table.rank[order]
    starts = np.flatnonzero((np.diff(groups, prepend=-1) != 0) | (np.diff(ranks, prepend=-1) != 0))
    cut = sorted(
        (int(groups[start]), place[int(ranks[start])], int(ranks[start]), order[start:stop])
        for start, stop in pairwise([*starts.tolist(), len(order)])
        if int(ranks[start]) in place
    )
    for group, parts in groupby(cut, key=itemgetter(0)):
        yield group, {rank: rows for _, _, rank, rows in parts}


def _first_known(values: Floats, index: Ints) -> Floats:
    known = np.where(index >= 0, values[index], np.nan)
    row = np.argmax(index >= 0, axis=0)
    return known[row, np.arange(index.shape[1])]


def _pair_group(table: CollectiveTable, rows: dict[int, Ints], step_us: float) -> tuple[Ints | None, Method, str]:
    if all((table.sequence[r] >= 0).all() and len(np.unique(table.sequence[r])) == len(r) for r in rows.values()):
        return _by_sequence(table, rows), "sequence", ""
    return _by_launch_order(table, rows, step_us)


def _by_sequence(table: CollectiveTable, rows: dict[int, Ints]) -> Ints:
    common = sorted(set.intersection(*(set(table.sequence[r].tolist()) for r in rows.values())))
    lookup = [dict(zip(table.sequence[r].tolist(), r.tolist(), strict=True)) for r in rows.values()]
    return np.array([[one[s] for s in common] for one in lookup], dtype=np.int64).reshape(len(rows), len(common))


def _by_launch_order(table: CollectiveTable, rows: dict[int, Ints], step_us: float) -> tuple[Ints | None, Method, str]:
    ordered = list(rows.values())
    base = max(ordered, key=len)
    shifts: list[int] = []
    for other in ordered:
        found = 0 if other is base else _best_shift(table, base, other, step_us)
        if found is None:
            ranks = [int(table.rank[base[0]]), int(table.rank[other[0]])]
            return None, "none", f"the collectives of ranks {ranks[0]} and {ranks[1]} do not line up"
        shifts.append(found)
    start = max(shifts)
    stop = min(shift + len(r) for shift, r in zip(shifts, ordered, strict=True))
    if stop <= start:
        return None, "none", "the recorded windows do not overlap"
    block = [r[start - shift : stop - shift] for shift, r in zip(shifts, ordered, strict=True)]
    return np.array(block, dtype=np.int64), "launch_order", ""


def _best_shift(table: CollectiveTable, base: Ints, other: Ints, step_us: float) -> int | None:
    """Position in `base` of the first call of `other`. None where no position fits."""
    anything = np.array([label == "" for label in table.dtypes] or [True])[table.dtype]
    candidates: list[tuple[float, float, int]] = []
    reach = min(MAX_SHIFT, len(base) + len(other))
    for shift in range(-min(reach, len(other) - 1), min(reach, len(base) - 1) + 1):
        a, b = _overlap(base, other, shift)
        if len(a) < max(1, min(len(base), len(other)) // 2):
            continue
        same = table.op[a] == table.op[b]
        same &= (table.dtype[a] == table.dtype[b]) | anything[a] | anything[b]
        same &= (table.bytes[a] == table.bytes[b]) | (table.bytes[a] < 0) | (table.bytes[b] < 0)
        if same.mean() < 0.95:
            continue
        gap = table.end_us[b] - table.end_us[a]
        gap = gap[np.isfinite(gap)]
        if 2 * len(gap) < len(a):
            continue
        centre = float(np.median(gap))
        spread = float(np.median(np.abs(gap - centre)))
        if spread <= _allowed_us(table, a, b, step_us):
            candidates.append((spread, abs(centre), shift))
    return _choose_shift(table, base, other, candidates, step_us)


def _allowed_us(table: CollectiveTable, a: Ints, b: Ints, step_us: float) -> float:
    """Ends of one collective differ by no more than its transfer, which the shorter duration bounds."""
    shorter = np.minimum(table.end_us[a] - table.arrival_us[a], table.end_us[b] - table.arrival_us[b])
    most = threshold("pair_end_agreement") * step_us
    return min(max(2.0 * float(np.nanmedian(shorter)), threshold("pair_end_floor") * step_us), most)


def _choose_shift(
    table: CollectiveTable, base: Ints, other: Ints, candidates: list[tuple[float, float, int]], step_us: float
) -> int | None:
    """Best end agreement; step numbers, then the smaller clock difference, where ends cannot tell."""
    if not candidates:
        return None
    best = min(spread for spread, _, _ in candidates)
    near = [c for c in candidates if c[0] <= min(max(2.0 * best, 0.1 * step_us), 4.0 * best + 0.001 * step_us)]
    by_step = [c for c in near if _same_steps(table, base, other, c[2])]
    if by_step:
        closest = min(spread for spread, _, _ in by_step)
        by_step = [c for c in by_step if c[0] <= 1.2 * closest]
    return min(by_step or near, key=lambda c: (c[1], c[0], c[2]))[2]


def _same_steps(table: CollectiveTable, base: Ints, other: Ints, shift: int) -> bool:
    a, b = _overlap(base, other, shift)
    known = (table.step[a] >= 0) & (table.step[b] >= 0)
    return bool(known.any()) and float((table.step[a][known] == table.step[b][known]).mean()) >= 0.9


def _overlap(base: Ints, other: Ints, shift: int) -> tuple[Ints, Ints]:
    start, stop = max(0, shift), min(len(base), shift + len(other))
    return base[start:stop], other[start - shift : max(stop - shift, 0)] if stop > start else other[:0]
