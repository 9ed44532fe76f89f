"""Evidence: attach facts, pasted text, tables or files; list it, take it back, correct it."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from ..sessions.schemas import EvidenceDocument, Reply
from .bodies import Correction, Facts, Pasted
from .dependencies import (
    Counted,
    EvidenceId,
    Expected,
    JsonOnly,
    Label,
    Service,
    SessionId,
    TheLimits,
    tagged,
)
from .problems import declared
from .uploads import received, tables_of

router = APIRouter(prefix="/v1/sessions/{session}/evidence", tags=["evidence"])
PROBLEMS = declared(404, 409, 412, 413, 415, 422, 503)


def _body(content: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": content}}


TEXT_BODY = _body(
    {
        "text/plain": {"schema": {"type": "string", "minLength": 1}, "example": "rank step_ms\n0 300\n1 301\n"},
        "application/json": {"schema": {"$ref": "#/components/schemas/Pasted"}},
    }
)
TABLES_BODY = _body({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}})
FILES_BODY = _body(
    {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                "required": ["files"],
            }
        }
    }
)


@router.get("", responses=declared(404, 422, 503))
async def list_evidence(service: Service, session: SessionId) -> tuple[EvidenceDocument, ...]:
    """All evidence of a session in the order it came, that which was taken back too."""
    return await service.evidence(session)


@router.post("/facts", dependencies=[JsonOnly], responses=PROBLEMS)
async def attach_facts(
    service: Service,
    metrics: Counted,
    response: Response,
    session: SessionId,
    body: Facts,
    expected: Expected,
    label: Label = "",
) -> Reply:
    """Attach typed facts."""
    reply = await service.attach_facts(session, body.facts, label=label, expected=expected)
    metrics.turn("facts")
    return tagged(response, reply)


@router.post("/text", openapi_extra=TEXT_BODY, responses=PROBLEMS)
async def attach_text(
    service: Service,
    metrics: Counted,
    request: Request,
    response: Response,
    session: SessionId,
    expected: Expected,
    label: Label = "",
) -> Reply:
    """Attach a pasted table or log, as text/plain (UTF-8) or as JSON."""
    text = _pasted(await request.body(), request.headers.get("content-type", ""))
    reply = await service.attach_text(session, text, label=label, expected=expected)
    metrics.turn("text")
    return tagged(response, reply)


@router.post("/tables", openapi_extra=TABLES_BODY, responses=PROBLEMS)
async def attach_tables(
    service: Service,
    metrics: Counted,
    request: Request,
    response: Response,
    session: SessionId,
    expected: Expected,
    label: Label = "",
) -> Reply:
    """Attach the tables of traces that a client read where they lie."""
    _expect(request, "application/octet-stream")
    reply = await service.attach_tables(session, await request.body(), label=label, expected=expected)
    metrics.turn("tables")
    return tagged(response, reply)


@router.post("/files", openapi_extra=FILES_BODY, responses=PROBLEMS)
async def attach_files(
    service: Service,
    metrics: Counted,
    limits: TheLimits,
    request: Request,
    response: Response,
    session: SessionId,
    expected: Expected,
    label: Label = "",
) -> Reply:
    """Attach files of one job. They are read and then removed; only their tables stay."""
    _expect(request, "multipart/form-data")
    await service.get(session)
    async with received(request, limits) as (files, folder):
        named = label or ", ".join(file.name for file in files)[:200]
        tables = await asyncio.to_thread(tables_of, files, folder)
    reply = await service.attach_tables(session, tables, label=named, expected=expected)
    metrics.turn("files")
    return tagged(response, reply)


@router.delete("/{evidence}", responses=declared(404, 409, 412, 422, 503))
async def withdraw(
    service: Service,
    metrics: Counted,
    response: Response,
    session: SessionId,
    evidence: EvidenceId,
    expected: Expected,
) -> Reply:
    """Take evidence back: it stays in the log and counts no more."""
    reply = await service.withdraw(session, evidence, expected=expected)
    metrics.turn("withdraw")
    return tagged(response, reply)


@router.put("/{evidence}", dependencies=[JsonOnly], responses=PROBLEMS)
async def revise(
    service: Service,
    metrics: Counted,
    response: Response,
    session: SessionId,
    evidence: EvidenceId,
    body: Correction,
    expected: Expected,
) -> Reply:
    """Replace evidence by what it should have said."""
    reply = await service.revise(session, evidence, body.text, expected=expected)
    metrics.turn("revise")
    return tagged(response, reply)


def _expect(request: Request, kind: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        raise HTTPException(415, f"the body has to be {kind}")


def _pasted(body: bytes, content_type: str) -> str:
    """Text of the body. 415 for another form, 422 for text that is not UTF-8 or has NUL characters."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in ("text/plain", "application/json"):
        raise HTTPException(415, "the body has to be text/plain or application/json")
    try:
        if kind == "application/json":
            return Pasted.model_validate_json(body).text
        return Pasted(text=body.decode("utf-8-sig")).text
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error
    except UnicodeDecodeError as error:
        raise HTTPException(422, f"the text is not UTF-8 at byte {error.start}") from error
