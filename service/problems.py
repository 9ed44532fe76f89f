"""Errors as they cross HTTP: application/problem+json (RFC 9457), the same table for the API and its clients."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ..knowledge.errors import (
    ConflictError,
    EngineError,
    InputError,
    KnowledgeError,
    LatecomerError,
    NotFoundError,
    StoreError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
NAMESPACE = "urn:latecomer:problem:"
OF_ERRORS: dict[type[LatecomerError], tuple[str, int, str]] = {
    NotFoundError: ("not-found", 404, "Not found"),
    ConflictError: ("conflict", 409, "The session changed meanwhile"),
    UsageError: ("usage", 422, "The request contradicts itself"),
    InputError: ("input", 422, "The evidence cannot be used"),
    KnowledgeError: ("knowledge", 422, "A fact is outside the vocabulary"),
    EngineError: ("engine", 500, "Inference failed"),
    StoreError: ("store", 503, "The store does not answer"),
}
"""Last part of the type, status and title of each error; a subclass comes before its base."""
TOLD = (InputError, UsageError)
"""Errors whose place is in what the client sent; other places are inside the service and kept to its log."""


class FieldProblem(BaseModel):
    """One part of a request that is not as it has to be."""

    where: str = Field(description="Path to it, such as body.facts.0.kind")
    detail: str = Field(description="What is wrong with it")


class Problem(BaseModel):
    """What went wrong, where, and what to do."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "type": NAMESPACE + "not-found",
                    "title": "Not found",
                    "status": 404,
                    "detail": "no session has this id",
                    "instance": "/v1/sessions/7f3a",
                    "request_id": "0d6c3f0e9a4b4c51",
                    "remedy": "GET /v1/sessions lists them.",
                }
            ]
        },
    )

    type: str = Field(default="about:blank", description="Names the kind of problem; about:blank is the status alone")
    title: str = Field(default="", description="The kind of problem in words")
    status: int = Field(default=500, description="HTTP status")
    detail: str = Field(default="", description="What happened this time")
    instance: str = Field(default="", description="Path of the request")
    request_id: str = Field(default="", description="Id of the request; the log of the service has it too")
    remedy: str | None = Field(default=None, description="What to do about it")
    where: str | None = Field(default=None, description="File and place of evidence that cannot be used")
    revision: int | None = Field(default=None, description="Revision of the session now, after a conflict")
    errors: list[FieldProblem] | None = Field(default=None, description="Parts of the request that are wrong")


def problem_of(error: LatecomerError) -> Problem:
    """The problem that an error of the product becomes."""
    slug, status, title = next(
        (row for kind, row in OF_ERRORS.items() if isinstance(error, kind)), ("fault", 500, "Fault of the service")
    )
    return Problem(
        type=NAMESPACE + slug,
        title=title,
        status=status,
        detail=error.what,
        remedy=error.remedy or None,
        where=(error.where or None) if isinstance(error, TOLD) else None,
    )


def error_of(problem: Problem) -> LatecomerError:
    """The error that a problem stands for, as the service raised it."""
    slug = problem.type.removeprefix(NAMESPACE)
    kind = next((kind for kind, row in OF_ERRORS.items() if row[0] == slug), None) or _by_status(problem.status)
    parts = "; ".join(f"{part.where}: {part.detail}" for part in problem.errors or ())
    what = f"{problem.detail or problem.title}{f' ({parts})' if parts else ''}"
    return kind(what, where=problem.where or "", remedy=problem.remedy or "")


def _by_status(status: int) -> type[LatecomerError]:
    if status == 404:
        return NotFoundError
    if status == 413:
        return InputError
    if status == 503:
        return StoreError
    return UsageError if status < 500 else LatecomerError
