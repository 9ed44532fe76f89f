"""Where the service is: a server, or this process. It opens while the person types the first message."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from ...service.client.asynchronous import AsyncClient

T = TypeVar("T")


class Connection:
    """A client that opens once, in the background. `server`: default LATECOMER_URL, else the service in this process
    over `database`: default LATECOMER_DATABASE_URL, else a file of the user's own."""

    def __init__(self, server: str | None = None, database: str | None = None) -> None:
        self._server = server or os.environ.get("LATECOMER_URL") or None
        self._database = database
        self._stack = AsyncExitStack()
        self._opening: asyncio.Task[AsyncClient] | None = None

    async def __aenter__(self) -> Connection:
        self.opening()
        return self

    async def __aexit__(self, *_: object) -> None:
        opening = self.opening()
        if not opening.done():
            opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await self._stack.aclose()

    def opening(self) -> asyncio.Task[AsyncClient]:
        """The task that opens it."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return self._opening

    async def client(self) -> AsyncClient:
        """The client, once it is open. Raises UnreachableError, StoreError and UsageError."""
        return await asyncio.shield(self.opening())

    async def _open(self) -> AsyncClient:
        await asyncio.sleep(0)  # lets a prompt be drawn before imports hold the interpreter
        if self._server:
            from ...service.client.asynchronous import AsyncClient

            client = await self._stack.enter_async_context(AsyncClient(self._server))
            await client.version()
            return client
        embedded_client = await _beside(_embedded)
        return await self._stack.enter_async_context(embedded_client(self._database, 0))


async def _beside(work: Callable[[], T]) -> T:
    """The result of work in a thread that a program which ends does not wait for."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(cast(T, value))

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, daemon=True).start()
    return await result


def _embedded() -> Callable[[str | None, int], AbstractAsyncContextManager[AsyncClient]]:
    """Imports what takes long."""
    from ...service.api import app as _app  # noqa: F401
    from ...service.client.embedded import embedded_client
    from ...service.sessions import service as _service  # noqa: F401

    return embedded_client
