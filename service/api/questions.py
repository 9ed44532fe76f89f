"""Questions: what would decide, and why it is asked."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from ..diagnosis.schemas import QuestionDocument
from ..sessions.schemas import WhyQuestion
from .dependencies import ID, Service, SessionId
from .problems import declared

router = APIRouter(prefix="/v1/sessions/{session}", tags=["questions"], responses=declared(404, 422, 503))


@router.get("/questions")
async def list_questions(service: Service, session: SessionId) -> tuple[QuestionDocument, ...]:
    """Open questions, the one with the most information for its cost first."""
    return await service.questions(session)


@router.get("/why")
async def why_asked(service: Service, session: SessionId) -> WhyQuestion:
    """WHY the open question is asked, and what each answer would do."""
    return await service.why(session)


@router.get("/questions/{question}/why")
async def why(
    service: Service,
    session: SessionId,
    question: Annotated[str, Path(max_length=100, pattern=ID, description="Id of an open question")],
) -> WhyQuestion:
    """WHY a question is asked, and what each answer would do."""
    return await service.why(session, question)
