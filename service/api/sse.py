"""Server-sent events: how one is written, and a response that beats while nothing happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from .dependencies import EVENT_STREAM
from .metrics import Metrics

HEARTBEAT_S = 15.0
BEAT = b": beat\n\n"
AHEAD = 64
"""Events read ahead of a slow client."""


def event(name: str, data: str, seq: int | None = None) -> bytes:
    """One event; `data` is JSON without line breaks."""
    place = f"id: {seq}\n" if seq is not None else ""
    return f"{place}event: {name}\ndata: {data}\n\n".encode()


class EventStream(StreamingResponse):
    """A stream of events."""

    media_type = EVENT_STREAM

    def __init__(self, events: AsyncIterator[bytes], metrics: Metrics, headers: dict[str, str] | None = None) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(headers or {})})
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._metrics.stream():
            await super().__call__(scope, receive, send)


async def beating(
    events: AsyncIterator[bytes], closing: asyncio.Event, seconds: float = HEARTBEAT_S
) -> AsyncIterator[bytes]:
    """The events, with a comment whenever none came for `seconds`; ends early when the service closes."""
    queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue(AHEAD)
    tasks = [asyncio.create_task(_pump(events, queue)), asyncio.create_task(_close(closing, queue))]
    try:
        yield BEAT
        while True:
            try:
                item = await asyncio.wait_for(queue.get(), seconds)
            except TimeoutError:
                yield BEAT
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(events: AsyncIterator[bytes], queue: asyncio.Queue[bytes | BaseException | None]) -> None:
    try:
        async for one in events:
            await queue.put(one)
        await queue.put(None)
    except Exception as error:
        await queue.put(error)


async def _close(closing: asyncio.Event, queue: asyncio.Queue[bytes | BaseException | None]) -> None:
    await closing.wait()
    await queue.put(None)
