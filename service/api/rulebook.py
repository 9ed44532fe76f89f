"""The rule book and what the service is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query

from ...knowledge.errors import NotFoundError, UsageError
from ...rules.model import Rule
from .. import rulebook
from ..diagnosis.schemas import Diagnosis
from ..documents import RuleDocument, RuleSummary, VersionDocument
from .dependencies import ID
from .problems import declared

router = APIRouter(prefix="/v1", tags=["rules"])
CONSEQUENCES = ("derive", "argue", "veto", "ask", "propose", "limit", "correct", "mitigate")


@router.get("/rules", responses=declared(404, 422))
def list_rules(
    family: Annotated[str, Query(max_length=64, description="A family of rules; all without it")] = "",
) -> tuple[RuleSummary, ...]:
    """Rules, sorted by id."""
    try:
        return tuple(RuleSummary.model_validate(_summary(rule)) for rule in rulebook.rules(family))
    except UsageError as error:
        raise NotFoundError(error.what, remedy=error.remedy) from error


@router.get("/rules/{rule}", responses=declared(404, 422))
def get_rule(
    rule: Annotated[str, Path(max_length=128, pattern=ID, description="Family and name of a rule")],
) -> RuleDocument:
    """A rule in full."""
    try:
        found = rulebook.rule(rule)
    except UsageError as error:
        raise NotFoundError(error.what, remedy=error.remedy) from error
    given = msgspec.to_builtins(found)
    kept = {name: given[name] for name in CONSEQUENCES if given[name] not in (None, [])}
    parts = {name: given[name] for name in ("why", "says", "when", "unless")}
    return RuleDocument.model_validate(
        {**_summary(found), **parts, "consequences": kept, "yaml": rulebook.as_yaml(found)}
    )


@router.get("/version", responses=declared())
def get_version() -> VersionDocument:
    """Version of the service, its rule book and its documents."""
    try:
        number = version("latecomer")
    except PackageNotFoundError:
        number = "0"
    name = Diagnosis.model_fields["schema_"].default
    return VersionDocument(version=number, rulebook=rulebook.book_hash(), diagnosis=name)


def _summary(rule: Rule) -> dict[str, object]:
    return {"id": rule.id, "title": rule.title, "status": rule.status, "clauses": rule.clauses}
