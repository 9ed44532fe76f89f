"""Canonical columnar tables: what every reader produces and every measure consumes.

Arrays of one table have equal length. Times of events are in microseconds on the clock of the rank that
recorded them (`_us`); durations that people type or log are in milliseconds (`_ms`). NaN means not measured;
it never means zero. Nothing here knows about rules, HTTP or printing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

STAGES = ("input_wait", "forward", "backward", "optimizer", "host", "compute", "communication")
"""Parts of a step (DESIGN section 2); `compute` is forward and backward where only their sum, or only device
work, is known."""

STEP_COLUMNS = (*(f"{stage}_ms" for stage in STAGES), "arrival_ms", "wait_ms", "transfer_ms", "step_ms")
SUMMARY = -1
"""Step number of a row that sums up a rank over an unknown number of steps."""


@dataclass(frozen=True, slots=True, eq=False)
class StepTable:
    """One row a rank and step (or one a rank, step = SUMMARY).

    `columns` maps a name of STEP_COLUMNS to values in ms. `half_range_ms` holds, for a column that was given
    as a range such as 130-150, half its width. `start_us` is the start of the step on the rank's clock.
    `origin` indexes `Tables.sources`; `line` is the row or line in that source.
    """

    rank: Ints
    step: Ints
    start_us: Floats
    columns: Mapping[str, Floats]
    half_range_ms: Mapping[str, Floats]
    origin: Ints
    line: Ints


@dataclass(frozen=True, slots=True, eq=False)
class SpanTable:
    """Where a rank spent its time: spans of a stage, on its own clock. May overlap; `stage` indexes STAGES.

    `device` is true for work on an accelerator (kernels), false for the host's main thread.
    """

    rank: Ints
    stage: Ints
    start_us: Floats
    end_us: Floats
    device: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CollectiveTable:
    """One row a rank and collective call, in the rank's launch order.

    `group` indexes `groups` (member ranks, sorted; () when unknown), `op` indexes `ops` (canonical names such
    as all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, barrier, send_recv, unknown), `dtype`
    indexes `dtypes`. `sequence` and `bytes` are -1 where unknown. `arrival_us` is when the rank was ready:
    kernel start on a device trace, the `c10d::` call on a CPU trace; `host_entry_us` is the host call.
    `step` is the profiler step in which it was launched, SUMMARY where unknown.
    """

    rank: Ints
    step: Ints
    group: Ints
    sequence: Ints
    op: Ints
    bytes: Ints
    dtype: Ints
    arrival_us: Floats
    end_us: Floats
    host_entry_us: Floats
    groups: Sequence[tuple[int, ...]]
    ops: Sequence[str]
    dtypes: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class BatchTable:
    """Properties of the batch of a rank and step; -1 where unknown. `source` indexes `sources` (labels)."""

    rank: Ints
    step: Ints
    samples: Ints
    tokens: Ints
    padded_tokens: Ints
    max_len: Ints
    source: Ints
    sources: Sequence[str]


@dataclass(frozen=True, slots=True)
class Event:
    """A line of a log or a notable event: an exception, a timeout, a profiler message."""

    rank: int | None
    kind: str
    text: str
    origin: int = -1
    line: int = -1


@dataclass(frozen=True, slots=True)
class Reading:
    """A number read of a device, or of a pair of them: a clock, a temperature, a link, a bandwidth (no time of a step).

    `name` is a key under `readings` of readers/table/columns.yaml and carries the unit."""

    ranks: tuple[int, ...]
    name: str
    value: float


Severity = Literal["info", "weakens", "unusable"]


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that reading dropped, repaired, missed or found contradictory.

    `code` is stable (kebab-case); `weakens` says which conclusions it weakens, in words.
    """

    code: str
    severity: Severity
    detail: str
    file: str = ""
    rank: int | None = None
    count: int = 1
    weakens: str = ""


@dataclass(frozen=True, slots=True)
class RankInfo:
    """What a trace says of its own rank. `clock`: device | host | log | none. `job` identifies the run."""

    rank: int
    world_size: int | None = None
    host: str = ""
    backend: str = ""
    clock: str = "none"
    job: str = ""
    pipeline_stage: int | None = None
    role: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Everything read for one job. A kind that no source held is None."""

    steps: StepTable | None = None
    spans: SpanTable | None = None
    collectives: CollectiveTable | None = None
    batches: BatchTable | None = None
    events: tuple[Event, ...] = ()
    ranks: tuple[RankInfo, ...] = ()
    sources: tuple[str, ...] = ()
    report: tuple[Note, ...] = field(default=())
    readings: tuple[Reading, ...] = ()

    def with_notes(self, *notes: Note) -> Tables:
        """The same tables with more notes in the report."""
        return replace(self, report=(*self.report, *notes))
