"""What goes into the store and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append. `data` is JSON text, which the store does not read; `turn` is that of the chat."""

    kind: str
    turn: int
    data: str


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a session: the first has `seq` 1. `at` is ISO 8601 in UTC with microseconds."""

    seq: int
    at: str
    kind: str
    turn: int
    data: str


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as a list shows it. `revision` is the `seq` of its last event, 0 where it has none."""

    id: str
    title: str
    created_at: str
    updated_at: str
    revision: int
    verdict: str
    headline: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, the one updated last first. `next` is the cursor of the page after, None on the last."""

    sessions: tuple[SessionRecord, ...]
    next: str | None
