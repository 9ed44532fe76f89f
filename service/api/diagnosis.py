"""The diagnosis of a session, what it was before, what it rests on, and what it would be."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from ..diagnosis.parts import FactDocument, FindingDocument
from ..diagnosis.schemas import Diagnosis
from ..sessions.schemas import DiagnosisSummary, How, WhatIf, WhyNotCause
from .bodies import Supposition
from .dependencies import ID, JsonOnly, Scope, Service, SessionId
from .problems import declared

router = APIRouter(prefix="/v1/sessions/{session}", tags=["diagnosis"], responses=declared(404, 422, 503))


@router.get("/diagnosis")
async def get_diagnosis(
    service: Service,
    session: SessionId,
    revision: Annotated[int | None, Query(ge=1, le=1_000_000_000, description="An earlier one; default: now")] = None,
) -> Diagnosis:
    """The diagnosis with complete counterfactuals."""
    return await service.diagnosis(session, revision)


@router.get("/history")
async def get_history(service: Service, session: SessionId) -> tuple[DiagnosisSummary, ...]:
    """All diagnoses of the session, first to last, a line each."""
    return await service.history(session)


@router.get("/facts")
async def get_facts(service: Service, session: SessionId) -> tuple[FactDocument, ...]:
    """Facts of the evidence that counts, measured ones too."""
    return await service.facts(session)


@router.get("/findings")
async def get_findings(service: Service, session: SessionId) -> tuple[FindingDocument, ...]:
    """What rules concluded, each with its rule and premises."""
    return await service.findings(session)


@router.get("/how")
async def how(service: Service, session: SessionId, scope: Scope = None) -> How:
    """HOW: how the causes of a scope came to their probabilities."""
    return await service.how(session, scope)


@router.get("/why-not/{cause}")
async def why_not(
    service: Service,
    session: SessionId,
    cause: Annotated[str, Path(max_length=64, pattern=ID, description="Cause in docs/knowledge.md")],
    scope: Scope = None,
) -> WhyNotCause:
    """WHY NOT: why a cause does not lead."""
    return await service.why_not(session, cause, scope)


@router.post("/what-if", dependencies=[JsonOnly], responses=declared(413, 415))
async def what_if(service: Service, session: SessionId, body: Supposition) -> WhatIf:
    """WHAT IF: the diagnosis if something were so. Nothing is stored."""
    return await service.what_if(session, body.facts, body.text)
