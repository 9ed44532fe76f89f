"""Each request of the API as a value: what to send, and how to read the answer. Shared by both clients."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter

from ...knowledge.errors import InputError
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

T = TypeVar("T")
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and what its answer is."""

    method: str
    path: str
    parse: Callable[[bytes], T]
    params: dict[str, str | int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    files: Sequence[Path] = ()

    def request(self, client: httpx.Client | httpx.AsyncClient, stack: ExitStack) -> httpx.Request:
        """The request; files stay open until the stack closes."""
        opened = [("files", (path.name, stack.enter_context(_opened(path)))) for path in self.files] or None
        return client.build_request(
            self.method, self.path, params=self.params, headers=self.headers, content=self.content, files=opened
        )


def _opened(path: Path) -> AbstractContextManager[Any]:
    try:
        return path.open("rb")
    except OSError as error:
        what = f"the file cannot be opened: {error.strerror or error}"
        raise InputError(what, where=str(path), remedy="Give files that can be read.") from error


def create_session(title: str = "") -> Call[SessionDocument]:
    return _sent("POST", "/v1/sessions", {"title": title}, SessionDocument)


def sessions(limit: int, cursor: str | None) -> Call[SessionList]:
    return _read("/v1/sessions", SessionList, limit=limit, cursor=cursor)


def session(session: str) -> Call[SessionDocument]:
    return _read(_of(session), SessionDocument)


def find_session(prefix: str) -> Call[SessionDocument]:
    return _read("/v1/session", SessionDocument, prefix=prefix)


def delete_session(session: str, expected: int | None) -> Call[None]:
    return Call("DELETE", _of(session), _nothing, headers=_if_match(expected))


def say(session: str, text: str, expected: int | None) -> Call[Reply]:
    return _sent("POST", _of(session, "messages"), {"text": text}, Reply, expected)


def say_stream(session: str, text: str, expected: int | None) -> Call[Reply]:
    call = say(session, text, expected)
    call.headers["Accept"] = EVENT_STREAM
    return call


def attach_text(session: str, text: str, label: str, expected: int | None) -> Call[Reply]:
    return _bytes(session, "text", text.encode("utf-8", "replace"), "text/plain; charset=utf-8", label, expected)


def attach_tables(session: str, data: bytes, label: str, expected: int | None) -> Call[Reply]:
    return _bytes(session, "tables", data, "application/octet-stream", label, expected)


def attach_facts(session: str, facts: Sequence[FactInput], label: str, expected: int | None) -> Call[Reply]:
    body = {"facts": [one.model_dump() for one in facts]}
    return _sent("POST", _of(session, "evidence", "facts"), body, Reply, expected, label=label)


def attach_files(session: str, paths: Sequence[str | Path], label: str, expected: int | None) -> Call[Reply]:
    path = _of(session, "evidence", "files")
    files = [Path(one) for one in paths]
    return Call("POST", path, _parser(Reply), _given(label=label), _if_match(expected), files=files)


def evidence(session: str) -> Call[tuple[EvidenceDocument, ...]]:
    return _read(_of(session, "evidence"), tuple[EvidenceDocument, ...])


def withdraw(session: str, evidence: str, expected: int | None) -> Call[Reply]:
    return Call("DELETE", _of(session, "evidence", evidence), _parser(Reply), headers=_if_match(expected))


def revise(session: str, evidence: str, text: str, expected: int | None) -> Call[Reply]:
    return _sent("PUT", _of(session, "evidence", evidence), {"text": text}, Reply, expected)


def diagnosis(session: str, revision: int | None) -> Call[Diagnosis]:
    return _read(_of(session, "diagnosis"), Diagnosis, revision=revision)


def history(session: str) -> Call[tuple[DiagnosisSummary, ...]]:
    return _read(_of(session, "history"), tuple[DiagnosisSummary, ...])


def facts(session: str) -> Call[tuple[FactDocument, ...]]:
    return _read(_of(session, "facts"), tuple[FactDocument, ...])


def findings(session: str) -> Call[tuple[FindingDocument, ...]]:
    return _read(_of(session, "findings"), tuple[FindingDocument, ...])


def how(session: str, scope: str | None) -> Call[How]:
    return _read(_of(session, "how"), How, scope=scope)


def why(session: str, question: str | None) -> Call[WhyQuestion]:
    path = _of(session, "why") if question is None else _of(session, "questions", question, "why")
    return _read(path, WhyQuestion)


def why_not(session: str, cause: str, scope: str | None) -> Call[WhyNotCause]:
    return _read(_of(session, "why-not", cause), WhyNotCause, scope=scope)


def questions(session: str) -> Call[tuple[QuestionDocument, ...]]:
    return _read(_of(session, "questions"), tuple[QuestionDocument, ...])


def what_if(session: str, facts: Sequence[FactInput], text: str) -> Call[WhatIf]:
    body = {"facts": [one.model_dump() for one in facts], "text": text}
    return _sent("POST", _of(session, "what-if"), body, WhatIf)


def events(session: str, after: int, limit: int) -> Call[tuple[EventDocument, ...]]:
    return _read(_of(session, "events"), tuple[EventDocument, ...], after=after, limit=limit)


def watch(session: str, after: int) -> Call[tuple[EventDocument, ...]]:
    call = _read(_of(session, "events"), tuple[EventDocument, ...])
    call.headers.update({"Accept": EVENT_STREAM, "Last-Event-ID": str(after)})
    return call


def rules(family: str) -> Call[tuple[RuleSummary, ...]]:
    return _read("/v1/rules", tuple[RuleSummary, ...], family=family)


def rule(rule: str) -> Call[RuleDocument]:
    return _read(f"/v1/rules/{quote(rule, safe='')}", RuleDocument)


def version() -> Call[VersionDocument]:
    return _read("/v1/version", VersionDocument)


def ready() -> Call[StateDocument]:
    return _read("/readyz", StateDocument)


def _read(path: str, kind: type[T], **params: str | int | None) -> Call[T]:
    return Call("GET", path, _parser(kind), _given(**params))


def _sent(
    method: str, path: str, body: dict[str, Any], kind: type[T], expected: int | None = None, **params: str
) -> Call[T]:
    content = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | _if_match(expected)
    return Call(method, path, _parser(kind), _given(**params), headers, content)


def _bytes(session: str, form: str, body: bytes, kind: str, label: str, expected: int | None) -> Call[Reply]:
    headers = {"Content-Type": kind} | _if_match(expected)
    return Call("POST", _of(session, "evidence", form), _parser(Reply), _given(label=label), headers, body)


def _of(session: str, *rest: str) -> str:
    return "/".join(["/v1/sessions", *(quote(part, safe="") for part in (session, *rest))])


def _given(**params: str | int | None) -> dict[str, str | int]:
    return {name: value for name, value in params.items() if value is not None and value != ""}


def _if_match(expected: int | None) -> dict[str, str]:
    return {} if expected is None else {"If-Match": f'"{expected}"'}


def _nothing(_: bytes) -> None:
    return None


@functools.cache
def _parser(kind: type[T]) -> Callable[[bytes], T]:
    return TypeAdapter(kind).validate_json
