"""The API over ASGI, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from latecomer.service.api.app import create_app

from .fake import FakeService

MEDIA_TYPE = "application/problem+json"
Ask = Callable[..., Awaitable[httpx.Response]]


def asked(action: Callable[[httpx.AsyncClient], Awaitable[Any]], service: Any = None, **options: Any) -> Any:
    """What an action gets that asks an API over a service in memory."""

    async def run() -> Any:
        over: Any = service or FakeService()
        app = create_app(over, **options)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await action(client)

    return asyncio.run(run())


def problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem of a response, which has to have this status and the form of all problems."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    given = response.json()
    assert given["status"] == status and given["title"] and given["detail"]
    assert given["request_id"] == response.headers["x-request-id"]
    return given
