"""The application: routers, middleware, and the service it opens where none is given."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.routing import APIRoute

from . import diagnosis, events, evidence, health, messages, openapi, problems, questions, rulebook, sessions
from .limits import Limits
from .metrics import Metrics
from .middleware import BodyLimit, Edge, Guard

if TYPE_CHECKING:
    from ..sessions.service import SessionService

ROUTERS = (sessions, messages, evidence, diagnosis, questions, events, rulebook, health)


def create_app(
    service: SessionService | None = None,
    *,
    database_url: str | None = None,
    workers: int | None = None,
    limits: Limits | None = None,
    token: str | None = None,
    loopback_only: bool = False,
) -> FastAPI:
    """The API over a service, or over one that it opens and closes itself.

    With `token` every request but /livez and /readyz has to bear it; with `loopback_only` requests from pages of other
    sites are refused. `workers` are engine processes; 0 or None: inference in a thread of this process.
    """
    app = FastAPI(
        title="latecomer",
        lifespan=functools.partial(_lifespan, service, database_url, workers or 0),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    app.state.limits = limits or Limits()
    app.state.metrics = Metrics()
    app.state.closing = asyncio.Event()
    app.state.service = service
    for module in ROUTERS:
        app.include_router(module.router)
    problems.install(app)
    app.add_middleware(BodyLimit, limits=app.state.limits)
    app.add_middleware(Guard, token=token, loopback_only=loopback_only)
    app.add_middleware(Edge, metrics=app.state.metrics)
    openapi.install(app)
    return app


@asynccontextmanager
async def _lifespan(
    given: SessionService | None, database_url: str | None, workers: int, app: FastAPI
) -> AsyncIterator[None]:
    if given is not None:
        try:
            yield
        finally:
            app.state.closing.set()
        return
    from ..sessions.service import SessionService

    app.state.service = service = await SessionService.open(database_url, workers=workers)
    try:
        yield
    finally:
        app.state.closing.set()
        await service.close()


def _operation_id(route: APIRoute) -> str:
    return route.name
