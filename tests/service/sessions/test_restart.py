"""A session is its log: another service over the same store sees the same, and two of them lose nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from latecomer.knowledge.errors import ConflictError, InputError, KnowledgeError, NotFoundError
from latecomer.service.sessions.schemas import FactInput
from latecomer.service.sessions.service import SessionService

from .opened import EXAMPLE_JOB, LATE, TABLE, opened, with_service

SAID = ("the job got 40 % slower, 4 gpus", TABLE, "why?", "don't know", "the input wait of rank 1 is 90 ms", "undo")


async def known(service: SessionService, session: str) -> dict[str, Any]:
    """All that clients can read of a session."""
    live = await service._now(session)
    return {
        "session": await service.get(session),
        "state": live.state,
        "evidence": await service.evidence(session),
        "facts": await service.facts(session),
        "findings": await service.findings(session),
        "questions": await service.questions(session),
        "history": await service.history(session),
        "diagnosis": await service.diagnosis(session),
        "events": await service.events(session),
    }


def test_a_conversation_survives_a_restart(database_url: str) -> None:
    async def talk() -> tuple[str, dict[str, Any]]:
        async with opened(database_url) as service:
            session = (await service.create()).id
            for text in SAID:
                await service.say(session, text)
            assert (await service._now(session)).state.question is not None
            await service.attach_files(session, [EXAMPLE_JOB], label="example")
            return session, await known(service, session)

    async def again(session: str) -> dict[str, Any]:
        async with opened(database_url) as service:
            return await known(service, session)

    session, before = asyncio.run(talk())
    after = asyncio.run(again(session))
    for name, value in before.items():
        assert after[name] == value, name
    assert len(before["evidence"]) >= 3 and before["diagnosis"].session == session


def test_the_open_question_can_be_answered_after_a_restart(database_url: str) -> None:
    async def ask() -> tuple[str, str]:
        async with opened(database_url) as service:
            session = (await service.create()).id
            reply = await service.say(session, LATE)
            assert reply.question is not None
            return session, reply.question.id

    async def answer(session: str) -> list[str]:
        async with opened(database_url) as service:
            await service.say(session, "1")
            return [e.data["question"] for e in await service.events(session) if e.kind == "question_closed"]

    session, question = asyncio.run(ask())
    assert asyncio.run(answer(session)) == [question]


def test_one_of_two_writers_at_the_same_revision_gets_a_conflict(database_url: str) -> None:
    async def race(one: SessionService, other: SessionService) -> None:
        session = await one.create()
        texts = (LATE, "8 ranks, 40 steps")
        said = [s.say(session.id, t, expected=session.revision) for s, t in zip((one, other), texts, strict=True)]
        results = await asyncio.gather(*said, return_exceptions=True)
        refused = [n for n, r in enumerate(results) if isinstance(r, ConflictError)]
        assert len(refused) == 1 and not isinstance(results[1 - refused[0]], BaseException), results
        loser = (one, other)[refused[0]]
        again = await loser.say(session.id, texts[refused[0]], expected=(await loser.get(session.id)).revision)
        assert again.revision == (await one.get(session.id)).revision
        assert [e.data["text"] for e in await other.events(session.id) if e.kind == "message_received"] == [
            texts[1 - refused[0]],
            texts[refused[0]],
        ]
        assert await known(one, session.id) == await known(other, session.id)

    asyncio.run(both(database_url, race))


def test_writers_that_expect_nothing_are_all_applied(database_url: str) -> None:
    async def race(one: SessionService, other: SessionService) -> None:
        session = (await one.create()).id
        texts = [f"rank {rank} input wait {20 + rank} ms" for rank in range(6)]
        replies = await asyncio.gather(*((one, other)[n % 2].say(session, t) for n, t in enumerate(texts)))
        events = await one.events(session)
        assert sorted(e.data["text"] for e in events if e.kind == "message_received") == texts
        assert [e.seq for e in events] == list(range(1, len(events) + 1))
        assert sorted(r.turn for r in replies) == list(range(1, 7))
        assert len({e.id for e in await other.evidence(session)}) == 6
        assert await known(one, session) == await known(other, session)

    asyncio.run(both(database_url, race))


def test_a_watcher_sees_past_events_new_ones_and_those_of_another_service(database_url: str) -> None:
    async def watch(one: SessionService, other: SessionService) -> None:
        session = (await one.create()).id
        last = (await one.say(session, LATE)).revision
        seen: asyncio.Queue[int] = asyncio.Queue()

        async def read() -> None:
            async for event in one.watch(session, after=1):
                seen.put_nowait(event.seq)

        task = asyncio.create_task(read())
        told = [await asyncio.wait_for(seen.get(), 20) for _ in range(last - 1)]
        for service, text in ((one, "4 ranks"), (other, "why?")):
            now = (await service.say(session, text)).revision
            told += [await asyncio.wait_for(seen.get(), 20) for _ in range(now - last)]
            last = now
        assert told == list(range(2, last + 1))
        await one.delete(session)
        await asyncio.wait_for(task, 20)
        assert seen.empty()

    asyncio.run(both(database_url, watch))


def test_what_is_refused_leaves_no_trace(database_url: str) -> None:
    async def refuse(service: SessionService) -> None:
        session = (await service.create()).id
        await service.say(session, LATE)
        before = await known(service, session)
        for attempt in (
            service.attach_text(session, "once upon a time"),
            service.attach_tables(session, b"latecomer-tables\x01 not so"),
            service.attach_facts(session, [FactInput(kind="gate", values={"collectives": "upside down"})]),
            service.attach_files(session, [EXAMPLE_JOB / "absent.json"]),
            service.withdraw(session, "e9"),
            service.revise(session, "e9", LATE),
        ):
            with pytest.raises((InputError, KnowledgeError, NotFoundError)):
                await attempt
        assert await known(service, session) == before

    with_service(database_url, refuse)


async def both(url: str, action: Any) -> None:
    """An action with two services on one database."""
    async with opened(url) as one, opened(url) as other:
        await action(one, other)
