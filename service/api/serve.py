"""The API over TCP: one process, ended by SIGTERM or SIGINT after the requests at hand."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address

import uvicorn
from fastapi import FastAPI

from ...knowledge.errors import UsageError
from .. import logs
from .app import create_app

GRACE_S = 10
KEEP_ALIVE_S = 30
HEADER_BYTES = 64 * 1024
SWITCH_S = 0.001
"""How long a thread that computes keeps the others waiting: replies come before completions."""


def serve(
    host: str = "127.0.0.1",
    port: int = 8421,
    *,
    database_url: str | None = None,
    workers: int | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until told to stop; `on_ready` gets the address once requests are answered. Port 0 takes a free one.

    LATECOMER_TOKEN, where set, has to come with every request. Raises UsageError for a host other machines reach
    without a token or an address that cannot be taken, and StoreError where the store does not open.
    """
    token = os.environ.get("LATECOMER_TOKEN") or None
    local = _is_loopback(host)
    if not local and not token:
        raise UsageError(
            f"{host} can be reached by other machines, and no token is set",
            remedy="Set LATECOMER_TOKEN, or serve on 127.0.0.1.",
        )
    listening = _listen(host, port)
    sys.setswitchinterval(SWITCH_S)
    logs.to_stderr()
    app = create_app(database_url=database_url, workers=workers, token=token, loopback_only=local and not token)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",  # the server enters it, so that its errors arrive here
        server_header=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    bound = listening.getsockname()
    shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    ready = (lambda: on_ready(f"http://{shown}:{bound[1]}")) if on_ready else None
    server = _Server(config, app, ready)
    with listening:
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends open event streams before it waits for requests, and returns after a signal instead of raising it anew."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, on_ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._app = app
        self._opened = contextlib.AsyncExitStack()
        self._on_ready = on_ready

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with self._opened:
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._opened.enter_async_context(self._app.router.lifespan_context(self._app))
        await super().startup(sockets)
        if self._on_ready and not self.should_exit:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.closing.set()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        kept = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # taken from now on, though answered only once the service is open
    except (OSError, OverflowError) as error:
        listening.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {error}", remedy="Choose another --port.") from error
    return listening
