"""Everything that fails becomes a problem document, with the request id and nothing of the inside."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from ...knowledge.errors import ConflictError, LatecomerError
from .. import logs
from ..problems import MEDIA_TYPE, NAMESPACE, FieldProblem, Problem, problem_of
from .dependencies import service_of

MOST_ERRORS = 20
_log = logs.logger()


def response(problem: Problem, scope: Scope, headers: dict[str, str] | None = None) -> Response:
    """The problem as the answer to a request."""
    given = problem.model_dump(exclude_none=True) | {
        "instance": str(scope.get("path", ""))[:200],
        "request_id": scope.get("state", {}).get("request_id", ""),
    }
    return Response(json.dumps(given), problem.status, headers, media_type=MEDIA_TYPE)


def of_status(status: int, detail: str = "", remedy: str | None = None) -> Problem:
    """A problem that its status says all about."""
    title = HTTPStatus(status).phrase
    return Problem(title=title, status=status, detail=detail or title, remedy=remedy)


def declared(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Problem responses of an endpoint, as OpenAPI declares them."""
    return {status: _declared(HTTPStatus(status).phrase) for status in statuses} | {"default": _declared("Problem")}


def install(app: FastAPI) -> None:
    """Let every error of the application become a problem."""
    app.add_exception_handler(LatecomerError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)


def fault(scope: Scope) -> Response:
    """The answer to a request that met a fault of the service."""
    problem = of_status(500, "the service met a fault of its own", "Report it with the request id.")
    return response(problem, scope)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LatecomerError)
    problem = problem_of(error)
    if problem.status >= 500:
        _log.error("failed", error=str(error), kind=type(error).__name__, exc_info=error)
    if isinstance(error, ConflictError):
        problem.revision = await _revision_now(request)
        problem.remedy = problem.remedy or "Read the session again and repeat the request with its revision."
    headers = {"Retry-After": "1"} if problem.status == 503 else None
    return response(problem, request.scope, headers)


async def _revision_now(request: Request) -> int | None:
    try:
        return (await service_of(request).get(str(request.path_params.get("session")))).revision
    except LatecomerError:
        return None


async def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problem = Problem(
        type=NAMESPACE + "invalid",
        title="The request is not of the form it has to be",
        status=422,
        detail="parts of the request are wrong",
        remedy="See errors, and /openapi.json for the form.",
        errors=[
            FieldProblem(where=".".join(str(part) for part in one["loc"])[:200], detail=str(one["msg"])[:400])
            for one in error.errors()[:MOST_ERRORS]
        ],
    )
    return response(problem, request.scope)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    remedies = {404: "See /openapi.json for what there is.", 405: "See the Allow header."}
    problem = of_status(error.status_code, str(error.detail), remedies.get(error.status_code))
    return response(problem, request.scope, dict(error.headers or {}))


def _declared(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
