"""`latecomer serve`: the service over HTTP, until a signal ends it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..exit_codes import Exit


def run(host: str, port: int, *, database: str, workers: int) -> Exit:
    """Serve. 130 after Ctrl-C, 0 after SIGTERM. Raises LatecomerError where it cannot begin."""
    from ...service.api.serve import serve

    interrupted: list[int] = []

    def ready(address: str) -> None:
        print(
            f"latecomer serves {address}  (API: {address}/openapi.json; stop with Ctrl-C)", file=sys.stderr, flush=True
        )
        signal.signal(signal.SIGINT, _noting(interrupted, signal.getsignal(signal.SIGINT)))

    serve(host, port, database_url=database or None, workers=workers, on_ready=ready)
    return Exit.INTERRUPTED if interrupted else Exit.DIAGNOSIS


def _noting(seen: list[int], then: Any) -> Callable[[int, FrameType | None], None]:
    """A handler that remembers the signal and passes it on to the server's."""

    def handle(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        then(number, frame)

    return handle
