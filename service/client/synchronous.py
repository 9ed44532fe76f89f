"""The client for programs that wait for each answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
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


class Client:
    """The service at `base_url`; default LATECOMER_URL, then this machine. `token`: default LATECOMER_TOKEN.

    Errors are those of knowledge/errors.py, as the service raised them; UnreachableError where it does not answer.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout: float | httpx.Timeout | None = None,
    ) -> None:
        self._http = httpx.Client(transport=transport, **settings.arguments(base_url, token, timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def create_session(self, title: str = "") -> SessionDocument:
        """Begin a session."""
        return self._send(calls.create_session(title))

    def sessions(self, *, limit: int = 50, cursor: str | None = None) -> SessionList:
        """Sessions, latest first; `next` is the cursor of the next page."""
        return self._send(calls.sessions(limit, cursor))

    def session(self, session: str) -> SessionDocument:
        """A session. Raises NotFoundError."""
        return self._send(calls.session(session))

    def find_session(self, prefix: str = "") -> SessionDocument:
        """The one session whose id begins so; the latest without a prefix."""
        return self._send(calls.find_session(prefix))

    def delete_session(self, session: str, *, expected: int | None = None) -> None:
        """Delete a session with all its evidence."""
        return self._send(calls.delete_session(session, expected))

    def say(self, session: str, text: str, *, expected: int | None = None) -> Reply:
        """Say something; `expected` is the revision seen: ConflictError if it is another now."""
        return self._send(calls.say(session, text, expected))

    def say_stream(self, session: str, text: str, *, expected: int | None = None) -> Iterator[answers.Told]:
        """Say something; yields what the reply says, the whole reply, then the complete diagnosis."""
        for event in self._events(calls.say_stream(session, text, expected)):
            document = answers.told(event)
            if document is not None:
                yield document

    def attach_text(self, session: str, text: str, *, label: str = "", expected: int | None = None) -> Reply:
        """Attach a pasted table or log."""
        return self._send(calls.attach_text(session, text, label, expected))

    def attach_facts(
        self, session: str, facts: Sequence[FactInput], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Attach typed facts."""
        return self._send(calls.attach_facts(session, facts, label, expected))

    def attach_tables(self, session: str, data: bytes, *, label: str = "", expected: int | None = None) -> Reply:
        """Attach the encoded tables of traces that were read here."""
        return self._send(calls.attach_tables(session, data, label, expected))

    def attach_files(
        self, session: str, paths: Sequence[str | Path], *, label: str = "", expected: int | None = None
    ) -> Reply:
        """Upload files of one job; they are streamed."""
        return self._send(calls.attach_files(session, paths, label, expected))

    def evidence(self, session: str) -> tuple[EvidenceDocument, ...]:
        """All evidence, that which was taken back too."""
        return self._send(calls.evidence(session))

    def withdraw(self, session: str, evidence: str, *, expected: int | None = None) -> Reply:
        """Take evidence back."""
        return self._send(calls.withdraw(session, evidence, expected))

    def revise(self, session: str, evidence: str, text: str, *, expected: int | None = None) -> Reply:
        """Replace evidence by what it should have said."""
        return self._send(calls.revise(session, evidence, text, expected))

    def diagnosis(self, session: str, revision: int | None = None) -> Diagnosis:
        """The diagnosis now, or an earlier one, with complete counterfactuals."""
        return self._send(calls.diagnosis(session, revision))

    def history(self, session: str) -> tuple[DiagnosisSummary, ...]:
        """All diagnoses, first to last."""
        return self._send(calls.history(session))

    def facts(self, session: str) -> tuple[FactDocument, ...]:
        """Facts of the evidence that counts."""
        return self._send(calls.facts(session))

    def findings(self, session: str) -> tuple[FindingDocument, ...]:
        """What rules concluded, with their premises."""
        return self._send(calls.findings(session))

    def how(self, session: str, scope: str | None = None) -> How:
        """How the causes of a scope came to their probabilities."""
        return self._send(calls.how(session, scope))

    def why(self, session: str, question: str | None = None) -> WhyQuestion:
        """Why a question is asked; without an id, the open one."""
        return self._send(calls.why(session, question))

    def why_not(self, session: str, cause: str, scope: str | None = None) -> WhyNotCause:
        """Why a cause does not lead."""
        return self._send(calls.why_not(session, cause, scope))

    def questions(self, session: str) -> tuple[QuestionDocument, ...]:
        """Open questions, best first."""
        return self._send(calls.questions(session))

    def what_if(self, session: str, facts: Sequence[FactInput] = (), text: str = "") -> WhatIf:
        """The diagnosis if something were so; nothing is stored."""
        return self._send(calls.what_if(session, facts, text))

    def events(self, session: str, *, after: int = 0, limit: int = 500) -> tuple[EventDocument, ...]:
        """Events of the log after a position."""
        return self._send(calls.events(session, after, limit))

    def watch(self, session: str, *, after: int = 0) -> Iterator[EventDocument]:
        """Events after a position, then new ones as they come, until the session is deleted. Connects anew when the
        connection breaks; raises UnreachableError when that brings nothing several times."""
        place = answers.Watch(after)
        while not place.ended:
            broken = None
            try:
                for event in self._events(calls.watch(session, place.after), settings.stream_timeout()):
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
                time.sleep(place.pause(broken))

    def rules(self, family: str = "") -> tuple[RuleSummary, ...]:
        """Rules of a family, or all."""
        return self._send(calls.rules(family))

    def rule(self, rule: str) -> RuleDocument:
        """One rule."""
        return self._send(calls.rule(rule))

    def version(self) -> VersionDocument:
        """What the service is."""
        return self._send(calls.version())

    def ready(self) -> StateDocument:
        """That store and engine answer. Raises StoreError or UnreachableError."""
        return self._send(calls.ready())

    def _send(self, call: Call[T]) -> T:
        with ExitStack() as stack:
            request = call.request(self._http, stack)
            try:
                response = self._http.send(request)
            except httpx.HTTPError as error:
                raise answers.unreachable(error, self._http.base_url) from error
        return answers.result(call, response)

    def _events(self, call: Call[T], timeout: httpx.Timeout | None = None) -> Iterator[answers.ServerEvent]:
        with ExitStack() as stack:
            request = call.request(self._http, stack)
            if timeout:
                request.extensions["timeout"] = timeout.as_dict()
            try:
                response = self._http.send(request, stream=True)
                try:
                    if not response.is_success:
                        response.read()
                        raise answers.failure(response)
                    reader = answers.EventReader()
                    for chunk in response.iter_bytes():
                        yield from reader.feed(chunk)
                finally:
                    response.close()
            except httpx.HTTPError as error:
                raise answers.unreachable(error, self._http.base_url) from error
