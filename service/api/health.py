"""Whether the service lives and is ready, and its figures."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ...knowledge.errors import LatecomerError, StoreError
from ..documents import StateDocument
from .dependencies import Counted, Service
from .problems import declared

router = APIRouter(tags=["health"])


@router.get("/livez", responses=declared())
async def livez() -> StateDocument:
    """The process answers."""
    return StateDocument(state="live")


@router.get("/readyz", responses=declared(503))
async def readyz(service: Service) -> StateDocument:
    """Store and engine answer."""
    try:
        await service.ready()
    except LatecomerError as error:
        raise StoreError(error.what, remedy=error.remedy) from error
    return StateDocument(state="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Figures", "content": {"text/plain": {"schema": {"type": "string"}}}}} | declared(),
)
async def metrics(counted: Counted) -> Response:
    """Figures in the text format of Prometheus."""
    return Response(counted.text(), media_type=CONTENT_TYPE_LATEST)
