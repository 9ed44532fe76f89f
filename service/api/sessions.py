"""Sessions: begin, list, find, read, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from ...knowledge.errors import ConflictError
from ..sessions.schemas import SessionDocument, SessionList
from .bodies import NewSession
from .dependencies import Expected, JsonOnly, Service, SessionId, Text, tagged
from .problems import declared

router = APIRouter(prefix="/v1", tags=["sessions"])


@router.post("/sessions", status_code=201, dependencies=[JsonOnly], responses=declared(413, 415, 422, 503))
async def create_session(service: Service, response: Response, body: NewSession | None = None) -> SessionDocument:
    """Begin a session."""
    document = await service.create(title=body.title if body else "")
    response.headers["Location"] = f"/v1/sessions/{document.id}"
    return tagged(response, document)


@router.get("/sessions", responses=declared(422, 503))
async def list_sessions(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=200, description="Sessions of a page")] = 50,
    cursor: Annotated[Text | None, Query(max_length=200, description="`next` of the page before")] = None,
) -> SessionList:
    """Sessions, latest first."""
    return await service.page(limit=limit, cursor=cursor)


@router.get("/session", responses=declared(404, 422, 503))
async def find_session(
    service: Service,
    response: Response,
    prefix: Annotated[Text, Query(max_length=64, description="First characters of its id; empty: the latest")] = "",
) -> SessionDocument:
    """The one session whose id begins so, or the latest."""
    return tagged(response, await service.find(prefix))


@router.get("/sessions/{session}", responses=declared(404, 422, 503))
async def get_session(service: Service, response: Response, session: SessionId) -> SessionDocument:
    """A session. ETag is its revision."""
    return tagged(response, await service.get(session))


@router.delete("/sessions/{session}", status_code=204, responses=declared(404, 409, 412, 422, 503))
async def delete_session(service: Service, session: SessionId, expected: Expected) -> None:
    """Delete a session with all its evidence."""
    if expected is not None and (await service.get(session)).revision != expected:
        raise ConflictError(f"the session is not at revision {expected} any more")
    await service.delete(session)
