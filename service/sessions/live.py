"""Sessions in memory: the fold of each log and its recordings, kept while they are used and read again when not."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...traces.codec import decode
from ...traces.readers.table import read_text
from ...traces.tables import Tables
from ..conversation.events import AnyEvent, EvidenceAttached, decode_event
from ..conversation.state import SessionState, fold
from ..store.records import StoredEvent
from ..store.store import Store
from . import views
from .schemas import DiagnosisSummary

MOST_LIVE = 128


@dataclass(frozen=True, slots=True)
class Live:
    """A session at a revision of its log. `recordings`: tables of pasted text and of traces, by evidence id;
    `diagnosis`: the last one."""

    id: str
    revision: int
    state: SessionState = field(default_factory=SessionState)
    recordings: Mapping[str, Tables] = field(default_factory=dict)
    diagnosis: DiagnosisSummary | None = None


class LiveSessions:
    """The sessions used last, each brought up to its log when it is asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, Live] = OrderedDict()

    async def at_head(self, session: str, revision: int) -> Live:
        """The session as its log says at a revision."""
        known = self._kept.get(session)
        if known is None or known.revision > revision:
            known = Live(session, 0)
        if known.revision < revision:
            known = await self.after(known, await self._store.events(session, after=known.revision))
        self.keep(known)
        return known

    async def after(self, known: Live, events: Sequence[StoredEvent]) -> Live:
        """The session after more events of its log."""
        decoded = [(e.turn, decode_event(e.data)) for e in events]
        recordings = dict(known.recordings)
        for turn, event in decoded:
            tables = await self._recorded(known.id, turn, event)
            if tables is not None and isinstance(event, EvidenceAttached):
                recordings[event.id] = tables
        revision = events[-1].seq if events else known.revision
        pairs = zip(events, (event for _, event in decoded), strict=True)
        diagnoses = (known.diagnosis, *views.summaries(pairs))
        return Live(known.id, revision, fold(decoded, known.state), recordings, diagnoses[-1])

    async def _recorded(self, session: str, turn: int, event: AnyEvent) -> Tables | None:
        if not isinstance(event, EvidenceAttached):
            return None
        if event.form == "text":
            return await asyncio.to_thread(read_text, event.text, name=f"turn {turn}", world_size=event.ranks)
        if event.form == "tables":
            return await asyncio.to_thread(decode, await self._store.blob(session, event.blob))
        return None

    def keep(self, live: Live) -> None:
        """Keep it, and let go of the one unused for longest."""
        self._kept[live.id] = live
        self._kept.move_to_end(live.id)
        while len(self._kept) > MOST_LIVE:
            self._kept.popitem(last=False)

    def forget(self, session: str) -> None:
        """Let go of a session."""
        self._kept.pop(session, None)
