"""Around every request: its id, its log line and figures, who may ask, and how long its body may be."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from urllib.parse import urlsplit

import structlog
from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import logs
from . import problems
from .limits import Limits
from .metrics import Metrics

SAFE_ID = re.compile(r"[A-Za-z0-9._\-]{1,64}")
OPEN_PATHS = ("/livez", "/readyz")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_log = logs.logger()


class Edge:
    """Gives a request its id, answers faults, logs and counts. The outermost of all."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if SAFE_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id)
        began = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, answer)
            except ClientDisconnect:
                _log.info("client went away")
            except Exception as error:
                _log.error("fault", error=type(error).__name__, exc_info=error)
                if not answer.status:
                    await problems.fault(scope)(scope, receive, answer)
            finally:
                self._record(scope, answer, time.perf_counter() - began)

    def _record(self, scope: Scope, answer: _Answer, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 8 else "other"
        self._metrics.answered(route, method, answer.status, None if answer.streams else seconds)
        _log.info("request", method=method, route=route, status=answer.status, ms=round(seconds * 1e3, 1))


class _Answer:
    """`send` that adds the request id and remembers the status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0
        self.streams = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._request_id
            headers["X-Content-Type-Options"] = "nosniff"
            self.status = message["status"]
            self.streams = headers.get("content-type", "").startswith("text/event-stream")
        await self._send(message)


class Guard:
    """Who may ask: whoever has the token or, without one, whoever does not come from a page of another site.

    `/livez` and `/readyz` are open.
    """

    def __init__(self, app: ASGIApp, token: str | None, loopback_only: bool) -> None:
        self._app = app
        self._token = token.encode() if token else None
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = None
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            headers = Headers(scope=scope)
            refused = self._unknown(headers) if self._token else self._foreign(headers)
        if refused:
            challenge = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else None
            await problems.response(refused, scope, challenge)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _unknown(self, headers: Headers) -> problems.Problem | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(given.strip().encode(), self._token or b"")
        if known and scheme.lower() == "bearer":
            return None
        return problems.of_status(401, "the token is missing or wrong", "Send it as Authorization: Bearer TOKEN.")

    def _foreign(self, headers: Headers) -> problems.Problem | None:
        if not self._loopback_only:
            return None
        origin = headers.get("origin")
        if _is_loopback(f"//{headers.get('host', '')}") and (origin is None or _is_loopback(origin)):
            return None
        return problems.of_status(403, "only programs of this machine may ask", "Start the service with a token.")


class BodyLimit:
    """413 once a body grows beyond the limit of its path, whether or not it says its length before."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limits.of(scope["path"])
        length = Headers(scope=scope).get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 18 or int(length) > limit:
            await problems.response(problems.of_status(413, _too_long(limit)), scope)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, _too_long(limit))
            return message

        await self._app(scope, counted, send)


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:
        return False


def _too_long(limit: int) -> str:
    return f"the body is longer than the {limit} bytes taken here"
