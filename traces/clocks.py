"""States clocks: offsets, ranks that are last by inheritance, and the order in which collectives end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..knowledge.facts import Fact, fact
from .common import transfer_view
from .statements import rank_text
from .tables import Floats

if TYPE_CHECKING:
    from .measure import View


def clock_facts(seen: View) -> list[Fact]:
    """clock, clock_offset and slow_link."""
    if seen.pairing is None:
        method = "stated" if seen.matrix is not None and seen.matrix.basis == "arrival" else "none"
        return [fact("clock", {"state": "not_needed", "method": method})] if seen.matrix is not None else []
    if not seen.pairing.paired:
        return [fact("clock", {"state": "not_identifiable", "method": "none"})]
    claimed = [o for o in seen.alignment.offsets if o.claimed]
    state = "aligned" if claimed else "not_needed"
    method = "collective_ends" if claimed else "durations"
    found = [fact("clock", {"state": state, "method": method, "bar_ms": seen.alignment.bar_ms})]
    found.extend(
        fact("clock_offset", {"rank": o.rank, "offset_ms": o.offset_ms, "uncertainty_ms": o.uncertainty_ms})
        for o in claimed
    )
    return [*found, *_slow_link(seen)]


def _slow_link(seen: View) -> list[Fact]:
    """A consistent order of ends beside a long transfer: one endpoint's link may be the slow one."""
    matrix, table, pairing = seen.matrix, seen.tables.collectives, seen.pairing
    moved = None if matrix is None else transfer_view(matrix)
    if moved is None or not moved.excess or table is None or pairing is None or (pairing.index < 0).any():
        return []
    offsets = np.array([o.offset_ms if o.claimed else 0.0 for o in seen.alignment.offsets] or [0.0])
    end = table.end_us[pairing.index] / 1000.0 - offsets[:, None]
    spread = end.max(axis=0) - end.min(axis=0)
    last = np.bincount(end.argmax(axis=0), minlength=len(pairing.ranks)) / end.shape[1]
    if last.max() < 0.75 or float(np.median(spread)) < 0.1 * moved.mean_ms:
        return []
    return [fact("slow_link", {"ranks": rank_text(pairing.ranks), "end_spread_ms": float(np.median(spread))})]


def inherited_facts(seen: View) -> list[Fact]:
    """Ranks that are often last only since their previous collective ended later."""
    matrix, table, pairing, late = seen.matrix, seen.tables.collectives, seen.pairing, seen.lateness
    if matrix is None or late is None or table is None or pairing is None or not pairing.paired:
        return []
    if (pairing.index < 0).any():
        return []
    offsets = np.array([o.offset_ms if o.claimed else 0.0 for o in seen.alignment.offsets] or [0.0])
    step = table.step[pairing.index[0]]
    lasts: list[int] = []
    early: list[Floats] = []
    for n in matrix.steps:
        mine = np.flatnonzero(step == n)
        if len(mine) == 0 or mine[0] == 0:
            continue
        arrive = table.arrival_us[pairing.index[:, mine[-1]]] / 1000.0 - offsets
        before = table.end_us[pairing.index[:, mine[0] - 1]] / 1000.0 - offsets
        lasts.append(int(arrive.argmax()))
        early.append(before - np.median(before))
    return [f for i in range(len(pairing.ranks)) for f in _inherited(seen, i, lasts, np.array(early))]


def _inherited(seen: View, i: int, lasts: list[int], early: Floats) -> list[Fact]:
    assert seen.pairing is not None and seen.lateness is not None
    rank = seen.pairing.ranks[i]
    if any(rank in s.ranks for s in seen.scopes) or not lasts or lasts.count(i) < 0.5 * len(lasts):
        return []
    head_start = float(np.median(early[:, i]))
    own = float(np.median(seen.lateness.late_ms[seen.lateness.ranks.index(rank)]))
    if head_start < max(1.0, 2.0 * abs(own)):
        return []
    return [
        fact(
            "inherited",
            {
                "rank": rank,
                "last_steps": lasts.count(i),
                "steps": len(lasts),
                "inherited_ms": head_start,
                "own_excess_ms": own,
            },
        )
    ]
