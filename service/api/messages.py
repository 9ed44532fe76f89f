"""Messages: say something, and read the reply as one document or as it comes about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Response

from ...knowledge.errors import LatecomerError
from ..problems import problem_of
from ..sessions.schemas import Reply
from .bodies import Message
from .dependencies import EVENT_STREAM, Counted, Expected, JsonOnly, Service, SessionId, Stream, tagged
from .problems import declared
from .sse import EventStream, event

router = APIRouter(prefix="/v1/sessions/{session}", tags=["messages"])
STREAMED: dict[str, Any] = {
    "description": "The reply; as server-sent events: `said` (one each), `reply`, `diagnosis` (complete), `done`",
    "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
}


@router.post(
    "/messages",
    response_model=Reply,
    dependencies=[JsonOnly],
    responses={200: STREAMED} | declared(404, 409, 412, 413, 415, 422, 503),
)
async def say(
    service: Service,
    metrics: Counted,
    response: Response,
    session: SessionId,
    body: Message,
    expected: Expected,
    stream: Stream,
) -> Any:
    """Say something. With `Accept: text/event-stream` the same as events, then the complete diagnosis."""
    reply = await service.say(session, body.text, expected=expected)
    metrics.turn("message")
    if stream:
        return EventStream(_told(service, reply), metrics, {"ETag": f'"{reply.revision}"'})
    return tagged(response, reply)


async def _told(service: Service, reply: Reply) -> AsyncIterator[bytes]:
    for said in reply.said:
        yield event("said", said.model_dump_json())
    yield event("reply", reply.model_dump_json())
    try:
        diagnosis = await service.diagnosis(reply.session, reply.diagnosis.revision)
        yield event("diagnosis", diagnosis.model_dump_json())
    except LatecomerError as error:
        yield event("problem", problem_of(error).model_dump_json(exclude_none=True))
    yield event("done", "{}")
