"""Diagnoses are completed once, whoever asks; inference on equal facts is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from latecomer.knowledge.errors import NotFoundError
from latecomer.knowledge.facts import Fact, Source
from latecomer.rules.model import Inference
from latecomer.service.conversation.mind import Mind, View
from latecomer.service.diagnosis.local import local_reasoner
from latecomer.service.diagnosis.reasoner import Reasoner
from latecomer.service.diagnosis.schemas import Diagnosis
from latecomer.service.sessions.engine import Remembering
from latecomer.service.sessions.service import SessionService
from latecomer.service.store.store import Store

from .opened import LATE, sqlite


class Counting(Mind):
    """Counts what is completed."""

    def __init__(self) -> None:
        super().__init__(local_reasoner())
        self.completed: list[str] = []

    def diagnosis(self, view: View) -> Diagnosis:
        self.completed.append(view.identity.id)
        return super().diagnosis(view)


def test_a_diagnosis_is_completed_once_whoever_asks(tmp_path: Path) -> None:
    async def run() -> None:
        mind = Counting()
        service = SessionService(await Store.open(sqlite(tmp_path)), mind, lambda: None)
        session = (await service.create()).id
        reply = await service.say(session, LATE)
        mind.completed.clear()
        documents = await asyncio.gather(*(service.diagnosis(session, n) for n in (None, None, 1, 1)))
        assert mind.completed == [reply.diagnosis.id] and len({d.model_dump_json() for d in documents}) == 1
        assert await service.diagnosis(session) == documents[0] and len(mind.completed) == 1
        await service.close()

    asyncio.run(run())


def test_who_stops_waiting_does_not_stop_the_others(tmp_path: Path) -> None:
    async def run() -> None:
        service = SessionService(await Store.open(sqlite(tmp_path)), Counting(), lambda: None)
        session = (await service.create()).id
        await service.say(session, LATE)
        one, other = (asyncio.create_task(service.diagnosis(session)) for _ in range(2))
        await asyncio.sleep(0.02)
        one.cancel()
        assert (await other).counterfactuals == "complete"
        with pytest.raises(asyncio.CancelledError):
            await one
        await service.close()

    asyncio.run(run())


def test_a_revision_of_another_rule_book_is_not_made_up(tmp_path: Path) -> None:
    async def run() -> None:
        service = SessionService(await Store.open(sqlite(tmp_path)), Mind(local_reasoner()), lambda: None)
        session = (await service.create()).id
        service._completion.want = lambda *_: None  # type: ignore[method-assign]
        first = await service.say(session, LATE)
        await service.close()
        other = Mind(Reasoner(local_reasoner().knowledge, "0" * 64, local_reasoner().infer))
        service = SessionService(await Store.open(sqlite(tmp_path)), other, lambda: None)
        with pytest.raises(NotFoundError, match="another rule book"):
            await service.diagnosis(session, 1)
        assert (await service.diagnosis(session)).id != first.diagnosis.id
        await service.close()

    asyncio.run(run())


def test_equal_facts_are_inferred_once() -> None:
    ran: list[int] = []

    def run(batch: Sequence[Sequence[Fact]]) -> list[Inference]:
        ran.append(len(batch))
        return list(local_reasoner().infer(batch))

    fill = local_reasoner().knowledge.fill
    one = fill({"fact": "answered", "question": "arrivals", "scope": "job"}, {})
    other = fill({"fact": "answered", "question": "stage_times", "scope": "job"}, {})
    remembering = Remembering(run)
    first = remembering([[one, other], [other, one], [one]])
    elsewhere = replace(one, source=Source("turn 9"))
    assert remembering([[other, elsewhere], [elsewhere]]) == [first[0], first[2]]
    assert ran == [2] and first[0] == first[1]
    remembering([[]])
    remembering([[]])
    assert ran == [2, 1, 1], "an engine that does not answer has to be noticed"
