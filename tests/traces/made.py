"""Made-up jobs: ranks that work, meet in an all-reduce and go on, as tables on clocks of our choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from latecomer.traces.tables import STAGES, CollectiveTable, RankInfo, SpanTable, StepTable, Tables

MS = 1000.0


def meet(
    stages_ms: Mapping[str, np.ndarray],
    *,
    transfer_ms: float = 10.0,
    offsets_ms: Sequence[float] | None = None,
    skip_steps: Mapping[int, int] | None = None,
    exit_skew_ms: float = 0.0,
    seed: int = 0,
) -> Tables:
    """A data-parallel job with one all-reduce a step. `stages_ms[stage]` is (ranks, steps); whatever is not a
    stage of work is host time. `skip_steps[rank]`: how many first steps a rank did not record."""
    shape = next(iter(stages_ms.values())).shape
    ranks, steps = shape
    rng = np.random.default_rng(seed)
    offsets = np.zeros(ranks) if offsets_ms is None else np.array(offsets_ms)
    now = np.zeros(ranks)
    calls: list[tuple[int, int, float, float]] = []
    spans: list[tuple[int, int, float, float]] = []
    starts: list[tuple[int, int, float, float]] = []
    for n in range(steps):
        begin = now.copy()
        for stage, values in stages_ms.items():
            if stage != "host":
                spans.extend((r, STAGES.index(stage), now[r], now[r] + values[r, n]) for r in range(ranks))
            now = now + values[:, n]
        end = now.max() + transfer_ms + rng.uniform(0, exit_skew_ms, ranks)
        calls.extend((r, n, now[r], end[r]) for r in range(ranks))
        starts.extend((r, n, begin[r], end[r] - begin[r]) for r in range(ranks))
        now = end
    return _tables(calls, spans, starts, offsets, skip_steps or {}, ranks)


def _tables(
    calls: list[tuple[int, int, float, float]],
    spans: list[tuple[int, int, float, float]],
    starts: list[tuple[int, int, float, float]],
    offsets: np.ndarray,
    skip: Mapping[int, int],
    ranks: int,
) -> Tables:
    call = np.array([c for c in calls if c[1] >= skip.get(c[0], 0)])
    call = call[np.lexsort((call[:, 1], call[:, 0]))]
    first = {r: min(s[2] for s in starts if s[0] == r and s[1] >= skip.get(r, 0)) for r in range(ranks)}
    span = np.array([s for s in spans if s[2] >= first[int(s[0])]]).reshape(-1, 4)
    start = np.array([s for s in starts if s[1] >= skip.get(s[0], 0)])

    def whole(values: np.ndarray) -> np.ndarray:
        return values.astype(np.int64)

    def shifted(rank: np.ndarray, values: np.ndarray) -> np.ndarray:
        return (values + offsets[whole(rank)]) * MS

    none, zero = np.full(len(call), -1, dtype=np.int64), np.zeros(len(call), dtype=np.int64)
    arrival = shifted(call[:, 0], call[:, 2])
    return Tables(
        steps=StepTable(
            whole(start[:, 0]), whole(start[:, 1]), shifted(start[:, 0], start[:, 2]), {"step_ms": start[:, 3]}, {},
            whole(start[:, 0] * 0), whole(start[:, 0] * 0),
        ),
        spans=SpanTable(
            whole(span[:, 0]), whole(span[:, 1]), shifted(span[:, 0], span[:, 2]), shifted(span[:, 0], span[:, 3]),
            np.zeros(len(span), dtype=bool),
        ),
        collectives=CollectiveTable(
            whole(call[:, 0]), whole(call[:, 1]), zero, none, zero, none, zero, arrival,
            shifted(call[:, 0], call[:, 3]), arrival, [tuple(range(ranks))], ["all_reduce"], ["Float"],
        ),
        ranks=tuple(RankInfo(r, ranks, "host0", "gloo", "host") for r in range(ranks)),
    )  # fmt: skip


def noisy(ranks: int, steps: int, mean_ms: float, spread_ms: float, seed: int = 1) -> np.ndarray:
    """Positive stage times (ranks, steps) around a mean."""
    return np.abs(np.random.default_rng(seed).normal(mean_ms, spread_ms, (ranks, steps)))


def rows(steps: bool = False, **columns_ms: Sequence[float] | np.ndarray) -> Tables:
    """A typed table: one row a rank, or with steps=True columns of shape (ranks, steps)."""
    first = np.atleast_1d(np.array(next(iter(columns_ms.values())), dtype=float))
    count = first.shape[0]
    per = first.shape[1] if steps else 1
    rank = np.repeat(np.arange(count), per)
    step = np.tile(np.arange(per), count) if steps else np.full(count, -1)
    nothing = np.zeros(count * per, dtype=np.int64)
    return Tables(
        steps=StepTable(
            rank, step, np.full(count * per, np.nan),
            {f"{n}_ms": np.array(v, dtype=float).ravel() for n, v in columns_ms.items()}, {}, nothing, nothing,
        ),
        ranks=tuple(RankInfo(r) for r in range(count)),
    )  # fmt: skip
