"""Answers of the service: documents, errors, and events as they stream. Pure; shared by both clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
from pydantic import ValidationError

from ...knowledge.errors import LatecomerError, UnreachableError
from ..diagnosis.schemas import Diagnosis
from ..problems import Problem, error_of
from ..sessions.schemas import EventDocument, Reply, Said
from .calls import Call, T

Told = Said | Reply | Diagnosis
"""What a streamed reply brings: the things said, the whole reply, then the complete diagnosis."""
_TOLD: dict[str, type[Told]] = {"said": Said, "reply": Reply, "diagnosis": Diagnosis}


def result(call: Call[T], response: httpx.Response) -> T:
    """The document of an answer whose body was read. Raises the error that the service raised."""
    if response.is_success:
        try:
            return call.parse(response.content)
        except ValidationError as error:
            remedy = "Is it latecomer that listens there, in the same version?"
            raise UnreachableError("the answer is not of the form expected", remedy=remedy) from error
    raise failure(response)


def failure(response: httpx.Response) -> LatecomerError:
    """The error of an answer whose body was read."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        what = f"status {response.status_code} that is not of latecomer"
        return UnreachableError(what, where=str(response.url.copy_with(query=None)), remedy="Is LATECOMER_URL right?")
    return error_of(problem)


def unreachable(error: httpx.HTTPError, base_url: httpx.URL) -> UnreachableError:
    """No answer, or half of one."""
    late = isinstance(error, httpx.TimeoutException)
    what = "the service does not answer in time" if late else "the service cannot be reached"
    return UnreachableError(what, where=str(base_url), remedy="Start it with `latecomer serve`, or set LATECOMER_URL.")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    name: str
    data: str


class EventReader:
    """Takes a stream apart. Lines end at a line feed alone: JSON may hold other separators."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Events that end in this chunk."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode().partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._name = value
            elif name == "data":
                self._data.append(value)
            elif not name and not value and self._data:
                yield ServerEvent(self._name or "message", "\n".join(self._data))
                self._name, self._data = "", []


def told(event: ServerEvent) -> Told | None:
    """What an event of a streamed reply brings; None for `done` and what a later version adds. Raises its problem."""
    if event.name == "problem":
        raise error_of(Problem.model_validate_json(event.data))
    kind = _TOLD.get(event.name)
    return kind.model_validate_json(event.data) if kind else None


class Watch:
    """Where a watcher is in a log, across connections that break."""

    MOST_TRIES = 15
    """Connections in a row that bring nothing, about a minute, before it gives up."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.ended = False
        self.begun = False
        self._tries = 0

    def take(self, event: ServerEvent) -> EventDocument | None:
        """The event, unless it was seen or ends the log."""
        self.begun = True
        if event.name == "deleted":
            self.ended = True
            return None
        document = EventDocument.model_validate_json(event.data)
        if document.seq <= self.after:
            return None
        self.after, self._tries = document.seq, 0
        return document

    def pause(self, broken: UnreachableError | None) -> float:
        """Seconds to wait before the next connection. Raises UnreachableError when there were too many."""
        self._tries += 1
        if self._tries > self.MOST_TRIES:
            raise broken or UnreachableError("the service keeps ending the stream")
        return min(0.1 * 2**self._tries, 5.0)
