"""Put the tables of several files together, and check that they belong to one job.

Unknown ranks are numbered, duplicates and strangers are refused, several kinds of evidence for one rank are
merged, and where they speak of the same quantity they are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..knowledge.errors import InputError
from .tables import (
    SUMMARY,
    BatchTable,
    CollectiveTable,
    Event,
    Floats,
    Ints,
    Note,
    RankInfo,
    SpanTable,
    StepTable,
    Tables,
)

CONTRADICTION = 0.25
"""Relative difference of the medians of one quantity in two sources above which they contradict each other."""


def merge(parts: Sequence[Tables]) -> Tables:
    """One Tables of one job. Raises InputError where parts are of different jobs or of two runs."""
    parts = _number_unknown(parts)
    notes = [n for p in parts for n in p.report]
    notes += _check_identity(parts)
    offsets = np.cumsum([0, *(len(p.sources) for p in parts)])
    profiles = [p for p in parts if p.collectives is not None or p.spans is not None]
    others = [p for p in parts if not (p.collectives is not None or p.spans is not None)]
    notes += _contradictions(profiles, others)
    step_parts = [(p, int(offsets[parts.index(p)])) for p in (profiles or others) if p.steps is not None]
    return Tables(
        steps=_steps([(p.steps, o) for p, o in step_parts if p.steps is not None]),
        spans=_spans([p.spans for p in parts if p.spans is not None]),
        collectives=_collectives([p.collectives for p in parts if p.collectives is not None]),
        batches=_batches([p.batches for p in parts if p.batches is not None]),
        events=tuple(_event(e, int(o)) for p, o in zip(parts, offsets, strict=False) for e in p.events),
        ranks=_ranks(parts),
        sources=tuple(s for p in parts for s in p.sources),
        report=tuple(notes),
        readings=tuple(r for p in parts for r in p.readings),
    )


def _event(event: Event, offset: int) -> Event:
    return replace(event, origin=event.origin + offset) if event.origin >= 0 else event


def _ranks(parts: Sequence[Tables]) -> tuple[RankInfo, ...]:
    """One entry a rank and kind of clock, profile entries first."""
    known = {(i.rank, i.clock): i for p in parts for i in p.ranks}
    return tuple(known[key] for key in sorted(known))


def _number_unknown(parts: Sequence[Tables]) -> list[Tables]:
    """Files whose rank no one knows (-1): a single one is rank 0; among several they are numbered in the order of
    their names, and the report says so."""
    unknown = [p for p in parts if any(i.rank < 0 for i in p.ranks)]
    if not unknown:
        return list(parts)
    taken = {i.rank for p in parts for i in p.ranks if i.rank >= 0}
    free = iter(r for r in range(len(parts) + len(taken) + 1) if r not in taken)
    numbered: dict[int, Tables] = {}
    for part in sorted(unknown, key=lambda p: p.sources):
        rank = next(free)
        severity = "info" if len(parts) == 1 else "weakens"
        note = Note(
            "rank-unknown", severity, f"no rank in file or name; taken as rank {rank} by the order of names",
            file=part.sources[0] if part.sources else "", rank=rank, weakens="which rank is which",
        )  # fmt: skip
        numbered[id(part)] = _with_rank(part, rank).with_notes(note)
    return [numbered.get(id(p), p) for p in parts]


def _with_rank(part: Tables, rank: int) -> Tables:
    def fill(values: Ints) -> Ints:
        return np.where(values < 0, rank, values)

    return replace(
        part,
        steps=None if part.steps is None else replace(part.steps, rank=fill(part.steps.rank)),
        spans=None if part.spans is None else replace(part.spans, rank=fill(part.spans.rank)),
        collectives=None if part.collectives is None else replace(part.collectives, rank=fill(part.collectives.rank)),
        batches=None if part.batches is None else replace(part.batches, rank=fill(part.batches.rank)),
        ranks=tuple(replace(i, rank=rank) if i.rank < 0 else i for i in part.ranks),
    )


def _check_identity(parts: Sequence[Tables]) -> list[Note]:
    """One job, one run: equal job marks and world sizes, each rank once a kind of evidence."""
    infos = [(i, p.sources[0] if p.sources else "") for p in parts for i in p.ranks]
    jobs: dict[str, str] = {}
    sizes: dict[int, str] = {}
    for info, file in infos:
        jobs.setdefault(info.job, file) if info.job else None
        sizes.setdefault(info.world_size, file) if info.world_size else None
    if len(jobs) > 1 or len(sizes) > 1:
        one, two = list((sizes if len(sizes) > 1 else jobs).values())[:2]
        raise InputError(
            f"these files are of different jobs ({one} and {two})",
            where=two,
            remedy="Give the traces of one job at a time, one file a rank.",
        )
    kinds = ({(i.rank, _kind(p)) for i in p.ranks} for p in parts)
    twice = [key for key, n in Counter(key for each in kinds for key in each).items() if n > 1]
    clashes = [rank for rank, kind in twice if kind == "profile"]
    if clashes:
        files = [f for i, f in infos if i.rank == clashes[0]][:2]
        raise InputError(
            f"rank {clashes[0]} has two traces ({' and '.join(files)}): two runs, or two windows of one run",
            where=files[-1],
            remedy="Give one trace a rank, all from the same run and window.",
        )
    biggest = max(sizes, default=0)
    beyond = [i.rank for i, _ in infos if biggest and i.rank >= biggest]
    if beyond:
        return [
            Note("rank-out-of-range", "weakens", f"rank {beyond[0]} is beyond the world size {biggest}", rank=beyond[0])
        ]
    return []


def _kind(part: Tables) -> str:
    return "profile" if part.collectives is not None or part.spans is not None else "other"


def _contradictions(profiles: Sequence[Tables], others: Sequence[Tables]) -> list[Note]:
    """Input wait per rank in the profile's spans against what a log or table says."""
    said: dict[int, Floats] = {}
    for part in others if profiles else ():
        if part.steps is not None and "input_wait_ms" in part.steps.columns:
            for rank in np.unique(part.steps.rank):
                said[int(rank)] = part.steps.columns["input_wait_ms"][part.steps.rank == rank]
    notes: list[Note] = []
    for part in profiles:
        if part.spans is None or part.steps is None:
            continue
        for rank in np.unique(part.spans.rank):
            seen = _loader_ms(part, int(rank))
            if int(rank) not in said or seen is None:
                continue
            stated = float(np.nanmedian(said[int(rank)]))
            if abs(seen - stated) > max(CONTRADICTION * max(seen, stated), 2.0):
                detail = f"{seen:.1f} ms in the trace | {stated:.1f} ms in the table"
                notes.append(Note(f"contradiction-input wait of rank {rank}", "weakens", detail, rank=int(rank)))
    return notes


def _loader_ms(part: Tables, rank: int) -> float | None:
    """Median loader span of a rank in the profile, ms."""
    spans = part.spans
    if spans is None:
        return None
    mine = (spans.rank == rank) & (spans.stage == 0)
    return float(np.median(spans.end_us[mine] - spans.start_us[mine])) / 1000.0 if mine.any() else None


def _join(values: Sequence[Floats]) -> Floats:
    return np.concatenate(values) if values else np.empty(0)


def _steps(parts: Sequence[tuple[StepTable, int]]) -> StepTable | None:
    if not parts:
        return None
    tables = [t for t, _ in parts]
    if any((t.step != SUMMARY).any() for t in tables) and any((t.step == SUMMARY).all() for t in tables):
        parts = [(t, o) for t, o in parts if (t.step != SUMMARY).any()]
        tables = [t for t, _ in parts]

    def column(name: str, pick: Callable[[StepTable], dict[str, Floats]]) -> Floats:
        return _join([pick(t).get(name, np.full(len(t.rank), np.nan)) for t in tables])

    names = sorted({n for t in tables for n in t.columns})
    halves = sorted({n for t in tables for n in t.half_range_ms})
    return StepTable(
        rank=np.concatenate([t.rank for t in tables]),
        step=np.concatenate([t.step for t in tables]),
        start_us=_join([t.start_us for t in tables]),
        columns={n: column(n, lambda t: dict(t.columns)) for n in names},
        half_range_ms={n: column(n, lambda t: dict(t.half_range_ms)) for n in halves},
        origin=np.concatenate([np.where(t.origin >= 0, t.origin + o, -1) for t, o in parts]),
        line=np.concatenate([t.line for t in tables]),
    )


def _spans(parts: Sequence[SpanTable]) -> SpanTable | None:
    if not parts:
        return None
    return SpanTable(
        np.concatenate([p.rank for p in parts]),
        np.concatenate([p.stage for p in parts]),
        _join([p.start_us for p in parts]),
        _join([p.end_us for p in parts]),
        np.concatenate([p.device for p in parts]),
    )


def _collectives(parts: Sequence[CollectiveTable]) -> CollectiveTable | None:
    if not parts:
        return None
    groups: dict[tuple[int, ...], int] = {}
    ops: dict[str, int] = {}
    dtypes: dict[str, int] = {}

    def code(table: dict[Any, int], labels: Sequence[Any], values: Ints) -> Ints:
        lookup = np.array([table.setdefault(label, len(table)) for label in labels] or [0], dtype=np.int64)
        return lookup[values]

    return CollectiveTable(
        rank=np.concatenate([p.rank for p in parts]),
        step=np.concatenate([p.step for p in parts]),
        group=np.concatenate([code(groups, p.groups, p.group) for p in parts]),
        sequence=np.concatenate([p.sequence for p in parts]),
        op=np.concatenate([code(ops, p.ops, p.op) for p in parts]),
        bytes=np.concatenate([p.bytes for p in parts]),
        dtype=np.concatenate([code(dtypes, p.dtypes, p.dtype) for p in parts]),
        arrival_us=_join([p.arrival_us for p in parts]),
        end_us=_join([p.end_us for p in parts]),
        host_entry_us=_join([p.host_entry_us for p in parts]),
        groups=tuple(groups),
        ops=tuple(ops),
        dtypes=tuple(dtypes),
    )


def _batches(parts: Sequence[BatchTable]) -> BatchTable | None:
    if not parts:
        return None
    labels: dict[str, int] = {}
    lookup = [np.array([labels.setdefault(s, len(labels)) for s in p.sources] or [0], dtype=np.int64) for p in parts]
    return BatchTable(
        np.concatenate([p.rank for p in parts]),
        np.concatenate([p.step for p in parts]),
        np.concatenate([p.samples for p in parts]),
        np.concatenate([p.tokens for p in parts]),
        np.concatenate([p.padded_tokens for p in parts]),
        np.concatenate([p.max_len for p in parts]),
        np.concatenate([np.where(p.source >= 0, look[p.source], -1) for p, look in zip(parts, lookup, strict=True)]),
        tuple(labels),
    )
