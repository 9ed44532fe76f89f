"""The client: every method against the API, the same errors as in process, streams that resume."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from latecomer.knowledge.errors import (
    ConflictError,
    EngineError,
    InputError,
    KnowledgeError,
    LatecomerError,
    NotFoundError,
    StoreError,
    UnreachableError,
    UsageError,
)
from latecomer.service.client import AsyncClient, Client
from latecomer.service.client.answers import EventReader, Watch
from latecomer.service.problems import Problem, error_of, problem_of

ERRORS = (NotFoundError, ConflictError, UsageError, InputError, KnowledgeError, EngineError, StoreError)


def client(answer: Callable[[httpx.Request], httpx.Response], **options: Any) -> Client:
    return Client("http://service.example", transport=httpx.MockTransport(answer), **options)


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_come_back_as_they_were_raised(kind: type[LatecomerError]) -> None:
    problem = problem_of(kind("what", where="a.json:3", remedy="do"))
    got = error_of(Problem.model_validate_json(problem.model_dump_json()))
    assert type(got) is kind and (got.what, got.remedy) == ("what", "do")
    assert got.where == ("a.json:3" if issubclass(kind, UsageError | InputError) else "")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, NotFoundError), (413, InputError), (415, UsageError), (401, UsageError), (503, StoreError)],
)
def test_problems_of_the_status_alone(status: int, kind: type[LatecomerError]) -> None:
    problem = {"type": "about:blank", "title": "t", "status": status, "detail": "d", "later": "member"}
    with client(lambda _: httpx.Response(status, json=problem)) as asking, pytest.raises(kind):
        asking.session("s1")


def test_parts_of_a_request_that_are_wrong_are_named() -> None:
    errors = [{"where": "body.text", "detail": "too long"}]
    body = {"type": "urn:latecomer:problem:invalid", "status": 422, "detail": "d", "errors": errors}
    with client(lambda _: httpx.Response(422, json=body)) as asking, pytest.raises(UsageError, match="too long"):
        asking.say("s1", "x")


@pytest.mark.parametrize("answer", [httpx.Response(502, text="gateway"), httpx.Response(200, text="<html>hello")])
def test_what_does_not_speak_latecomer_is_not_the_service(answer: httpx.Response) -> None:
    with client(lambda _: answer) as asking, pytest.raises(UnreachableError):
        asking.session("s1")


@pytest.mark.parametrize(
    "fault", [httpx.ConnectError("no"), httpx.ReadTimeout("late"), httpx.RemoteProtocolError("half")]
)
def test_no_answer(fault: httpx.HTTPError) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise fault

    with client(answer) as asking:
        for ask in (lambda: asking.session("s1"), lambda: next(asking.say_stream("s1", "hi"))):
            with pytest.raises(UnreachableError) as caught:
                ask()
            assert caught.value.where.startswith("http://service.example") and caught.value.remedy


def test_where_the_service_is_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"state": "ready"})

    monkeypatch.setenv("LATECOMER_URL", "http://there.example:1")
    monkeypatch.setenv("LATECOMER_TOKEN", "secret")
    with Client(transport=httpx.MockTransport(answer)) as asking:
        assert asking.ready().state == "ready"
    assert str(seen[0].url) == "http://there.example:1/readyz"
    assert seen[0].headers["authorization"] == "Bearer secret"
    monkeypatch.setenv("LATECOMER_URL", "there.example")
    with pytest.raises(UsageError):
        Client()


def test_names_cannot_leave_their_place_in_the_path() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path.decode())
        return httpx.Response(404, json={"status": 404})

    with client(answer) as asking, pytest.raises(NotFoundError):
        asking.withdraw("../x?y", "a/b")
    assert seen == ["/v1/sessions/..%2Fx%3Fy/evidence/a%2Fb"]


def test_the_revision_seen_goes_along() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["if-match"] == '"7"'
        return httpx.Response(204)

    with client(answer) as asking:
        asking.delete_session("s1", expected=7)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_are_read_whatever_the_chunks(size: int) -> None:
    text = ': beat\n\nid: 1\nevent: a\ndata: {"x": "ü\u2028"}\n\nevent: b\r\ndata: 1\r\ndata: 2\r\n\r\nevent: half\n'
    stream = text.encode()
    reader = EventReader()
    got = [one for start in range(0, len(stream), size) for one in reader.feed(stream[start : start + size])]
    assert [(one.name, one.data) for one in got] == [("a", '{"x": "ü\u2028"}'), ("b", "1\n2")]


def test_a_problem_within_a_stream_is_raised() -> None:
    data = problem_of(EngineError("the engine stopped")).model_dump_json()
    content = f"event: problem\ndata: {data}\n\n"
    with client(lambda _: httpx.Response(200, text=content)) as asking, pytest.raises(EngineError, match="stopped"):
        list(asking.say_stream("s1", "hi"))


def flaky() -> tuple[Callable[[httpx.Request], httpx.Response], list[str]]:
    """A service whose stream breaks after each event, and repeats the one before."""
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        after = int(request.headers["last-event-id"])
        seen.append(str(after))
        if len(seen) == 2:
            raise httpx.ReadError("gone")
        if after == 3:
            return httpx.Response(200, text="event: deleted\ndata: {}\n\n")
        event = {"at": "", "kind": "message", "turn": 1, "data": {}}
        both = [f"event: message\ndata: {json.dumps(event | {'seq': seq})}\n\n" for seq in (max(after, 1), after + 1)]
        return httpx.Response(200, text="".join(both))

    return answer, seen


def test_a_watcher_resumes_after_the_last_event_and_ends_with_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "pause", lambda *_: 0.0)
    answer, seen = flaky()
    with client(answer) as asking:
        assert [event.seq for event in asking.watch("s1")] == [1, 2, 3]
    assert seen == ["0", "1", "1", "2", "3"]


def test_the_watcher_of_asyncio_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "pause", lambda *_: 0.0)
    answer, seen = flaky()

    async def run() -> list[int]:
        async with AsyncClient("http://service.example", transport=httpx.MockTransport(answer)) as asking:
            return [event.seq async for event in asking.watch("s1", after=1)]

    assert asyncio.run(run()) == [2, 3] and seen == ["1", "2", "2", "3"]


def test_a_watcher_gives_up_after_connections_that_bring_nothing() -> None:
    place = Watch(0)
    pauses = [place.pause(None) for _ in range(Watch.MOST_TRIES)]
    assert pauses == sorted(pauses) and pauses[-1] <= 5.0
    with pytest.raises(UnreachableError):
        place.pause(None)


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert methods(Client) == methods(AsyncClient)


def test_importing_the_client_imports_neither_the_server_nor_the_store() -> None:
    """Nor the engine, nor what reads traces."""
    code = "import latecomer.service.client, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    foreign = {"fastapi", "starlette", "sqlalchemy", "uvicorn", "durable", "numpy", "structlog", "prometheus_client"}
    assert not foreign & {name.partition(".")[0] for name in loaded}
    assert not [n for n in loaded if n.startswith(("latecomer.traces", "latecomer.rules", "latecomer.service.api"))]


def test_files_of_an_upload_are_closed(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b"content")
    seen: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.read())
        return httpx.Response(404, json={"status": 404})

    with client(answer) as asking, pytest.raises(NotFoundError):
        asking.attach_files("s1", [tmp_path / "t.json"])
    assert b'filename="t.json"' in seen[0] and b"content" in seen[0]
    with client(answer) as asking, pytest.raises(InputError):
        asking.attach_files("s1", [tmp_path / "missing.json"])
