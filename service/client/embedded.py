"""The service in this process, behind the same client: one code path with and without a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx

from .asynchronous import AsyncClient

if TYPE_CHECKING:
    from ..sessions.service import SessionService


@asynccontextmanager
async def embedded_client(
    database_url: str | None = None, workers: int = 0, *, service: SessionService | None = None
) -> AsyncIterator[AsyncClient]:
    """A client over a service opened here, or over the one given. `say_stream` works, its events come together;
    `watch` does not, since it never ends."""
    from ..api.app import create_app

    app = create_app(service, database_url=database_url, workers=workers)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with AsyncClient("http://embedded.localhost", transport=transport) as client:
            yield client
