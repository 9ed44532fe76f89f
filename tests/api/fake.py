"""A service in memory that says little but keeps the contract of SessionService: for what is about HTTP alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import cache
from typing import Any

from latecomer.knowledge.errors import ConflictError, NotFoundError
from latecomer.service.diagnosis.local import diagnose_text
from latecomer.service.diagnosis.schemas import Diagnosis
from latecomer.service.sessions.schemas import (
    DiagnosisSummary,
    EventDocument,
    FactInput,
    Reply,
    Said,
    SessionDocument,
    SessionList,
)

TABLE = "| rank | input ms | compute ms |\n|---|---|---|\n| 0 | 20 | 180 |\n| 1 | 20 | 180 |\n| 2 | 140 | 180 |\n"
AT = "2026-01-01T00:00:00Z"


@cache
def example() -> Diagnosis:
    return diagnose_text(TABLE)


class FakeService:
    """Sessions as lists of events. `fails` is raised by `ready` and `say`."""

    def __init__(self) -> None:
        self.logs: dict[str, list[EventDocument]] = {}
        self.changed = asyncio.Condition()
        self.fails: Exception | None = None
        self.tables: list[bytes] = []

    async def ready(self) -> None:
        if self.fails:
            raise self.fails

    async def create(self, *, title: str = "") -> SessionDocument:
        session = f"s{len(self.logs) + 1}"
        self.logs[session] = []
        return await self.get(session)

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> SessionList:
        return SessionList(sessions=tuple([await self.get(one) for one in self.logs][:limit]), next=None)

    async def get(self, session: str) -> SessionDocument:
        count = len(self._log(session))
        return SessionDocument(
            id=session, title="", created_at=AT, updated_at=AT, revision=count, verdict="", headline=""
        )

    async def delete(self, session: str) -> None:
        del self.logs[session]
        async with self.changed:
            self.changed.notify_all()

    async def say(self, session: str, text: str, *, expected: int | None = None) -> Reply:
        if self.fails:
            raise self.fails
        log = self._log(session)
        if expected is not None and expected != len(log):
            raise ConflictError("another turn was written meanwhile")
        log.append(EventDocument(seq=len(log) + 1, at=AT, kind="message", turn=len(log) + 1, data={"text": text}))
        async with self.changed:
            self.changed.notify_all()
        return self._reply(session, text)

    async def attach_text(self, session: str, text: str, **_: Any) -> Reply:
        return await self.say(session, text)

    async def attach_tables(self, session: str, data: bytes, *, label: str = "", **_: Any) -> Reply:
        self.tables.append(data)
        return await self.say(session, label)

    async def attach_facts(self, session: str, facts: Sequence[FactInput], **_: Any) -> Reply:
        return await self.say(session, f"{len(facts)} facts")

    async def diagnosis(self, session: str, revision: int | None = None) -> Diagnosis:
        self._log(session)
        return example()

    async def events(self, session: str, *, after: int = 0, limit: int | None = None) -> tuple[EventDocument, ...]:
        return tuple(self._log(session)[after:][:limit])

    async def watch(self, session: str, *, after: int = 0) -> AsyncIterator[EventDocument]:
        while True:
            for one in self._log(session)[after:]:
                after = one.seq
                yield one
            async with self.changed:
                await self.changed.wait()

    def _log(self, session: str) -> list[EventDocument]:
        if session not in self.logs:
            raise NotFoundError("no session has this id", remedy="List them.")
        return self.logs[session]

    def _reply(self, session: str, text: str) -> Reply:
        known, count = example(), len(self._log(session))
        summary = DiagnosisSummary(
            id=known.id,
            revision=count,
            supersedes=None,
            turn=count,
            created_at=AT,
            verdict=known.verdict,
            headline=known.headline,
            leading=known.leading,
        )
        said = (Said(kind="understood", text=text), Said(kind="diagnosis", text="line\u2028separator"))
        return Reply(
            session=session,
            turn=count,
            revision=count,
            state="asking",
            said=said,
            facts=(),
            question=None,
            diagnosis=summary,
        )
