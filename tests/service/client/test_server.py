"""A real server process over TCP, and the service embedded in this one: the same conversation, the same document."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from latecomer.knowledge.errors import ConflictError, InputError, NotFoundError, UnreachableError, UsageError
from latecomer.service.api.serve import serve
from latecomer.service.client import Client
from latecomer.service.client.embedded import embedded_client
from latecomer.service.diagnosis.schemas import Diagnosis
from latecomer.service.sessions.schemas import EventDocument, Reply

TABLE = "| rank | input ms | compute ms |\n|---|---|---|\n| 0 | 20 | 180 |\n| 1 | 20 | 180 |\n| 2 | 140 | 180 |\n"
SERVE = """
import sys
from latecomer.service.api.serve import serve
serve(port=int(sys.argv[2]), database_url=sys.argv[1], on_ready=lambda url: print(url, flush=True))
"""


def url_of(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/sessions.db"


@contextmanager
def server(folder: Path, port: int = 0, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Address and process of a server on a database in this folder."""
    command = [sys.executable, "-c", SERVE, url_of(folder), str(port)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LATECOMER_")}
    with (
        (folder / "log").open("a") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=kept | environment) as process,
    ):
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def same(one: Diagnosis, other: Diagnosis) -> bool:
    apart = {"session", "created_at", "supersedes"}
    return one.model_dump(exclude=apart) == other.model_dump(exclude=apart)


def test_a_conversation_over_tcp_survives_a_restart_and_equals_the_embedded_one(tmp_path: Path) -> None:
    with server(tmp_path) as (url, process), Client(url) as client:
        session = client.create_session("job").id
        seen: list[EventDocument] = []
        watcher = threading.Thread(target=lambda: seen.extend(Client(url).watch(session)))
        watcher.start()
        assert client.attach_text(session, TABLE, label="table").diagnosis.leading is not None
        *said, reply, diagnosis = client.say_stream(session, "how sure are you?")
        assert isinstance(reply, Reply) and isinstance(diagnosis, Diagnosis) and tuple(said) == reply.said
        events = client.events(session)
        with pytest.raises(ConflictError):
            client.say(session, "4 ranks", expected=0)
        client.delete_session(client.create_session().id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    with server(tmp_path, int(url.rpartition(":")[2])) as (url, _), Client(url) as client:
        assert client.events(session) == events and client.diagnosis(session) == diagnosis
        client.say(session, "4 ranks")
        events = client.events(session)
        for _ in range(300):
            if len(seen) == len(events):
                break
            time.sleep(0.1)
        client.delete_session(session)
        watcher.join(30)
    assert not watcher.is_alive() and tuple(seen) == events

    async def embedded() -> Diagnosis:
        (tmp_path / "other").mkdir()
        async with embedded_client(url_of(tmp_path / "other")) as client:
            session = (await client.create_session("job")).id
            await client.attach_text(session, TABLE, label="table")
            return [one async for one in client.say_stream(session, "how sure are you?")][-1]  # pyright: ignore[reportReturnType]

    assert same(asyncio.run(embedded()), diagnosis)


def test_a_server_with_a_token(tmp_path: Path) -> None:
    with server(tmp_path, LATECOMER_TOKEN="secret") as (url, _):
        with Client(url) as client, pytest.raises(UsageError, match="token"):
            client.sessions()
        with Client(url, token="secret") as client:
            assert client.ready().state == "ready" and client.sessions().sessions == ()


def test_files_go_up_and_are_forgotten(tmp_path: Path) -> None:
    (tmp_path / "steps.md").write_text(TABLE)

    async def run() -> None:
        async with embedded_client(url_of(tmp_path)) as client:
            session = (await client.create_session()).id
            reply = await client.attach_files(session, [tmp_path / "steps.md"])
            assert reply.diagnosis.leading is not None and reply.diagnosis.leading.ranks == (2,)
            (evidence,) = await client.evidence(session)
            assert evidence.label == "steps.md"
            assert "/" not in str([fact.source for fact in await client.facts(session)])
            (tmp_path / "none.bin").write_bytes(bytes(range(256)))
            with pytest.raises(InputError) as caught:
                await client.attach_files(session, [tmp_path / "none.bin"])
            assert str(tmp_path) not in str(caught.value) and "latecomer-upload" not in str(caught.value)

    asyncio.run(run())


def test_a_host_that_others_reach_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LATECOMER_TOKEN", raising=False)
    with pytest.raises(UsageError, match="LATECOMER_TOKEN"):
        serve("0.0.0.0")


def test_nobody_listens(tmp_path: Path) -> None:
    with server(tmp_path) as (url, process):
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        with Client(url) as client, pytest.raises(UnreachableError):
            client.ready()


def test_every_method_against_the_service(tmp_path: Path) -> None:
    async def run() -> None:
        async with embedded_client(url_of(tmp_path)) as client:
            session = (await client.create_session("mine")).id
            await client.attach_text(session, TABLE)
            assert (await client.session(session)).title and (await client.find_session()).id == session
            assert [one.id for one in (await client.sessions()).sessions] == [session]
            assert (await client.history(session))[-1].headline == (await client.diagnosis(session)).headline
            assert await client.findings(session) and (await client.how(session)).causes[0].cause == "input_delay"
            questions = await client.questions(session)
            assert (await client.why(session, questions[0].id)).question.id == questions[0].id
            assert (await client.why_not(session, "compute_imbalance")).leader == "input_delay"
            before = await client.session(session)
            assert (await client.what_if(session, text="rank 2 input is 20 ms")).before.cause == "input_delay"
            assert await client.session(session) == before
            (evidence,) = await client.evidence(session)
            await client.withdraw(session, evidence.id)
            assert (await client.evidence(session))[0].withdrawn
            assert (await client.rule((await client.rules())[0].id)).why and (await client.version()).api == "v1"
            await client.delete_session(session)
            with pytest.raises(NotFoundError):
                await client.session(session)

    asyncio.run(run())


def test_a_stream_ends_when_its_client_goes(tmp_path: Path) -> None:
    with server(tmp_path) as (url, _), Client(url) as client, httpx.Client(base_url=url) as raw:

        def streams() -> float:
            lines = raw.get("/metrics").text.splitlines()
            return next(float(line.split()[1]) for line in lines if line.startswith("latecomer_open_streams"))

        events = client.watch(client.create_session().id)
        assert next(events).seq == 1 and streams() == 1
        events.close()  # pyright: ignore[reportAttributeAccessIssue]
        for _ in range(100):
            if not streams():
                break
            time.sleep(0.1)
        assert streams() == 0
