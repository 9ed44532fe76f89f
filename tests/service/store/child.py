"""Run as a process by test_processes.py: `child.py URL TASK NAME`. Says `ready`, waits for a line, does the task."""

from __future__ import annotations

import asyncio
import sys

from latecomer.knowledge.errors import ConflictError
from latecomer.service.store.records import NewEvent
from latecomer.service.store.store import Store

ROUNDS = 12


async def forever(store: Store, name: str) -> None:
    """Append three events at a time and say the last number of each append that was acknowledged."""
    revision = 0
    while True:
        stored = await store.append("a", revision, [NewEvent(name, revision, str(revision + n)) for n in (1, 2, 3)])
        revision = stored[-1].seq
        print(revision, flush=True)


async def compete(store: Store, name: str) -> None:
    """Append ROUNDS events one by one; who is overtaken reads the revision again."""
    for number in range(ROUNDS):
        while True:
            try:
                await store.append("a", (await store.get("a")).revision, [NewEvent(name, number, "{}")])
                break
            except ConflictError:
                continue


async def main(url: str, task: str, name: str) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    store = await Store.open(url)
    await {"append": forever, "compete": compete, "open": lambda *_: store.ping()}[task](store, name)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
