"""What the batches of the late ranks have that the others' have not (L09, L18, L23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..knowledge.facts import Fact, fact
from ..knowledge.thresholds import threshold
from .matrix import StepMatrix
from .scopes import LateScope
from .tables import BatchTable, Ints, Tables

PROPERTIES = ("samples", "tokens", "padded_tokens", "max_len")


def batch_facts(tables: Tables, matrix: StepMatrix | None, scopes: Sequence[LateScope]) -> list[Fact]:
    """batch_contrast and source_contrast facts of every late scope."""
    table = tables.batches
    if table is None or matrix is None:
        return []
    found: list[Fact] = []
    for scope in scopes:
        steps = set(scope.late_steps) if scope.pattern == "intermittent" else None
        late = _rows(table, scope.ranks, steps)
        others = _rows(table, tuple(r for r in matrix.ranks if r not in scope.ranks), steps)
        found.extend(f for p in PROPERTIES for f in _contrast(scope.id, p, getattr(table, p), late, others))
        found.extend(_sources(scope.id, table, late, others))
    return found


def _rows(table: BatchTable, ranks: tuple[int, ...], steps: set[int] | None) -> Ints:
    use = np.isin(table.rank, ranks)
    if steps is not None and -1 not in steps:
        use &= np.isin(table.step, sorted(steps))
    return np.flatnonzero(use)


def _contrast(scope: str, name: str, values: Ints, late: Ints, others: Ints) -> list[Fact]:
    mine, theirs = values[late], values[others]
    mine, theirs = mine[mine >= 0], theirs[theirs >= 0]
    if not len(mine) or not len(theirs) or theirs.mean() <= 0:
        return []
    ratio = float(mine.mean() / theirs.mean())
    limit = threshold("batch_ratio")
    differs = not 1 / limit <= ratio <= limit
    contrast = {
        "scope": scope,
        "property": name,
        "late": float(mine.mean()),
        "on_time": float(theirs.mean()),
        "ratio": ratio,
        "differs": differs,
    }
    return [fact("batch_contrast", contrast)]


def _sources(scope: str, table: BatchTable, late: Ints, others: Ints) -> list[Fact]:
    mine, theirs = (_labels(table, rows) for rows in (late, others))
    if not mine or not theirs or set(mine) & set(theirs):
        return []
    labels = {"late": _label(mine), "on_time": _label(theirs)}
    return [fact("source_contrast", {"scope": scope, **labels})]


def _labels(table: BatchTable, rows: Ints) -> Counter[str]:
    return Counter(str(table.sources[i]) for i in table.source[rows].tolist() if i >= 0)


def _label(counts: Counter[str]) -> str:
    return ", ".join(name for name, _ in counts.most_common(3))
