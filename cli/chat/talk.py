"""One session as the terminal sees it: begun with the first thing said, spoken to through the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...knowledge.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from ...service.client.asynchronous import AsyncClient
    from ...service.diagnosis.schemas import Diagnosis, QuestionDocument
    from ...service.sessions.schemas import Reply
    from .connect import Connection

LONGEST_MESSAGE = 20_000
"""Characters; what is longer is a log or a table and is attached as text."""
SHORTEST_PREFIX = 4


class Talk:
    """Raises the errors of the client."""

    def __init__(self, connection: Connection, *, title: str = "", session: str = "") -> None:
        self._connection = connection
        self._title = title
        self.session = session
        self.reply: Reply | None = None
        self.question: QuestionDocument | None = None
        self.ranks = 0
        """World size as far as it is known; for completion."""

    async def say(self, text: str) -> Reply:
        """Say something."""
        client, session = await self._begun()
        if len(text) > LONGEST_MESSAGE:
            return self._heard(await client.attach_text(session, text, label="pasted text"))
        return self._heard(await client.say(session, text))

    async def attach(self, data: bytes, label: str) -> Reply:
        """Attach tables that were read here."""
        client, session = await self._begun()
        return self._heard(await client.attach_tables(session, data, label=label))

    async def diagnosis(self) -> Diagnosis:
        """The diagnosis now. Raises NotFoundError before anything was said."""
        self._needs_session()
        client = await self._connection.client()
        found = await client.diagnosis(self.session)
        self.ranks = max(found.measures.ranks, found.measures.ranks_expected or 0)
        return found

    async def questions(self) -> Sequence[QuestionDocument]:
        """Open questions, best first."""
        self._needs_session()
        return await (await self._connection.client()).questions(self.session)

    async def prefix(self) -> str:
        """The shortest beginning of the session's id, of a few lengths, that no other shares."""
        client = await self._connection.client()
        for length in range(SHORTEST_PREFIX, len(self.session), 2):
            try:
                await client.find_session(self.session[:length])
            except UsageError:
                continue
            return self.session[:length]
        return self.session

    async def _begun(self) -> tuple[AsyncClient, str]:
        client = await self._connection.client()
        if not self.session:
            self.session = (await client.create_session(self._title)).id
        return client, self.session

    def _heard(self, reply: Reply) -> Reply:
        self.reply, self.question = reply, reply.question
        for fact in reply.facts:
            if fact.kind == "job":
                self.ranks = int(fact.values.get("ranks_expected") or fact.values.get("ranks") or self.ranks)
        return reply

    def _needs_session(self) -> None:
        if not self.session:
            raise NotFoundError("nothing was said yet", remedy="Say what is known, paste a table, or /attach PATH.")
