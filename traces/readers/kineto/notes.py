"""What reading a trace dropped, repaired or missed, as notes of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....knowledge.errors import InputError
from ...tables import Note, Severity
from .build import Steps
from .collect import Collected
from .feed import EventFeed
from .identity import Identity
from .names import Kind


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a file once it has been read."""

    source: str
    identity: Identity
    kept: Collected
    steps: Steps
    doubles: int
    open_calls: int
    host_only: int
    trouble: str


_FAULTS: dict[str, tuple[str, str]] = {
    "no-time": ("events without a usable start time (0 or not a number) were left out", "their durations"),
    "no-duration": ("events without a usable duration were left out", "their durations"),
    "negative-duration": ("negative durations were read as 0", "times of these events"),
    "absurd-duration": ("events longer than two days were left out", "their durations"),
}


def notes(facts: Facts, feed: EventFeed) -> tuple[Note, ...]:
    """Notes on one file. Raises InputError where it held no event at all."""
    if facts.kept.events == 0:
        cause = facts.trouble or (f"the first error is {feed.damage.first}" if feed.damage.first else "it is empty")
        raise InputError(f"holds no readable event ({cause})", where=facts.source, remedy="Export the trace again.")
    rank = facts.identity.info.rank if facts.identity.info.rank >= 0 else None
    return tuple(
        Note(code, severity, detail, file=facts.source, rank=rank, count=count, weakens=weakens)
        for code, severity, detail, count, weakens in (*_damage(facts, feed), *_gaps(facts))
    )


_Draft = tuple[str, Severity, str, int, str]


def _damage(facts: Facts, feed: EventFeed) -> Iterator[_Draft]:
    damage = feed.damage
    where = f"first at byte {damage.offset}: {damage.first}" if damage.first else ""
    if facts.trouble:
        yield "gzip-damaged", "weakens", facts.trouble, 1, "steps after that point are missing"
    if feed.truncated:
        yield "truncated", "weakens", "the file stops inside its events", 1, "steps after that point are missing"
    if damage.dropped:
        detail = f"{damage.dropped} damaged events were dropped; {where}"
        yield "events-dropped", "weakens", detail, damage.dropped, "durations and counts around the lost events"
    if damage.repaired:
        detail = f"{damage.repaired} damaged events were repaired; {where}"
        yield "events-repaired", "info", detail, damage.repaired, ""
    if feed.header_damaged:
        detail = "the metadata around the events is damaged and was read in part"
        yield "metadata-damaged", "weakens", detail, 1, "rank, groups and clock of this file"
    for code, count in sorted(facts.kept.faulty.items()):
        detail, weakens = _FAULTS[code]
        yield f"event-{code}", "weakens", f"{count} {detail}", count, weakens
    if facts.doubles:
        detail = f"{facts.doubles} events occur twice and were counted once"
        yield "events-doubled", "info", detail, facts.doubles, ""


def _gaps(facts: Facts) -> Iterator[_Draft]:
    identity, kept = facts.identity, facts.kept
    if identity.info.rank < 0:
        yield "rank-unknown", "weakens", "neither the trace nor its file name says which rank this is", 1, "which rank"
    elif identity.rank_from == "file name":
        detail = f"rank {identity.info.rank} comes from the file name; the trace does not state it"
        yield "rank-from-name", "info", detail, 1, "which rank"
    if len(facts.steps.number) == 0:
        yield "no-steps", "weakens", "no ProfilerStep: prof.step() was not called", 1, "everything per step"
    elif len(set(facts.steps.number.tolist())) < len(facts.steps.number):
        yield "steps-repeated", "weakens", "a step number occurs at two times", 1, "which step"
    if not kept.marks[Kind.INPUT]:
        yield "no-loader", "info", "no DataLoader events: input wait is not measured, which is not zero", 1, "input"
    if facts.open_calls:
        detail = f"{facts.open_calls} collectives have no completion in the trace"
        yield "collectives-open", "info", detail, facts.open_calls, "waits in these collectives"
    if facts.host_only:
        detail = f"{facts.host_only} collectives are known from the host alone, without kernels"
        yield "collectives-host-only", "weakens", detail, facts.host_only, "arrival and waits"
