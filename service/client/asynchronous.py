"""The client for asyncio; the same methods as `Client`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx

from ...knowledge.errors import NotFoundError, UnreachableError
from ..diagnosis.parts import FactDocument, FindingDocument
from ..diagnosis.schemas import Diagnosis, QuestionDocument
from ..documents import RuleDocument, RuleSummary, StateDocument, VersionDocument
from ..sessions.schemas import (
    DiagnosisSummary,
    EventDocument,
    EvidenceDocument,
    FactInput,
    How,
    Reply,
    SessionDocument,
    SessionList,
    WhatIf,
    WhyNotCause,
    WhyQuestion,
)
from . import answers, calls, settings
from .calls import Call, T


class AsyncClient:
    """The service at `base_url`; default LATECOMER_URL, then this machine. `token`: default LATECOMER_TOKEN.

    Errors are those of knowledge/errors.py, as the service raised them; UnreachableError where it does not answer.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout: float | httpx.Timeout | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(transport=transport, **settings.arguments(base_url, token, timeout))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def create_session(self, title: str = "") -> SessionDocument:
        """Begin a session."""
        return await self._send(calls.create_session(title))

    async def sessions(self, *, limit: int = 50, cursor: str | None = None) -> SessionList:
        """Sessions, latest first; `next` is the cursor of the next page."""
        return await self._send(calls.sessions(limit, cursor))

    async def session(self, session: str) -> SessionDocument:
        """A session. Raises NotFoundError."""
        return await self._send(calls.session(session))

    async def find_session(self, prefix: str = "") -> SessionDocument:
        """The one session whose id begins so; the latest without a prefix."""
        return await self._send(calls.find_session(prefix))

    async def delete_session(self, session: str, *, expected: int | None = None) -> None:
        """Delete a session with all its evidence."""
        return await self._send(calls.delete_session(session, expected))

    async def say(self, session: str, text: str, *, expected: int | None = None) -> Reply:
        """Say something; `expected` is the revision seen: ConflictError if it is another now."""
        return await self._send(calls.say(session, text, expected))

    async def say_stream(self, session: str, text: str, *, expected: int | None = None) -> AsyncIterator[answers.Told]:
        """Say something; yields what the reply says, the whole reply, then the complete diagnosis."""
        async for event in self._events(calls.say_stream(session, text, expected)):
            document = answers.told(event)
            if document is not None:
                yield document

    async def attach_text(self, session: str, text: str, *, label: str = "", expected: int | None = None) -> Reply:
        """Attach a pasted table or log."""
        return await self._send(calls.attach_text(session, text, label, expected))

    async def attach_facts(
        self, session: str, facts: Sequence[FactInput], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Attach typed facts."""
        return await self._send(calls.attach_facts(session, facts, label, expected))

    async def attach_tables(self, session: str, data: bytes, *, label: str = "", expected: int | None = None) -> Reply:
        """Attach the encoded tables of traces that were read here."""
        return await self._send(calls.attach_tables(session, data, label, expected))

    async def attach_files(
        self, session: str, paths: Sequence[str | Path], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Upload files of one job; they are streamed."""
        return await self._send(calls.attach_files(session, paths, label, expected))

    async def evidence(self, session: str) -> tuple[EvidenceDocument, ...]:
        """All evidence, that which was taken back too."""
        return await self._send(calls.evidence(session))

    async def withdraw(self, session: str, evidence: str, *, expected: int | None = None) -> Reply:
        """Take evidence back."""
        return await self._send(calls.withdraw(session, evidence, expected))

    async def revise(self, session: str, evidence: str, text: str, *, expected: int | None = None) -> Reply:
        """Replace evidence by what it should have said."""
        return await self._send(calls.revise(session, evidence, text, expected))

    async def diagnosis(self, session: str, revision: int | None = None) -> Diagnosis:
        """The diagnosis now, or an earlier one, with complete counterfactuals."""
        return await self._send(calls.diagnosis(session, revision))

    async def history(self, session: str) -> tuple[DiagnosisSummary, ...]:
        """All diagnoses, first to last."""
        return await self._send(calls.history(session))

    async def facts(self, session: str) -> tuple[FactDocument, ...]:
        """Facts of the evidence that counts."""
        return await self._send(calls.facts(session))

    async def findings(self, session: str) -> tuple[FindingDocument, ...]:
        """What rules concluded, with their premises."""
        return await self._send(calls.findings(session))

    async def how(self, session: str, scope: str | None = None) -> How:
        """How the causes of a scope came to their probabilities."""
        return await self._send(calls.how(session, scope))

    async def why(self, session: str, question: str | None = None) -> WhyQuestion:
        """Why a question is asked; without an id, the open one."""
        return await self._send(calls.why(session, question))

    async def why_not(self, session: str, cause: str, scope: str | None = None) -> WhyNotCause:
        """Why a cause does not lead."""
        return await self._send(calls.why_not(session, cause, scope))

    async def questions(self, session: str) -> tuple[QuestionDocument, ...]:
        """Open questions, best first."""
        return await self._send(calls.questions(session))

    async def what_if(self, session: str, facts: Sequence[FactInput] = (), text: str = "") -> WhatIf:
        """The diagnosis if something were so; nothing is stored."""
        return await self._send(calls.what_if(session, facts, text))

    async def events(self, session: str, *, after: int = 0, limit: int = 500) -> tuple[EventDocument, ...]:
        """Events of the log after a position."""
        return await self._send(calls.events(session, after, limit))

    async def watch(self, session: str, *, after: int = 0) -> AsyncIterator[EventDocument]:
        """Events after a position, then new ones as they come, until the session is deleted. Connects anew when the
        connection breaks; raises UnreachableError when that brings nothing several times."""
        place = answers.Watch(after)
        while not place.ended:
            broken = None
            try:
                async for event in self._events(calls.watch(session, place.after), settings.stream_timeout()):
                    document = place.take(event)
                    if document is not None:
                        yield document
            except UnreachableError as error:
                broken = error
            except NotFoundError:
                if place.begun:  # deleted while the connection was broken
                    return
                raise
            if not place.ended:
                await asyncio.sleep(place.pause(broken))

    async def rules(self, family: str = "") -> tuple[RuleSummary, ...]:
        """Rules of a family, or all."""
        return await self._send(calls.rules(family))

    async def rule(self, rule: str) -> RuleDocument:
        """One rule."""
        return await self._send(calls.rule(rule))

    async def version(self) -> VersionDocument:
        """What the service is."""
        return await self._send(calls.version())

    async def ready(self) -> StateDocument:
        """That store and engine answer. Raises StoreError or UnreachableError."""
        return await self._send(calls.ready())

    async def _send(self, call: Call[T]) -> T:
        with ExitStack() as stack:
            request = call.request(self._http, stack)
            try:
                response = await self._http.send(request)
            except httpx.HTTPError as error:
                raise answers.unreachable(error, self._http.base_url) from error
        return answers.result(call, response)

    async def _events(self, call: Call[T], timeout: httpx.Timeout | None = None) -> AsyncIterator[answers.ServerEvent]:
        with ExitStack() as stack:
            request = call.request(self._http, stack)
            if timeout:
                request.extensions["timeout"] = timeout.as_dict()
            try:
                response = await self._http.send(request, stream=True)
                try:
                    if not response.is_success:
                        await response.aread()
                        raise answers.failure(response)
                    reader = answers.EventReader()
                    async for chunk in response.aiter_bytes():
                        for event in reader.feed(chunk):
                            yield event
                finally:
                    await response.aclose()
            except httpx.HTTPError as error:
                raise answers.unreachable(error, self._http.base_url) from error
