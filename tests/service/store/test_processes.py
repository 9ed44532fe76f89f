"""Several processes on one database, and one that is killed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from latecomer.service.store.records import StoredEvent
from latecomer.service.store.store import Store

from .child import ROUNDS

CHILD = Path(__file__).with_name("child.py")


def start(url: str, task: str, name: str = "x") -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), url, task, name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def let_go(*children: subprocess.Popen[str]) -> None:
    """Once all are ready, all begin."""
    for child in children:
        assert child.stdout and child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write("\n")
        child.stdin.flush()


def finish(*children: subprocess.Popen[str]) -> None:
    for child in children:
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors


def with_session(url: str) -> None:
    async def create() -> None:
        store = await Store.open(url)
        await store.create("a", "")
        await store.close()

    asyncio.run(create())


def log(url: str) -> tuple[int, tuple[StoredEvent, ...]]:
    async def read() -> tuple[int, tuple[StoredEvent, ...]]:
        store = await Store.open(url)
        found = (await store.get("a")).revision, await store.events("a")
        await store.close()
        return found

    return asyncio.run(read())


def test_what_was_acknowledged_survives_kill(database_url: str) -> None:
    with_session(database_url)
    child = start(database_url, "append")
    let_go(child)
    assert child.stdout
    said = [int(child.stdout.readline()) for _ in range(40)]
    child.kill()
    said += [int(line) for line in child.communicate()[0].split()]
    assert child.returncode == -9
    revision, events = log(database_url)
    assert [(e.seq, e.data) for e in events] == [(n, str(n)) for n in range(1, revision + 1)]
    assert said == list(range(3, said[-1] + 1, 3))
    assert revision in (said[-1], said[-1] + 3), "at most the append in flight is more, and whole"


def test_two_processes_that_write_lose_nothing(database_url: str) -> None:
    with_session(database_url)
    children = start(database_url, "compete", "one"), start(database_url, "compete", "two")
    let_go(*children)
    finish(*children)
    revision, events = log(database_url)
    assert [e.seq for e in events] == list(range(1, revision + 1))
    for name in ("one", "two"):
        assert [e.turn for e in events if e.kind == name] == list(range(ROUNDS))
    assert revision == 2 * ROUNDS


def test_two_processes_migrate_at_once(database_url: str) -> None:
    children = start(database_url, "open"), start(database_url, "open")
    let_go(*children)
    finish(*children)
    with_session(database_url)
    assert log(database_url) == (0, ())
