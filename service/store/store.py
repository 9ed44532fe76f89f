"""The store: sessions and their append-only logs in SQLite or PostgreSQL. It does not know what events mean.

Whatever `append` returned for is on disk: each call is one transaction.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import URL, Insert, Select, Table, delete, func, insert, inspect, select, text, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ...knowledge.errors import ConflictError, NotFoundError, StoreError
from . import engine as engines
from .cursor import read_cursor, write_cursor
from .records import NewEvent, SessionPage, SessionRecord, StoredEvent
from .schema import BLOBS, DOCUMENTS, EVENTS, HEAD, METADATA, SESSIONS

_EVENT = (EVENTS.c.seq, EVENTS.c.at, EVENTS.c.kind, EVENTS.c.turn, EVENTS.c.data)
_FOUND = 20


class Store:
    """Every method raises StoreError where the database fails, and NotFoundError for a session it does not hold."""

    def __init__(self, url: URL, engine: AsyncEngine) -> None:
        self._url = url
        self._engine = engine
        self._writers = engine.execution_options(**{engines.WRITES: True})
        self._readers = engine if engines.is_sqlite(url) else engine.execution_options(isolation_level="AUTOCOMMIT")
        # One writer at a time is SQLite's rule: those of one process queue here in order, instead of polling the file.
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if engines.is_sqlite(url) else nullcontext()

    @classmethod
    async def open(cls, url: str | None = None) -> Store:
        """Open and bring to the newest schema. None: LATECOMER_DATABASE_URL, or a file in the user's data folder."""
        where = engines.database_url(url)
        with engines.reported(where):
            if engines.is_sqlite(where) and not engines.in_memory(where):
                await asyncio.to_thread(engines.create_file, where)
            store = cls(where, engines.async_engine(where))
        try:
            await store._migrate()
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Give the connections back. The store cannot be used after."""
        await self._engine.dispose()

    async def ping(self) -> None:
        """Raise StoreError where the database does not answer."""
        async with self._read() as connection:
            await connection.execute(text("SELECT 1"))

    async def create(self, session_id: str, title: str, events: Sequence[NewEvent] = ()) -> SessionRecord:
        """A new session with its first events. Raises ConflictError where the id is taken."""
        at = _now()
        record = SessionRecord(session_id, title, at, at, len(events), "", "")
        async with self._write() as connection:
            try:
                await connection.execute(insert(SESSIONS), [_values(record)])
            except IntegrityError:
                raise ConflictError("a session with this id exists", where=session_id) from None
            await _insert_events(connection, session_id, _numbered(events, 1, at))
        return record

    async def get(self, session_id: str) -> SessionRecord:
        """What is known of a session without reading its log."""
        async with self._read() as connection:
            return await _session(connection, session_id)

    async def page(self, limit: int = 50, cursor: str | None = None) -> SessionPage:
        """Sessions, the one updated last first. Raises UsageError for a cursor that no page gave."""
        query = select(SESSIONS).order_by(SESSIONS.c.updated_at.desc(), SESSIONS.c.id.desc()).limit(limit + 1)
        if cursor is not None:
            query = query.where(tuple_(SESSIONS.c.updated_at, SESSIONS.c.id) < tuple_(*read_cursor(cursor)))
        found = [SessionRecord(*row) for row in await self._rows(query)]
        shown = tuple(found[:limit])
        return SessionPage(shown, write_cursor(shown[-1]) if shown and len(found) > limit else None)

    async def latest(self) -> SessionRecord | None:
        """The session updated last, if any."""
        return next(iter((await self.page(limit=1)).sessions), None)

    async def find(self, prefix: str) -> tuple[str, ...]:
        """Ids of sessions that begin so, sorted, at most 20."""
        alike = func.substr(SESSIONS.c.id, 1, len(prefix)) == prefix
        return tuple(sorted(row.id for row in await self._rows(select(SESSIONS.c.id).where(alike).limit(_FOUND))))

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it."""
        async with self._write() as connection:
            gone = await connection.execute(delete(SESSIONS).where(SESSIONS.c.id == session_id))
            if not gone.rowcount:
                raise _missing(session_id)

    async def append(
        self,
        session_id: str,
        expected: int,
        events: Sequence[NewEvent],
        *,
        blobs: Mapping[str, bytes] | None = None,
        verdict: str | None = None,
        headline: str | None = None,
        title: str | None = None,
    ) -> tuple[StoredEvent, ...]:
        """Append to the log of a session, and set what is not None. `blobs` go by their sha256; one that the
        session holds stays. Raises ConflictError where the revision is not `expected`; then nothing is stored."""
        at = _now()
        stored = _numbered(events, expected + 1, at)
        changes = {"verdict": verdict, "headline": headline, "title": title}
        async with self._write() as connection:
            moved = await connection.execute(
                update(SESSIONS)
                .where(SESSIONS.c.id == session_id, SESSIONS.c.revision == expected)
                .values(revision=SESSIONS.c.revision + len(events), updated_at=at)
                .values({name: value for name, value in changes.items() if value is not None})
            )
            if not moved.rowcount:
                raise _overtaken(await _session(connection, session_id), expected)
            await _insert_events(connection, session_id, stored)
            for sha256, data in (blobs or {}).items():
                row = {"session_id": session_id, "sha256": sha256, "data": data}
                await connection.execute(self._insert_absent(BLOBS), [row])
        return stored

    async def events(self, session_id: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        """Events of a session with `seq` above `after`, in order."""
        query = select(*_EVENT).where(EVENTS.c.session_id == session_id, EVENTS.c.seq > after).order_by(EVENTS.c.seq)
        async with self._read() as connection:
            found = (await connection.execute(query.limit(limit))).all()
            if not found:
                await _session(connection, session_id)
        return tuple(StoredEvent(*row) for row in found)

    async def blob(self, session_id: str, sha256: str) -> bytes:
        """A blob of a session. Raises NotFoundError where it holds none by that name."""
        query = select(BLOBS.c.data).where(BLOBS.c.session_id == session_id, BLOBS.c.sha256 == sha256)
        for row in await self._rows(query):
            return bytes(row.data)
        raise NotFoundError("the session holds no such blob", where=f"{session_id} {sha256}")

    async def put_document(self, session_id: str, revision: int, document: bytes) -> None:
        """Keep the document of a revision. One that is there stays: a revision has one document."""
        row = {"session_id": session_id, "revision": revision, "data": await asyncio.to_thread(zlib.compress, document)}
        async with self._write() as connection:
            try:
                await connection.execute(self._insert_absent(DOCUMENTS), [row])
            except IntegrityError:
                raise _missing(session_id) from None

    async def document(self, session_id: str, revision: int) -> bytes | None:
        """The document kept for a revision, if one is."""
        query = select(DOCUMENTS.c.data).where(DOCUMENTS.c.session_id == session_id, DOCUMENTS.c.revision == revision)
        for row in await self._rows(query):
            return await asyncio.to_thread(zlib.decompress, bytes(row.data))
        return None

    @asynccontextmanager
    async def _read(self) -> AsyncIterator[AsyncConnection]:
        with engines.reported(self._url):
            async with self._readers.connect() as connection:
                yield connection

    @asynccontextmanager
    async def _write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is committed unless something is raised."""
        with engines.reported(self._url):
            async with self._turn, self._writers.begin() as connection:
                yield connection

    async def _rows(self, query: Select[Any]) -> Sequence[Any]:
        async with self._read() as connection:
            return (await connection.execute(query)).all()

    def _insert_absent(self, table: Table) -> Insert:
        maker = sqlite.insert if engines.is_sqlite(self._url) else postgresql.insert
        return maker(table).on_conflict_do_nothing()

    async def _migrate(self) -> None:
        """Create what is missing. Alembic is imported only where there is something to do."""
        if engines.in_memory(self._url):
            async with self._write() as connection:
                await connection.run_sync(METADATA.create_all)
            return
        async with self._read() as connection:
            known = await connection.run_sync(lambda plain: inspect(plain).has_table("alembic_version"))
            if known and await connection.scalar(text("SELECT version_num FROM alembic_version")) == HEAD:
                return
        await asyncio.to_thread(self._migrate_now)

    def _migrate_now(self) -> None:
        from .migrate import migrate

        with engines.reported(self._url):
            try:
                migrate(engines.sync_engine(self._url))
            except StoreError as error:
                raise StoreError(error.what, where=engines.place(self._url), remedy=error.remedy) from error


async def _session(connection: AsyncConnection, session_id: str) -> SessionRecord:
    row = (await connection.execute(select(SESSIONS).where(SESSIONS.c.id == session_id))).first()
    if row is None:
        raise _missing(session_id)
    return SessionRecord(*row)


async def _insert_events(connection: AsyncConnection, session_id: str, events: Sequence[StoredEvent]) -> None:
    if events:
        await connection.execute(insert(EVENTS), [{"session_id": session_id, **_values(e)} for e in events])


def _numbered(events: Sequence[NewEvent], first: int, at: str) -> tuple[StoredEvent, ...]:
    return tuple(StoredEvent(first + n, at, e.kind, e.turn, e.data) for n, e in enumerate(events))


def _values(record: SessionRecord | StoredEvent) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _missing(session_id: str) -> NotFoundError:
    return NotFoundError("no session has this id", where=session_id, remedy="The list of sessions names them all.")


def _overtaken(session: SessionRecord, expected: int) -> ConflictError:
    return ConflictError(
        f"it is at revision {session.revision}, not {expected}",
        where=session.id,
        remedy="Somebody else wrote first and nothing of this was stored: read the session again, then repeat.",
    )
