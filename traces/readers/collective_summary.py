"""TraceLens `nccl_summary_long.csv`: per rank and collective, how long its kernels took in all.

A kernel of a synchronising collective lasts from the rank's arrival to the common end, so among the ranks of one
(group, collective, message size) the one with the least total duration waited least. Per call,

    wait(rank) = (dur_sum(rank) - min over ranks of dur_sum) / operation_count

with durations in microseconds. Waits of several collectives of a rank are weighted by their calls. Broadcast,
reduce and send/recv are no barriers and give no wait (DESIGN section 3.2).
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ...knowledge.errors import InputError
from ..limits import DEFAULT_LIMITS, Limits
from ..tables import SUMMARY, Note, RankInfo, StepTable, Tables
from .source import Progress, Source, Stream, require_text

_NEEDED = ("rank", "Process Group Name", "Collective name", "In msg nelems", "dur_sum", "operation_count")
_POOLED = ("Collective name", "comm_latency_mean", "skew in start time_mean")
"""Columns of the summary that is pooled over ranks, from which nobody can be told."""
_BARRIERS = ("allreduce", "all_reduce", "allgather", "all_gather", "reduce_scatter", "reducescatter", "barrier")
Key = tuple[str, str, str]
Rows = dict[Key, dict[int, tuple[float, int]]]


def sniff(head: bytes) -> float:
    """How sure it is, 0 to 1, that the decompressed head is such a summary."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff").partition("\n")[0]
    cells = {cell.strip() for cell in first.split(",")}
    return 0.96 if set(_NEEDED) <= cells or set(_POOLED) <= cells else 0.0


def read(
    where: Path | str | bytes, *, name: str = "", limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Tables:
    """A summary row a rank: `wait_ms` and `communication_ms`, both per collective call.

    Raises InputError where no row of a synchronising collective can be used.
    """
    source = Source.of(where, name)
    require_text(source.head(), source)
    if b"rank," not in source.head().partition(b"\n")[0]:
        raise InputError(
            "this summary is pooled over ranks and does not tell them apart",
            where=source.name,
            remedy="Give nccl_summary_long.csv, which has a row a rank.",
        )
    text = b"".join(Stream(source, limits, progress)).decode("utf-8", "replace").lstrip("\ufeff")
    groups, dropped = _groups(csv.DictReader(io.StringIO(text)))
    if not groups:
        raise InputError(
            "holds no synchronising collective of two ranks or more", where=source.name,
            remedy="Give the long summary, with a row a rank and collective.",
        )  # fmt: skip
    notes = [Note("collective-summary", "info", "waits are means per collective call, not per step", source.name)]
    if dropped:
        detail = f"{dropped} rows are damaged or of collectives that are no barrier, and were left out"
        notes.append(Note("rows-dropped", "info", detail, source.name, count=dropped))
    return _tables(groups, source.name, notes)


def _groups(rows: Iterable[Mapping[str, str | None]]) -> tuple[Rows, int]:
    groups: Rows = defaultdict(dict)
    dropped = 0
    for row in rows:
        try:
            rank, total, calls = int(row["rank"] or ""), float(row["dur_sum"] or ""), int(row["operation_count"] or "")
        except (KeyError, ValueError):
            rank, total, calls = -1, math.nan, 0
        collective = (row.get("Collective name") or "").lower()
        if (
            rank < 0
            or not math.isfinite(total)
            or total < 0
            or calls < 1
            or not any(b in collective for b in _BARRIERS)
        ):
            dropped += 1
            continue
        key = (row.get("Process Group Name") or "", collective, row.get("In msg nelems") or "")
        groups[key][rank] = (total, calls)
    return {key: members for key, members in groups.items() if len(members) > 1}, dropped


def _tables(groups: Rows, name: str, notes: list[Note]) -> Tables:
    wait_us: dict[int, float] = defaultdict(float)
    total_us: dict[int, float] = defaultdict(float)
    calls_of: dict[int, int] = defaultdict(int)
    for members in groups.values():
        least = min(total for total, _ in members.values())
        for rank, (total, calls) in members.items():
            wait_us[rank] += total - least
            total_us[rank] += total
            calls_of[rank] += calls
        if len({calls for _, calls in members.values()}) > 1:
            notes.append(
                Note("calls-differ", "weakens", "ranks count unequal calls of a collective", name, weakens="waits")
            )
    ranks = sorted(calls_of)
    wait = np.array([wait_us[rank] / calls_of[rank] / 1000 for rank in ranks])
    busy = np.array([total_us[rank] / calls_of[rank] / 1000 for rank in ranks])
    zeros = np.zeros(len(ranks), np.int64)
    steps = StepTable(
        rank=np.array(ranks, np.int64), step=np.full(len(ranks), SUMMARY), start_us=np.full(len(ranks), math.nan),
        columns={"wait_ms": wait, "communication_ms": busy}, half_range_ms={}, origin=zeros, line=zeros,
    )  # fmt: skip
    infos = tuple(RankInfo(rank, clock="none") for rank in ranks)
    return Tables(steps=steps, ranks=infos, sources=(name,), report=tuple(notes))
