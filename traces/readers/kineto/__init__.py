"""PyTorch profiler traces (Kineto, Chrome trace JSON), plain or gzip, of any age.

`read` gives the tables of one file, which holds one rank. Times are wall clock microseconds: `ts` plus
`baseTimeNanoseconds` where the trace has it (`displayTimeUnit` never changes units).
"""

from __future__ import annotations

import re
from pathlib import Path

from ...limits import DEFAULT_LIMITS, Limits
from ...tables import Tables
from ..source import Progress, Source, Stream, require_text
from .build import collective_table, find_steps, span_table, step_table
from .calls import gloo_rows, host_only_row, outermost
from .collect import Collector
from .feed import EventFeed
from .identity import identify
from .kernels import kernel_rows
from .names import Kind
from .notes import Facts, notes

_SIGNS = (b'"traceEvents"', b'"distributedInfo"', b'"deviceProperties"', b'"baseTimeNanoseconds"')
_EVENT = re.compile(rb'"ph"\s*:\s*"')


def sniff(head: bytes) -> float:
    """How sure it is, 0 to 1, that a file with this decompressed head is a Chrome trace."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith((b"{", b"[")):
        return 0.0
    events = bool(_EVENT.search(text))
    if text.startswith(b"["):
        return 0.9 if events else 0.0
    signs = sum(sign in text for sign in _SIGNS)
    return min(0.5 * signs + 0.4 * events, 1.0) if signs else 0.3 * events


def read(
    where: Path | str | bytes, *, name: str = "", limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Tables:
    """Tables of one trace, with one RankInfo (rank -1 where nothing names the rank) and notes on what was lost.

    Raises InputError where the file is no trace, holds no event, or passes a limit.
    """
    source = Source.of(where, name)
    require_text(source.head(), source)
    stream = Stream(source, limits, progress)
    feed = EventFeed(stream, limits, source.name)
    collector = Collector(limits.max_duration_us)
    for batch in feed:
        collector.take(batch)
    return _tables(source, feed, collector, stream.trouble)


def _tables(source: Source, feed: EventFeed, collector: Collector, trouble: str) -> Tables:
    kept = collector.result
    device = kept.device_events > 0
    identity = identify(feed.header, source.name, clock="device" if device else "host")
    rank, base_us = identity.info.rank, identity.base_us
    steps = find_steps(kept.marks[Kind.STEP])
    calls = outermost(kept.marks[Kind.CALL])
    rows, unpaired = gloo_rows(calls, kept.marks[Kind.GLOO], identity)
    on_device, twice = kernel_rows(kept, kept.marks[Kind.COMMS], identity)
    on_host = not on_device and (identity.info.backend == "gloo" or bool(kept.marks[Kind.GLOO]))
    if not on_device:
        rows += [host_only_row(call, identity, on_host=on_host) for call in unpaired]
    facts = Facts(
        source=source.name,
        identity=identity,
        kept=kept,
        steps=steps,
        doubles=steps.doubles + twice,
        open_calls=len(unpaired) if on_host else 0,
        host_only=0 if on_host or on_device else len(unpaired),
        trouble=trouble,
    )
    return Tables(
        steps=step_table(steps, rank, base_us),
        spans=span_table(kept, steps, rank, base_us),
        collectives=collective_table(rows + on_device, steps, rank, base_us),
        ranks=(identity.info,),
        sources=(source.name,),
        report=notes(facts, feed),
    )
