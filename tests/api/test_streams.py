"""Server-sent events: the same as the documents, resumable, beating, ending with the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from latecomer.service.api.sse import BEAT, beating
from latecomer.service.client.answers import EventReader, ServerEvent
from latecomer.service.sessions.schemas import EventDocument, Reply, Said

from .fake import example
from .serving import asked, problem

STREAM = {"Accept": "text/event-stream"}
SAY, EVENTS = "/v1/sessions/s1/messages", "/v1/sessions/s1/events"


def read(response: httpx.Response) -> list[ServerEvent]:
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/event-stream")
    return list(EventReader().feed(response.content))


def test_a_streamed_reply_is_the_reply_and_the_complete_diagnosis() -> None:
    async def action(client: httpx.AsyncClient) -> tuple[httpx.Response, httpx.Response]:
        await client.post("/v1/sessions")
        streamed = await client.post(SAY, json={"text": "hi"}, headers=STREAM)
        return streamed, await client.get("/v1/sessions/s1/diagnosis")

    streamed, document = asked(action)
    *said, reply, diagnosis, done = read(streamed)
    whole = Reply.model_validate_json(reply.data)
    assert [one.name for one in (reply, diagnosis, done)] == ["reply", "diagnosis", "done"]
    assert {one.name for one in said} == {"said"}
    assert tuple(Said.model_validate_json(one.data) for one in said) == whole.said
    assert streamed.headers["etag"] == f'"{whole.revision}"'
    assert diagnosis.data == document.text == example().model_dump_json()


def test_a_reply_that_fails_is_a_problem_not_a_stream() -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/v1/sessions/none/messages", json={"text": "hi"}, headers=STREAM)

    problem(asked(action), 404)


@pytest.mark.parametrize(
    ("query", "headers", "seen"),
    [("", {}, [1, 2, 3, 4]), ("?after=1", {}, [2, 3, 4]), ("?after=1", {"Last-Event-ID": "3"}, [4])],
)
def test_events_stream_from_the_last_one_seen_until_the_session_is_deleted(
    query: str, headers: dict[str, str], seen: list[int]
) -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        await client.post("/v1/sessions")
        for _ in range(3):
            await client.post(SAY, json={"text": "hi"})
        streaming = asyncio.create_task(client.get(EVENTS + query, headers=STREAM | headers))
        await asyncio.sleep(0.05)
        await client.post(SAY, json={"text": "later"})
        await asyncio.sleep(0.05)
        await client.delete("/v1/sessions/s1")
        return await asyncio.wait_for(streaming, 5)

    response = asked(action)
    *events, last = read(response)
    assert [EventDocument.model_validate_json(one.data).seq for one in events] == seen
    assert [line for line in response.text.splitlines() if line.startswith("id: ")] == [f"id: {n}" for n in seen]
    assert last.name == "deleted"


def test_a_list_of_events_is_what_a_stream_of_them_is() -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        await client.post("/v1/sessions")
        for _ in range(3):
            await client.post(SAY, json={"text": "hi"})
        return await client.get(EVENTS + "?after=1&limit=1")

    assert [one["seq"] for one in asked(action).json()] == [2]


@pytest.mark.parametrize("place", ["x", "-1", "9" * 30, "٣"])
def test_a_last_event_id_that_is_none(place: str) -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        await client.post("/v1/sessions")
        return await client.get(EVENTS, headers=[(b"accept", b"text/event-stream"), (b"last-event-id", place.encode())])

    problem(asked(action), 422)


def test_a_stream_beats_while_nothing_happens_and_ends_when_the_service_closes() -> None:
    async def silence() -> AsyncIterator[bytes]:
        yield b"one"
        await asyncio.sleep(60)

    async def run() -> list[bytes]:
        closing, got = asyncio.Event(), []
        async for item in beating(silence(), closing, 0.01):
            got.append(item)
            if len(got) == 4:
                closing.set()
        return got

    got = asyncio.run(run())
    assert got[:2] == [BEAT, b"one"] and set(got[2:]) == {BEAT}


def test_a_fault_of_a_stream_reaches_whoever_reads_it() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"one"
        raise RuntimeError("broken")

    async def run() -> None:
        async for _ in beating(broken(), asyncio.Event()):
            pass

    with pytest.raises(RuntimeError):
        asyncio.run(run())
