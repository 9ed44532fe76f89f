"""Session services for tests, over one mind: what it keeps at hand must not show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from latecomer.service.conversation.mind import Mind
from latecomer.service.diagnosis.local import local_reasoner
from latecomer.service.sessions.service import SessionService
from latecomer.service.store.store import Store

T = TypeVar("T")
LATE = "rank 2 input wait 140 ms, the others 20"
TABLE = "rank  input  compute  arrival\n0  20  180  200\n1  20  180  200\n2  140  180  320\n3  20  180  200"
EXAMPLE_JOB = Path(__file__).resolve().parents[3] / "service" / "example" / "job"


@cache
def shared_mind() -> Mind:
    return Mind(local_reasoner())


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[SessionService]:
    """A service that starts with nothing in memory but the mind."""
    service = SessionService(await Store.open(url), shared_mind(), lambda: None)
    try:
        yield service
    finally:
        await service.close()


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'sessions.db'}"


def with_service(url: str, action: Callable[[SessionService], Awaitable[T]]) -> T:
    """What an action gets of a service."""

    async def run() -> T:
        async with opened(url) as service:
            return await action(service)

    return asyncio.run(run())
