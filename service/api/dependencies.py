"""What endpoints are given: the service, the revision a writer saw, and the words of a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, HTTPException, Path, Query, Request, Response
from pydantic import AfterValidator

from ..sessions.schemas import Reply, SessionDocument
from .limits import Limits
from .metrics import Metrics

if TYPE_CHECKING:
    from ..sessions.service import SessionService

EVENT_STREAM = "text/event-stream"
ID = r"^[A-Za-z0-9][A-Za-z0-9_.:\-]*$"


def no_nul(text: str) -> str:
    """The text, unless it has a NUL character, which no database keeps."""
    if "\x00" in text:
        raise ValueError("text must not contain the NUL character")
    return text


def service_of(request: Request) -> SessionService:
    """The sessions of this application."""
    return request.app.state.service


def limits_of(request: Request) -> Limits:
    """Limits of this application."""
    return request.app.state.limits


def metrics_of(request: Request) -> Metrics:
    """Figures of this application."""
    return request.app.state.metrics


def wants_stream(request: Request) -> bool:
    """Whether the client asks for server-sent events."""
    return EVENT_STREAM in request.headers.get("accept", "")


def revision_seen(
    if_match: Annotated[
        str | None,
        Header(description="Revision of the session that the writer saw, as given by ETag; written only if current"),
    ] = None,
) -> int | None:
    """Revision named by If-Match; None without it or for `*`. 412 if it is not a revision."""
    if if_match is None or if_match.strip() == "*":
        return None
    found = re.fullmatch(r'(?:W/)?"?(\d{1,9})"?', if_match.strip(), re.ASCII)
    if not found:
        raise HTTPException(412, "If-Match has to be a revision, such as the ETag of the session")
    return int(found[1])


def json_only(request: Request) -> None:
    """415 for a body that is not JSON."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise HTTPException(415, "the body has to be application/json")


def tagged(response: Response, document: Reply | SessionDocument) -> Any:
    """The document, with its revision as ETag of the response."""
    response.headers["ETag"] = f'"{document.revision}"'
    return document


Text = Annotated[str, AfterValidator(no_nul)]
if TYPE_CHECKING:
    Service = Annotated[SessionService, Depends(service_of)]
else:
    Service = Annotated[Any, Depends(service_of)]
Counted = Annotated[Metrics, Depends(metrics_of)]
TheLimits = Annotated[Limits, Depends(limits_of)]
Expected = Annotated[int | None, Depends(revision_seen)]
Stream = Annotated[bool, Depends(wants_stream)]
JsonOnly = Depends(json_only)
SessionId = Annotated[str, Path(description="Id of the session", max_length=64, pattern=ID)]
EvidenceId = Annotated[
    str, Path(description="Id of the evidence in the session, such as e3", max_length=64, pattern=ID)
]
Scope = Annotated[Text | None, Query(description="Scope such as rank:2; default: the leading one", max_length=200)]
Label = Annotated[Text, Query(description="What to call the evidence", max_length=200)]
