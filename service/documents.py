"""What clients see apart from sessions: rules, and what the service is."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .diagnosis.parts import Id, Part


class RuleSummary(Part):
    """A rule in a line."""

    id: Id = Field(description="Family and name")
    title: str = Field(description="What it concludes")
    status: Literal["preview", "stable", "deprecated"] = Field(description="How settled it is")
    clauses: tuple[str, ...] = Field(description="Sources it rests on")


class RuleDocument(RuleSummary):
    """A rule in full, as it is written in the rule book."""

    why: str = Field(description="What it means and what it does not")
    says: str = Field(description="Its sentence; names in braces are filled from the facts")
    when: dict[str, dict[str, Any]] = Field(description="Patterns of facts that have to be there, by alias")
    unless: tuple[dict[str, Any], ...] = Field(description="Patterns of facts that must not be there")
    consequences: dict[str, Any] = Field(description="What follows: derive, argue, veto, ask, propose, limit, ...")
    yaml: str = Field(description="The document itself")


class VersionDocument(Part):
    """What the service is."""

    version: str = Field(description="Version of latecomer")
    api: Literal["v1"] = Field(default="v1", description="Version of the API")
    rulebook: str = Field(description="sha256 of the rule book")
    diagnosis: str = Field(description="Name and version of the diagnosis document")


class StateDocument(Part):
    """That the service answers."""

    state: Literal["live", "ready"] = Field(description="live: the process answers; ready: store and engine do too")
