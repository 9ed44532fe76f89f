"""Sessions over the store: one transaction a turn. Owns what is kept between turns; the conversation itself is pure."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

from ...knowledge.errors import ConflictError, NotFoundError, UsageError
from ..conversation import turn
from ..conversation.events import AnyEvent, EvidenceWithdrawn, SessionOpened, encode_event, kind_of_event
from ..conversation.mind import Mind
from ..conversation.turn import Outcome
from ..store.records import NewEvent, SessionRecord, StoredEvent
from ..store.store import Store
from . import inputs, views
from .engine import open_mind
from .inputs import Attachment
from .live import Live
from .reading import SessionReading
from .schemas import FactInput, Reply, SessionDocument, SessionList

ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
ID_LENGTH = 12
TITLE_LENGTH = 60
MOST_RETRIES = 8


class SessionService(SessionReading):
    """`expected` is the revision a writer saw: ConflictError where the log has moved on; None takes it as it is."""

    def __init__(self, store: Store, mind: Mind, close_mind: Callable[[], None]) -> None:
        super().__init__(store, mind)
        self._close_mind = close_mind
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @classmethod
    async def open(
        cls, url: str | None = None, *, workers: int = 0, book_directories: Sequence[Path] = ()
    ) -> SessionService:
        """Open store and engine. `workers` 0: inference in this process. Raises StoreError, KnowledgeError and
        EngineError."""
        mind, close = await asyncio.to_thread(open_mind, workers, book_directories)
        try:
            return cls(await Store.open(url), mind, close)
        except BaseException:
            close()
            raise

    async def close(self) -> None:
        """Finish what is being written, then close engine and store."""
        await self._completion.close()
        await asyncio.to_thread(self._close_mind)
        await self._store.close()

    async def ready(self) -> None:
        """Raise the error of a store or an engine that does not answer."""
        await self._store.ping()
        await asyncio.to_thread(self._mind.reasoner.infer, [[]])

    # ---- sessions ----------------------------------------------------------------------------------------

    async def create(self, *, title: str = "") -> SessionDocument:
        """A new session."""
        name = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
        events = [_new(SessionOpened(title=title), 0)]
        return views.session_document(await self._store.create(name, title, events))

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> SessionList:
        """Sessions, latest first."""
        found = await self._store.page(limit, cursor)
        return SessionList(sessions=tuple(views.session_document(s) for s in found.sessions), next=found.next)

    async def get(self, session: str) -> SessionDocument:
        """A session."""
        return views.session_document(await self._store.get(session))

    async def find(self, prefix: str) -> SessionDocument:
        """The session whose id begins so; the latest for an empty prefix. Raises UsageError where several do."""
        if not prefix:
            latest = await self._store.latest()
            if latest is None:
                raise NotFoundError("there is no session yet", remedy="Start one with `latecomer chat`.")
            return views.session_document(latest)
        found = await self._store.find(prefix)
        if len(found) != 1:
            if not found:
                raise NotFoundError("no session has an id that begins so", where=prefix)
            raise UsageError(f"{len(found)} sessions begin with {prefix}", remedy=f"One of: {', '.join(found)}.")
        return await self.get(found[0])

    async def delete(self, session: str) -> None:
        """Delete a session with everything in it."""
        await self._store.delete(session)
        self._live.forget(session)
        await self._tell(session)

    # ---- turns -------------------------------------------------------------------------------------------

    async def say(self, session: str, text: str, *, expected: int | None = None) -> Reply:
        """The turn of a message."""
        title = "" if "\n" in text.strip() or text.startswith("/") else " ".join(text.split())[:TITLE_LENGTH]

        def take(live: Live) -> tuple[Outcome, bytes | None]:
            return turn.message(text, live.state, live.recordings, self._mind), None

        return await self._turn(session, take, expected, title)

    async def attach_text(self, session: str, text: str, *, label: str = "", expected: int | None = None) -> Reply:
        """A pasted table or log. Raises InputError where no reader knows it."""
        return await self._attach(session, lambda live: inputs.of_text(text, label, live.state), expected)

    async def attach_facts(
        self, session: str, facts: Sequence[FactInput], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Facts of the vocabulary. Raises KnowledgeError for what is not in it."""
        known = self._mind.knowledge
        return await self._attach(session, lambda live: inputs.of_facts(facts, label, live.state, known), expected)

    async def attach_tables(self, session: str, data: bytes, *, label: str = "", expected: int | None = None) -> Reply:
        """Tables as `traces.codec` encodes them. Raises InputError for other bytes."""
        return await self._attach(session, lambda live: inputs.of_tables(data, label, live.state), expected)

    async def attach_files(
        self, session: str, paths: Sequence[Path], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Traces on this machine's disk; their tables are kept, the files are not. Raises InputError."""
        return await self._attach(session, lambda live: inputs.of_files(paths, label, live.state), expected)

    async def withdraw(self, session: str, evidence: str, *, expected: int | None = None) -> Reply:
        """Take evidence back. Raises NotFoundError where none of that id counts."""

        def take(live: Live) -> tuple[Outcome, bytes | None]:
            _held(live, evidence)
            gone = [EvidenceWithdrawn(id=evidence, because="taken back")]
            return turn.evidence(gone, {}, live.state, live.recordings, self._mind), None

        return await self._turn(session, take, expected)

    async def revise(self, session: str, evidence: str, text: str, *, expected: int | None = None) -> Reply:
        """Say evidence anew. Raises NotFoundError where none of that id counts."""

        def take(live: Live) -> tuple[Outcome, bytes | None]:
            _held(live, evidence)
            return turn.message(f"/revise {evidence} {text}", live.state, live.recordings, self._mind), None

        return await self._turn(session, take, expected)

    async def _attach(self, session: str, make: Callable[[Live], Attachment], expected: int | None) -> Reply:
        def take(live: Live) -> tuple[Outcome, bytes | None]:
            made = make(live)
            new = {} if made.tables is None else {made.event.id: made.tables}
            return turn.evidence([made.event], new, live.state, live.recordings, self._mind), made.blob

        return await self._turn(session, take, expected)

    async def _turn(
        self,
        session: str,
        take: Callable[[Live], tuple[Outcome, bytes | None]],
        expected: int | None,
        title: str = "",
    ) -> Reply:
        """Reason and append in one transaction; again where another process was faster and no revision was expected."""
        async with self._locks.setdefault(session, asyncio.Lock()), self._completion.held():
            for attempt in range(MOST_RETRIES):
                record = await self._store.get(session)
                if expected is not None and expected != record.revision:
                    raise ConflictError(
                        f"the session is at revision {record.revision}, not {expected}",
                        where=session,
                        remedy="Read it again and repeat what still applies.",
                    )
                live = await self._live.at_head(session, record.revision)
                outcome, blob = await asyncio.to_thread(take, live)
                try:
                    stored = await self._append(record, outcome, blob, title)
                except ConflictError:
                    if expected is not None or attempt == MOST_RETRIES - 1:
                        raise
                    continue
                return await self._replied(live, outcome, stored)
        raise AssertionError("unreachable")

    async def _append(
        self, record: SessionRecord, outcome: Outcome, blob: bytes | None, title: str
    ) -> tuple[StoredEvent, ...]:
        number = outcome.state.turn
        judged = outcome.state.diagnosis
        return await self._store.append(
            record.id,
            record.revision,
            [_new(e, number) for e in outcome.events],
            blobs={_blob_name(outcome): blob} if blob is not None else None,
            verdict=judged.verdict if judged else None,
            headline=judged.headline if judged else None,
            title=title if title and not record.title else None,
        )

    async def _replied(self, before: Live, outcome: Outcome, stored: tuple[StoredEvent, ...]) -> Reply:
        reply = views.reply(before.id, outcome, stored, before.diagnosis)
        now = Live(before.id, stored[-1].seq, outcome.state, outcome.recordings, reply.diagnosis)
        self._live.keep(now)
        if reply.diagnosis != before.diagnosis:
            self._completion.want(before.id, reply.diagnosis, outcome.view)
        await self._tell(before.id)
        return reply


def _new(event: AnyEvent, number: int) -> NewEvent:
    return NewEvent(kind_of_event(event), number, encode_event(event))


def _blob_name(outcome: Outcome) -> str:
    return next(e.blob for e in outcome.events if getattr(e, "blob", ""))  # type: ignore[union-attr]


def _held(live: Live, evidence: str) -> None:
    if live.state.held(evidence) is None:
        raise NotFoundError(f"no evidence {evidence} counts in this session", where=live.id)
