"""Events: the log of a session, as a list or as a stream that goes on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request

from ...knowledge.errors import NotFoundError
from ..sessions.schemas import EventDocument
from .dependencies import EVENT_STREAM, Counted, Service, SessionId, Stream
from .problems import declared
from .sse import EventStream, beating, event

router = APIRouter(prefix="/v1/sessions/{session}", tags=["events"])
STREAMED: dict[str, Any] = {
    "description": "Events in order; as server-sent events with `id` = seq, then new ones, `deleted` at the end",
    "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
}


@router.get(
    "/events",
    response_model=tuple[EventDocument, ...],
    responses={200: STREAMED} | declared(404, 422, 503),
)
async def events(
    service: Service,
    metrics: Counted,
    request: Request,
    session: SessionId,
    stream: Stream,
    after: Annotated[int, Query(ge=0, le=1_000_000_000, description="Only events after this seq")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most events of a list")] = 500,
    last_event_id: Annotated[str | None, Header(description="seq of the last event that was seen")] = None,
) -> Any:
    """The log. With `Accept: text/event-stream` it goes on with new events; Last-Event-ID resumes it."""
    if not stream:
        return await service.events(session, after=after, limit=limit)
    begin = _seq(last_event_id, after)
    await service.get(session)
    return EventStream(beating(_told(service, session, begin), request.app.state.closing), metrics)


def _seq(last_event_id: str | None, after: int) -> int:
    if not last_event_id:
        return after
    if not re.fullmatch(r"\d{1,9}", last_event_id, re.ASCII):
        raise HTTPException(422, "Last-Event-ID has to be the id of an event of this stream")
    return int(last_event_id)


async def _told(service: Service, session: str, after: int) -> AsyncIterator[bytes]:
    try:
        async for one in service.watch(session, after=after):
            yield event(one.kind, one.model_dump_json(), one.seq)
    except NotFoundError:
        pass
    yield event("deleted", "{}")
