"""Folding events into compact columns, one pass, keeping only what tables are made of."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...intervals import union
from .event import Event, arguments, correlation_of
from .names import HOST_CATEGORIES, KERNEL_CATEGORIES, KERNEL_COLLECTIVE, LAUNCH_CATEGORIES, Kind, kind_of

BACKWARD_GAP_US = 50.0
DEVICE_GAP_US = 5.0
"""Spans of backward operations, and of kernels, that lie closer than this are one span."""
_COMPACT_AT = 1 << 17
_MAX_NAMES = 1 << 17
Floats = NDArray[np.float64]


class SpanBag:
    """Start and end times (us) that are merged into their union whenever there are many."""

    def __init__(self, gap_us: float) -> None:
        self._gap_us = gap_us
        self._start = array("d")
        self._end = array("d")
        self._limit = _COMPACT_AT

    def add(self, start_us: float, end_us: float) -> None:
        """Add one span."""
        self._start.append(start_us)
        self._end.append(end_us)
        if len(self._start) >= self._limit:
            start, end = self.merged()
            self._start, self._end = array("d", start.tobytes()), array("d", end.tobytes())
            self._limit = 2 * len(start) + _COMPACT_AT

    def merged(self) -> tuple[Floats, Floats]:
        """Sorted disjoint spans, with gaps up to `gap_us` closed."""
        start, end = union(np.array(self._start), np.array(self._end) + self._gap_us)
        return start, end - self._gap_us


@dataclass(frozen=True, slots=True)
class Mark:
    """A host event worth keeping by itself. `thread` is an index of Collected.threads."""

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
    """What one trace holds, before it is told which times and threads mean what."""

    marks: dict[Kind, list[Mark]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    backward: dict[int, SpanBag] = field(default_factory=dict)
    kernels: list[Kernel] = field(default_factory=list)
    compute: SpanBag = field(default_factory=lambda: SpanBag(DEVICE_GAP_US))
    device_events: int = 0
    launch_correlation: array[int] = field(default_factory=lambda: array("q"))
    launch_us: array[float] = field(default_factory=lambda: array("d"))
    launch_thread: array[int] = field(default_factory=lambda: array("i"))
    threads: dict[tuple[object, object], int] = field(default_factory=dict)
    events: int = 0
    faulty: dict[str, int] = field(default_factory=dict)


class Collector:
    """Takes batches of events; `result` is what was kept."""

    def __init__(self, max_duration_us: float) -> None:
        self.result = Collected()
        self._max_us = max_duration_us
        self._kinds: dict[str, Kind] = {}
        self._collective: dict[str, bool] = {}

    def take(self, events: list[Event]) -> None:
        """Fold a batch."""
        kinds, launches = self._kinds, self._collective
        self.result.events += len(events)
        for event in events:
            category = event.cat
            if event.ph != "X":
                continue
            if category in HOST_CATEGORIES:
                kind = kinds.get(event.name)
                if kind is None:
                    kind = self._learn(event.name)
                if kind:
                    self._host(event, kind)
            elif category in KERNEL_CATEGORIES:
                self._kernel(event)
            elif category in LAUNCH_CATEGORIES:
                launch = launches.get(event.name)
                if launch is None:
                    launch = launches[event.name] = "aunch" in event.name
                if launch:
                    self._launch(event)

    def _learn(self, name: str) -> Kind:
        if len(self._kinds) > _MAX_NAMES:
            self._kinds.clear()
        kind = self._kinds[name] = kind_of(name)
        return kind

    def _fault(self, code: str) -> None:
        self.result.faulty[code] = self.result.faulty.get(code, 0) + 1

    def _span(self, event: Event) -> tuple[float, float] | None:
        """Start and end in us, mended; None where the event has no usable time."""
        start, duration = event.ts, event.dur
        if start is None or not start > 0:
            self._fault("no-time")
            return None
        if duration is None:
            self._fault("no-duration")
            return None
        if duration < 0:
            self._fault("negative-duration")
            duration = 0.0
        elif duration > self._max_us:
            self._fault("absurd-duration")
            return None
        return start, start + duration

    def _thread(self, event: Event) -> int:
        threads = self.result.threads
        return threads.setdefault((event.pid, event.tid), len(threads))

    def _host(self, event: Event, kind: Kind) -> None:
        span = self._span(event)
        if span is None:
            return
        thread = self._thread(event)
        if kind is Kind.BACKWARD:
            bag = self.result.backward.get(thread)
            if bag is None:
                bag = self.result.backward[thread] = SpanBag(BACKWARD_GAP_US)
            bag.add(*span)
            return
        kept = arguments(event.args) if kind >= Kind.CALL else {}
        self.result.marks[kind].append(Mark(kind, event.name, *span, thread, kept))

    def _kernel(self, event: Event) -> None:
        self.result.device_events += 1
        span = self._span(event)
        if span is None:
            return
        name = event.name
        if "nccl" in name and KERNEL_COLLECTIVE.search(name):
            kept = arguments(event.args)
            self.result.kernels.append(Kernel(name, *span, correlation_of(event.args), kept))
        else:
            self.result.compute.add(*span)

    def _launch(self, event: Event) -> None:
        if event.ts is None or not event.ts > 0:
            self._fault("no-time")
            return
        result = self.result
        result.launch_correlation.append(correlation_of(event.args))
        result.launch_us.append(event.ts)
        result.launch_thread.append(self._thread(event))
