"""Folding events into compact columns, one pass, keeping only what tables are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...tables import Floats, Ints
from .bag import SpanBag
from .event import Event, arguments, correlations_of
from .names import HOST_CATEGORIES, KERNEL_CATEGORIES, KERNEL_COLLECTIVE, LAUNCH_CATEGORIES, Kind, kind_of

BACKWARD_GAP_US = 50.0
DEVICE_GAP_US = 5.0
"""Spans of backward operations, and of kernels, that lie closer than this are one span."""
_MAX_NAMES = 1 << 17
_HOST, _KERNEL, _LAUNCH = 1, 2, 3
_ROUTES = {
    **dict.fromkeys(HOST_CATEGORIES, _HOST),
    **dict.fromkeys(KERNEL_CATEGORIES, _KERNEL),
    **dict.fromkeys(LAUNCH_CATEGORIES, _LAUNCH),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A host event worth keeping by itself. `thread` is the thread's id, negative where that is a text."""

    kind: Kind
    name: str
    start_us: float
    end_us: float
    thread: int
    arguments: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A collective kernel on the device."""

    name: str
    start_us: float
    end_us: float
    correlation: int
    arguments: dict[str, object]


@dataclass
class Collected:
    """What one trace holds, before it is told which times and threads mean what.

    `launches` holds (correlation id, time in us, thread) of device launches, batch by batch. `faulty` counts
    events whose times could not be used as they stand.
    """

    marks: dict[Kind, list[Mark]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    backward: SpanBag = field(default_factory=lambda: SpanBag(BACKWARD_GAP_US))
    compute: SpanBag = field(default_factory=lambda: SpanBag(DEVICE_GAP_US))
    kernels: list[Kernel] = field(default_factory=list)
    launches: list[tuple[Ints, Floats, Ints]] = field(default_factory=list)
    device_events: int = 0
    events: int = 0
    faulty: Counter[str] = field(default_factory=Counter)


class Collector:
    """Takes batches of events; `result` is what was kept."""

    def __init__(self, max_duration_us: float) -> None:
        self.result = Collected()
        self._max_us = max_duration_us
        self._kinds: dict[str, Kind] = {}
        self._threads: dict[str, int] = {}

    def take(self, events: Sequence[Event]) -> None:
        """Fold a batch. The loop only sorts events; columns are then worked on whole."""
        kinds, routes = self._kinds, _ROUTES
        backward: list[Event] = []
        kernels: list[Event] = []
        launches: list[Event] = []
        for event in events:
            route = routes.get(event.cat)
            if route == _HOST:
                kind = kinds.get(event.name)
                if kind is None:
                    kind = self._learn(event.name)
                if kind is Kind.BACKWARD:
                    backward.append(event)
                elif kind and event.ph == "X":
                    self._mark(event, kind)
            elif route == _KERNEL:
                if "nccl" in event.name and KERNEL_COLLECTIVE.search(event.name):
                    self._kernel(event)
                else:
                    kernels.append(event)
            elif route == _LAUNCH and "aunch" in event.name:
                launches.append(event)
        self.result.events += len(events)
        self.result.device_events += len(kernels)
        self._fold(self.result.backward, backward)
        self._fold(self.result.compute, kernels)
        self._launches(launches)

    def _learn(self, name: str) -> Kind:
        if len(self._kinds) > _MAX_NAMES:
            self._kinds.clear()
        kind = self._kinds[name] = kind_of(name)
        return kind

    def _fold(self, bag: SpanBag, events: Sequence[Event]) -> None:
        """Add the usable spans of events to a bag."""
        if not events:
            return
        start = np.array([event.ts for event in events], dtype=np.float64)
        length = np.array([event.dur for event in events], dtype=np.float64)
        timed, lasting, negative = start > 0, ~np.isnan(length), length < 0
        absurd = length > self._max_us
        faults = (
            ("no-time", ~timed),
            ("no-duration", timed & ~lasting),
            ("negative-duration", timed & negative),
            ("absurd-duration", timed & absurd),
        )
        for code, where in faults:
            if count := int(where.sum()):
                self.result.faulty[code] += count
        keep = timed & lasting & ~negative & ~absurd
        bag.add(start[keep], start[keep] + length[keep])

    def _span(self, event: Event) -> tuple[float, float] | None:
        """Start and end in us, mended; None where the event has no usable time."""
        start, length = event.ts, event.dur
        if start is None or not start > 0:
            self.result.faulty["no-time"] += 1
        elif length is None:
            self.result.faulty["no-duration"] += 1
        elif length > self._max_us:
            self.result.faulty["absurd-duration"] += 1
        else:
            if length < 0:
                self.result.faulty["negative-duration"] += 1
            return start, start + max(length, 0.0)
        return None

    def _thread(self, thread: int | str) -> int:
        """Id of a thread as a number: its own, or one below zero for a text that is no number."""
        if isinstance(thread, str):
            if not thread.strip().isdecimal():
                return self._threads.setdefault(thread, -1 - len(self._threads))
            thread = int(thread)
        return thread & 0x7FFF_FFFF_FFFF_FFFF

    def _mark(self, event: Event, kind: Kind) -> None:
        if span := self._span(event):
            kept = arguments(event.args) if kind >= Kind.CALL else {}
            self.result.marks[kind].append(Mark(kind, event.name, *span, self._thread(event.tid), kept))

    def _kernel(self, event: Event) -> None:
        self.result.device_events += 1
        if span := self._span(event):
            correlation = int(correlations_of([event.args])[0])
            self.result.kernels.append(Kernel(event.name, *span, correlation, arguments(event.args)))

    def _launches(self, events: Sequence[Event]) -> None:
        if not events:
            return
        at = np.array([event.ts for event in events], dtype=np.float64)
        correlation = correlations_of([event.args for event in events])
        threads = [event.tid for event in events]
        try:
            thread = np.array(threads, dtype=np.int64)
        except (ValueError, OverflowError):
            thread = np.array([self._thread(thread) for thread in threads], dtype=np.int64)
        keep = (at > 0) & (correlation >= 0)
        self.result.launches.append((correlation[keep], at[keep], thread[keep]))
