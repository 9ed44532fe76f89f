"""Every way to bring evidence in, to take it back, and to ask about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from latecomer.knowledge import load
from latecomer.knowledge.errors import InputError, KnowledgeError, UsageError
from latecomer.service.sessions import inputs
from latecomer.service.sessions.attach import tables_of
from latecomer.service.sessions.schemas import FactInput
from latecomer.service.sessions.service import SessionService
from latecomer.traces.codec import encode
from latecomer.traces.limits import Limits
from latecomer.traces.readers.table import read_text

from .opened import EXAMPLE_JOB, LATE, TABLE, shared_mind, sqlite, with_service

GATE = FactInput(
    kind="gate",
    values={"collectives": "matched", "ranks": "complete", "method": "sequence", "paired": 100, "unpaired": 0},
)
CONCLUDED = sorted(name for name, kind in load().facts.items() if kind.derived or kind.pass_ == 2)


def test_tables_files_and_text_of_one_job_are_the_same_evidence(tmp_path: Path) -> None:
    (tmp_path / "steps.md").write_text(TABLE)

    async def attach(service: SessionService) -> None:
        found = []
        data, label, _ = tables_of([str(tmp_path / "steps.md")])
        for way in (
            lambda s: service.attach_files(s, [tmp_path / "steps.md"]),
            lambda s: service.attach_tables(s, data, label=label),
            lambda s: service.attach_text(s, TABLE),
            lambda s: service.say(s, TABLE),
        ):
            session = (await service.create()).id
            reply = await way(session)
            (held,) = await service.evidence(session)
            assert held.id == "e1" and held.summary and not held.withdrawn
            leading = reply.diagnosis.leading
            assert leading is not None
            found.append((leading.ranks, leading.cause, reply.diagnosis.verdict, leading.probability))
        assert found[0][:2] == ((2,), "input_delay") and len(set(found)) == 1

    with_service(sqlite(tmp_path), attach)


def test_traces_are_kept_as_tables_that_the_files_are_not_needed_for(tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    for file in EXAMPLE_JOB.iterdir():
        (job / file.name).write_bytes(file.read_bytes())

    async def attach(service: SessionService) -> tuple[str, str]:
        session = (await service.create()).id
        reply = await service.attach_files(session, [job], label="mine")
        assert reply.diagnosis.leading is not None and reply.diagnosis.leading.ranks == (2,)
        return session, (await service.diagnosis(session)).id

    session, diagnosis = with_service(sqlite(tmp_path), attach)
    for file in job.iterdir():
        file.unlink()

    async def again(service: SessionService) -> None:
        assert (await service.diagnosis(session)).id == diagnosis
        assert (await service.evidence(session))[0].label == "mine"
        reply = await service.say(session, "it also throttled: rank 2 ran at 900 MHz")
        assert reply.diagnosis.leading is not None

    with_service(sqlite(tmp_path), again)


def test_facts_are_checked_and_count(tmp_path: Path) -> None:
    async def attach(service: SessionService) -> None:
        session = (await service.create()).id
        await service.say(session, LATE)
        assert (await service.diagnosis(session)).gate.collectives == "unknown"
        reply = await service.attach_facts(session, [GATE], label="checked by hand")
        assert [f.kind for f in reply.facts] == ["gate"]
        document = await service.diagnosis(session)
        assert document.gate.collectives == "matched" and document.revision == reply.diagnosis.revision == 2

    with_service(sqlite(tmp_path), attach)


@pytest.mark.parametrize("kind", CONCLUDED)
def test_facts_that_only_rules_make_are_refused(kind: str) -> None:
    fields = load().facts[kind].fields
    plain = {"str": "job", "int": 1, "float": 1.0, "bool": True}
    values = {name: field.values[0] if field.values else plain[field.type] for name, field in fields.items()}
    with pytest.raises(KnowledgeError, match="concluded"):
        inputs.checked_facts([FactInput(kind=kind, values=values)], shared_mind().knowledge)


def test_tables_that_expand_too_far_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = encode(read_text(TABLE, name="x", world_size=None))
    monkeypatch.setattr(inputs, "TABLES_LIMITS", Limits(max_bytes=100))

    async def attach(service: SessionService) -> None:
        session = (await service.create()).id
        with pytest.raises(InputError, match="expand"):
            await service.attach_tables(session, data)
        assert await service.evidence(session) == ()

    with_service(sqlite(tmp_path), attach)


def test_withdrawn_and_revised_evidence_stays_in_the_log_and_does_not_count(tmp_path: Path) -> None:
    async def change(service: SessionService) -> None:
        session = (await service.create()).id
        first = await service.say(session, LATE)
        revised = await service.revise(session, "e1", "rank 1 input wait 140 ms, the others 20")
        assert first.diagnosis.leading is not None and first.diagnosis.leading.ranks == (2,)
        assert revised.diagnosis.leading is not None and revised.diagnosis.leading.ranks == (1,)
        old, new = await service.evidence(session)
        assert old.withdrawn and not new.withdrawn and new.replaces == old.id
        gone = await service.withdraw(session, new.id)
        assert gone.diagnosis.leading is None or gone.diagnosis.leading.ranks != (1,)

    with_service(sqlite(tmp_path), change)


def test_the_history_is_a_chain_of_documents_that_stay(tmp_path: Path) -> None:
    async def talk(service: SessionService) -> None:
        session = (await service.create()).id
        for text in (LATE, "all ranks run the same collectives in the same order", "undo"):
            await service.say(session, text)
        history = await service.history(session)
        assert [h.revision for h in history] == [1, 2, 3]
        assert [h.supersedes for h in history] == [None, history[0].id, history[1].id]
        documents = [await service.diagnosis(session, h.revision) for h in history]
        assert [(d.id, d.revision, d.supersedes, d.verdict) for d in documents] == [
            (h.id, h.revision, h.supersedes, h.verdict) for h in history
        ]
        assert [d.gate.collectives for d in documents] == ["unknown", "matched", "unknown"]
        assert {d.counterfactuals for d in documents} == {"complete"}
        assert {d.session for d in documents} == {session}
        assert await service.diagnosis(session) == documents[-1]

    with_service(sqlite(tmp_path), talk)


def test_what_if_stores_nothing(tmp_path: Path) -> None:
    async def suppose(service: SessionService) -> None:
        session = (await service.create()).id
        await service.say(session, LATE)
        before = await service.get(session), await service.events(session), await service.diagnosis(session)
        supposed = await service.what_if(session, text="rank 2 input wait 20 ms")
        assert supposed.before.cause == "input_delay" and supposed.after.cause != "input_delay"
        given = await service.what_if(session, [GATE])
        assert given.diagnosis.gate.collectives == "matched" and [f.kind for f in given.supposed] == ["gate"]
        with pytest.raises(UsageError):
            await service.what_if(session, text="the quick brown fox")
        assert before == (await service.get(session), await service.events(session), await service.diagnosis(session))

    with_service(sqlite(tmp_path), suppose)


def test_why_how_and_why_not(tmp_path: Path) -> None:
    async def ask(service: SessionService) -> None:
        session = (await service.create()).id
        reply = await service.say(session, TABLE)
        assert reply.question is not None
        why = await service.why(session)
        assert why.question.id == reply.question.id and any(e.raises or e.lowers for e in why.effects)
        assert sum(e.probability for e in why.effects) == pytest.approx(1)
        how = await service.how(session)
        top = how.causes[0]
        assert top.cause == "input_delay" and sum(a.weight_db for a in top.arguments) == pytest.approx(top.weight_db)
        rules = {a.rule for c in how.causes for a in c.arguments}
        assert rules <= {f.rule for f in await service.findings(session)}
        against = await service.why_not(session, "compute_imbalance")
        assert against.leader == "input_delay" and against.against
        for wrong in (service.why(session, "no_such"), service.how(session, "rank:9"), service.why_not(session, "no")):
            with pytest.raises(UsageError):
                await wrong

    with_service(sqlite(tmp_path), ask)
