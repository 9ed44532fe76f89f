"""Collectives on a device: one row a kernel, described by its own arguments or by the call that launched it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .calls import Row, described
from .collect import Collected, Kernel, Mark
from .identity import Identity
from .names import KERNEL_COLLECTIVE, operation


@dataclass(frozen=True, slots=True)
class Launches:
    """Where and when the host launched device work, sorted by correlation id."""

    correlation: np.ndarray
    at_us: np.ndarray
    thread: np.ndarray

    def find(self, correlation: int) -> tuple[float, int] | None:
        """Time (us) and thread of a launch."""
        index = int(np.searchsorted(self.correlation, correlation))
        if correlation < 0 or index >= len(self.correlation) or self.correlation[index] != correlation:
            return None
        return float(self.at_us[index]), int(self.thread[index])


def launches_of(kept: Collected) -> Launches:
    """Launches of the collective kernels of a trace."""
    wanted = np.array([kernel.correlation for kernel in kept.kernels], dtype=np.int64)
    masks = [np.isin(correlation, wanted) for correlation, _, _ in kept.launches]
    if not masks:
        return Launches(wanted[:0], np.empty(0), wanted[:0])
    correlation = np.concatenate([batch[0][mask] for batch, mask in zip(kept.launches, masks, strict=True)])
    at_us = np.concatenate([batch[1][mask] for batch, mask in zip(kept.launches, masks, strict=True)])
    thread = np.concatenate([batch[2][mask] for batch, mask in zip(kept.launches, masks, strict=True)])
    order = np.argsort(correlation, kind="stable")
    return Launches(correlation[order], at_us[order], thread[order])


def kernel_rows(kept: Collected, comms: Sequence[Mark], identity: Identity) -> tuple[list[Row], int]:
    """One row a collective kernel, by start, and how many kernels occur twice (left out).

    Arrival is the kernel's start. What the kernel's arguments do not say comes from the innermost
    `record_param_comms` or `nccl:` annotation around its launch.
    """
    launches = launches_of(kept)
    around = _Enclosing(comms)
    kernels = list({(k.start_us, k.end_us, k.name, k.correlation): k for k in kept.kernels}.values())
    kernels.sort(key=lambda kernel: kernel.start_us)
    rows: list[Row] = []
    for kernel in kernels:
        launch = launches.find(kernel.correlation)
        rows.append(_row(kernel, launch, around.marks(*launch) if launch else [], identity))
    rows = _same_operation(kernels, rows)
    return _with_launch(rows), len(kept.kernels) - len(rows)


def _row(kernel: Kernel, launch: tuple[float, int] | None, calls: Sequence[Mark], identity: Identity) -> Row:
    row = described(kernel.arguments, identity)
    for call in calls:
        stated = described(call.arguments, identity)
        row = replace(
            row,
            op=_better(row.op, stated.op if stated.op != "unknown" else operation(call.name)),
            group=row.group or stated.group,
            sequence=row.sequence if row.sequence >= 0 else stated.sequence,
            bytes=row.bytes if row.bytes >= 0 else stated.bytes,
            dtype=row.dtype or stated.dtype,
        )
    entry = launch[0] if launch else math.nan
    return replace(row, arrival_us=kernel.start_us, end_us=kernel.end_us, host_entry_us=entry, launched_us=entry)


def _same_operation(kernels: Sequence[Kernel], rows: Sequence[Row]) -> list[Row]:
    """Name the operation of kernels that nothing describes: that of all described kernels of the same name
    (an all-to-all runs as a SendRecv kernel), else what the name says."""
    known: dict[str, set[str]] = defaultdict(set)
    for kernel, row in zip(kernels, rows, strict=True):
        if row.op != "unknown":
            known[kernel.name].add(row.op)
    named: list[Row] = []
    for kernel, row in zip(kernels, rows, strict=True):
        ops = known[kernel.name]
        found = KERNEL_COLLECTIVE.search(kernel.name)
        op = next(iter(ops)) if len(ops) == 1 else operation(found["coll"]) if found else "unknown"
        named.append(replace(row, op=_better(row.op, op)))
    return named


def _with_launch(rows: Sequence[Row]) -> list[Row]:
    """Fill in launches that the trace lacks: before it began for kernels that start first, else that of the
    next kernel (launch order is start order within a stream). Without any launch, the kernel's start."""
    if all(math.isnan(row.host_entry_us) for row in rows):
        return [replace(row, launched_us=row.arrival_us) for row in rows]
    filled: list[Row] = []
    later = math.nan
    for row in reversed(rows):
        later = later if math.isnan(row.host_entry_us) else row.host_entry_us
        filled.append(replace(row, launched_us=row.arrival_us if math.isnan(later) else later))
    filled.reverse()
    first = next(index for index, row in enumerate(rows) if not math.isnan(row.host_entry_us))
    return [replace(row, launched_us=-math.inf) for row in filled[:first]] + filled[first:]


def _better(op: str, other: str) -> str:
    return other if op == "unknown" else op


class _Enclosing:
    """Marks by thread, to find those around an instant."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self._marks: dict[int, list[Mark]] = defaultdict(list)
        for mark in sorted(marks, key=lambda mark: mark.start_us):
            self._marks[mark.thread].append(mark)
        self._starts = {thread: np.array([mark.start_us for mark in marks]) for thread, marks in self._marks.items()}

    def marks(self, at_us: float, thread: int) -> list[Mark]:
        """Marks around an instant on a thread, innermost first (at most four levels)."""
        if thread not in self._marks:
            return []
        index = int(np.searchsorted(self._starts[thread], at_us, side="right"))
        near = self._marks[thread][max(index - 4, 0) : index]
        return [mark for mark in reversed(near) if mark.end_us >= at_us]
