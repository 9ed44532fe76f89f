"""Tables from what was collected: steps, spans of stages, and one row a collective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...intervals import union
from ...tables import STAGES, SUMMARY, CollectiveTable, Floats, Ints, SpanTable, StepTable
from .calls import Row
from .collect import Collected, Mark
from .names import Kind

T = TypeVar("T")
_STAGE_OF = {Kind.INPUT: "input_wait", Kind.FORWARD: "forward", Kind.OPTIMIZER: "optimizer"}


@dataclass(frozen=True, slots=True)
class Steps:
    """Profiler steps of the host, by start; times in us without the base. `thread` is the main thread."""

    number: Ints
    start_us: Floats
    end_us: Floats
    thread: int | None
    doubles: int

    def at(self, instants_us: Floats) -> Ints:
        """Number of the step that holds each instant, SUMMARY where none does (or the instant is NaN)."""
        if len(self.number) == 0:
            return np.full(len(instants_us), SUMMARY, dtype=np.int64)
        index = np.searchsorted(self.start_us, instants_us, side="right") - 1
        safe = np.maximum(index, 0)
        held = (index >= 0) & (instants_us <= self.end_us[safe])
        return np.where(held, self.number[safe], SUMMARY).astype(np.int64)


def find_steps(marks: Sequence[Mark]) -> Steps:
    """Steps from the `ProfilerStep#N` annotations of the host; exact duplicates are counted and left out."""
    seen: dict[tuple[int, float], tuple[float, int]] = {}
    for mark in marks:
        number = mark.name.partition("#")[2]
        if number.isdigit() and len(number) < 18:
            seen.setdefault((int(number), mark.start_us), (mark.end_us, mark.thread))
    rows = sorted((start, number, end, thread) for (number, start), (end, thread) in seen.items())
    threads = [thread for *_, thread in rows]
    return Steps(
        number=np.array([number for _, number, _, _ in rows], dtype=np.int64),
        start_us=np.array([start for start, *_ in rows], dtype=np.float64),
        end_us=np.array([end for _, _, end, _ in rows], dtype=np.float64),
        thread=max(set(threads), key=threads.count) if threads else None,
        doubles=len(marks) - len(rows),
    )


def step_table(steps: Steps, rank: int, base_us: float) -> StepTable | None:
    """Start and length of each step. None where the trace marks no steps."""
    count = len(steps.number)
    if count == 0:
        return None
    return StepTable(
        rank=np.full(count, rank, dtype=np.int64),
        step=steps.number,
        start_us=steps.start_us + base_us,
        columns={"step_ms": (steps.end_us - steps.start_us) / 1e3},
        half_range_ms={},
        origin=np.zeros(count, dtype=np.int64),
        line=np.full(count, -1, dtype=np.int64),
    )


def span_table(kept: Collected, steps: Steps, rank: int, base_us: float) -> SpanTable | None:
    """Disjoint spans a stage: loader, forward and optimizer of the main thread, backward of whichever threads
    run it, and device time of kernels that are no collectives. None where there are none."""
    parts = [(stage, False, union(*_times(kept.marks[kind], steps.thread))) for kind, stage in _STAGE_OF.items()]
    parts.append(("backward", False, kept.backward.merged()))
    parts.append(("compute", True, kept.compute.merged()))
    count = sum(len(start) for _, _, (start, _) in parts)
    if count == 0:
        return None
    return SpanTable(
        rank=np.full(count, rank, dtype=np.int64),
        stage=np.concatenate([np.full(len(start), STAGES.index(stage)) for stage, _, (start, _) in parts]),
        start_us=np.concatenate([start for _, _, (start, _) in parts]) + base_us,
        end_us=np.concatenate([end for _, _, (_, end) in parts]) + base_us,
        device=np.concatenate([np.full(len(start), device) for _, device, (start, _) in parts]),
    )


def _times(marks: Sequence[Mark], thread: int | None) -> tuple[Floats, Floats]:
    """Start and end of the marks of a thread (of all threads where the main one is unknown)."""
    mine = [mark for mark in marks if thread is None or mark.thread == thread]
    return np.array([mark.start_us for mark in mine]), np.array([mark.end_us for mark in mine])


def collective_table(rows: Sequence[Row], steps: Steps, rank: int, base_us: float) -> CollectiveTable | None:
    """Rows in launch order, each in the step in which the host launched it. None where there are none."""
    if not rows:
        return None
    entry = np.array([row.host_entry_us for row in rows])
    arrival = np.array([row.arrival_us for row in rows])
    launched = np.array([row.launched_us for row in rows])
    order = np.argsort(launched, kind="stable")
    groups, group = _coded([row.group for row in rows])
    ops, op = _coded([row.op for row in rows])
    dtypes, dtype = _coded([row.dtype for row in rows])
    return CollectiveTable(
        rank=np.full(len(rows), rank, dtype=np.int64),
        step=steps.at(launched)[order],
        group=group[order],
        sequence=np.array([row.sequence for row in rows], dtype=np.int64)[order],
        op=op[order],
        bytes=np.array([row.bytes for row in rows], dtype=np.int64)[order],
        dtype=dtype[order],
        arrival_us=arrival[order] + base_us,
        end_us=np.array([row.end_us for row in rows])[order] + base_us,
        host_entry_us=entry[order] + base_us,
        groups=groups,
        ops=ops,
        dtypes=dtypes,
    )


def _coded(values: Sequence[T]) -> tuple[tuple[T, ...], Ints]:
    """Distinct values in order of appearance, and the index of each value in them."""
    code: dict[T, int] = {}
    index = np.array([code.setdefault(value, len(code)) for value in values], dtype=np.int64)
    return tuple(code), index
