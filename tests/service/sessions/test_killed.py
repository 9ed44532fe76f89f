"""A server process that is killed while messages come in: whatever it acknowledged is there after it."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from latecomer.knowledge.errors import LatecomerError
from latecomer.service.client import AsyncClient
from latecomer.service.sessions.schemas import EventDocument, Reply
from latecomer.service.sessions.service import SessionService

from .opened import opened

SERVE = """
import sys
from latecomer.service.api.serve import serve
serve(port=0, database_url=sys.argv[1], on_ready=lambda url: print(url, flush=True))
"""
SESSIONS = 3
ACKNOWLEDGED = 9
"""Replies after which the process is killed, with other messages under way."""


@contextmanager
def server(database_url: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Address and process of a server."""
    command = [sys.executable, "-c", SERVE, database_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


async def talk_until_killed(url: str, process: subprocess.Popen[str]) -> dict[str, list[tuple[str, Reply]]]:
    """Messages with their replies, by session, until nobody answers any more."""
    async with AsyncClient(url) as client:
        told: dict[str, list[tuple[str, Reply]]] = {(await client.create_session()).id: [] for _ in range(SESSIONS)}

        async def talk(session: str) -> None:
            for number in itertools.count():
                text = f"rank {number} input wait {20 + number} ms"
                try:
                    told[session].append((text, await client.say(session, text)))
                except LatecomerError:
                    return
                if sum(map(len, told.values())) == ACKNOWLEDGED:
                    process.kill()

        await asyncio.gather(*map(talk, told))
        return told


async def stored(url: str, sessions: list[str]) -> dict[str, tuple[EventDocument, ...]]:
    """Logs as another process finds them. Each session can go on."""
    async with opened(url) as service:
        logs = {session: await service.events(session) for session in sessions}
        for session, log in logs.items():
            await goes_on(service, session, log)
        return logs


async def goes_on(service: SessionService, session: str, log: tuple[EventDocument, ...]) -> None:
    assert (await service.get(session)).revision == len(log)
    assert (await service.history(session))[-1].id == (await service.diagnosis(session)).id
    assert (await service.say(session, "why?")).revision > len(log)


def test_every_acknowledged_reply_is_there_after_kill(database_url: str) -> None:
    with server(database_url) as (url, process):
        told = asyncio.run(talk_until_killed(url, process))
        assert process.wait(20) == -9
    logs = asyncio.run(stored(database_url, list(told)))
    assert sum(map(len, told.values())) >= ACKNOWLEDGED
    for session, replies in told.items():
        log = logs[session]
        assert [e.seq for e in log] == list(range(1, len(log) + 1))
        messages = [(e.data["text"], e.turn) for e in log if e.kind == "message_received"]
        assert messages[: len(replies)] == [(text, reply.turn) for text, reply in replies]
        assert len(messages) - len(replies) <= 1, "at most the turn in flight is more"
        for text, reply in replies:
            turn = [e for e in log if e.turn == reply.turn]
            assert turn[-1].seq == reply.revision and turn[-1].kind == "replied", text
            assert turn[-1].data["said"] == [[s.kind, s.text, s.ref] for s in reply.said]
        assert [e.turn for e in log if e.kind == "replied"] == [turn for _, turn in messages], "turns are whole"
