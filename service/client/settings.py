"""Where the service is and who asks, from arguments or the environment."""

from __future__ import annotations

import os
from typing import Any

import httpx

from ...knowledge.errors import UsageError

DEFAULT_URL = "http://127.0.0.1:8421"
TIMEOUT_S = 120.0
"""A turn reads files and infers; what takes longer is stuck."""
CONNECT_S = 5.0
WATCH_SILENCE_S = 60.0
"""A stream without even a heartbeat for this long is dead."""


def arguments(base_url: str | None, token: str | None, timeout: float | httpx.Timeout | None) -> dict[str, Any]:
    """Arguments for an httpx client. Raises UsageError for an address that is none."""
    url = base_url or os.environ.get("LATECOMER_URL") or DEFAULT_URL
    secret = token or os.environ.get("LATECOMER_TOKEN") or ""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{url} is no address of a service", remedy=f"LATECOMER_URL is such as {DEFAULT_URL}.")
    return {
        "base_url": url,
        "headers": {"Authorization": f"Bearer {secret}"} if secret else {},
        "timeout": timeout if timeout is not None else httpx.Timeout(TIMEOUT_S, connect=CONNECT_S),
    }


def stream_timeout() -> httpx.Timeout:
    """Timeouts of a stream that may be silent between heartbeats."""
    return httpx.Timeout(WATCH_SILENCE_S, connect=CONNECT_S)
