"""The typed form of a rule document and of what inference returns. Imports no engine.

A rule: one YAML file in rules/book/<family>/<name>.yaml with id `<family>.<name>`.

    id: input-delay.lateness-is-input-wait
    title: The late rank's extra time is input wait
    status: stable
    clauses: [L06, L17, L21]
    why: what it means and what it does not
    when:
      late:   {fact: scope, kind: rank, pattern: persistent}
      excess: {fact: stage_excess, scope: $late.scope, stage: input_wait, part: whole}
    unless:
      - {fact: clock, state: unusable}
    argue:
      - {cause: input_delay, scope: $late.scope, level: strong, group: stage-attribution}
      - {cause: [compute_imbalance], side: against, scope: $late.scope, level: strong, group: stage-attribution}
    says: "Rank {late.ranks} ... {excess.excess_ms} ms ..."

In a pattern, a plain value is equality; {gte|gt|lte|lt|ne: value} is a test; `$alias.field` refers to another
pattern (a join; at least one must be an equality). At most two patterns in `when`. A rule whose patterns use a
fact kind of pass 2 (see knowledge/facts.yaml) runs after the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

Status = Literal["preview", "stable", "deprecated"]
Level = Literal["weak", "moderate", "strong", "decisive"]
Side = Literal["for", "against"]
VerdictWord = Literal["established", "probable", "undetermined", "healthy", "insufficient_evidence"]

Pattern = dict[str, Any]


class Argue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An argument for or against causes within a scope. Of a group only the strongest counts."""

    cause: str | list[str]
    scope: str
    level: Level
    group: str
    side: Side = "for"
    mechanism: str | None = None


class Veto(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cause that is logically impossible within a scope."""

    cause: str | list[str]
    scope: str


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Make a question a candidate (pass 2 ranks the candidates)."""

    question: str
    scope: str = "common"


class Propose(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Make an experiment a candidate."""

    experiment: str
    scope: str = "common"


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What this evidence does not show (the rule's `says`), and the most the verdict of a scope may be."""

    scope: str = "job"
    at_most: Literal["probable", "undetermined", "insufficient_evidence"] | None = None


class Correct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answer a misconception the user stated."""

    misconception: str


class Mitigate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Offer a mitigation, apart from the investigation."""

    mitigation: str
    scope: str = "common"


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rule document."""

    id: str
    title: str
    status: Status
    why: str
    when: dict[str, Pattern]
    says: str
    clauses: list[str] = []
    since: str = "0.1"
    references: list[str] = []
    unless: list[Pattern] = []
    derive: list[Pattern] | Pattern | None = None
    argue: list[Argue] | Argue | None = None
    veto: Veto | None = None
    ask: list[Ask] | Ask | None = None
    propose: list[Propose] | Propose | None = None
    limit: Limit | None = None
    correct: Correct | None = None
    mitigate: list[Mitigate] | Mitigate | None = None


FactDict = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule concluded: its id, the facts it used (by alias), its consequences and its sentence.

    `consequences` are flat engine facts whose kind is one of derive's kinds or `@argue`, `@veto`, `@ask`,
    `@propose`, `@limit`, `@correct`, `@mitigate` (fields: see `rules.compile`). `id` is stable for the same
    rule and premises.
    """

    id: str
    rule: str
    premises: tuple[tuple[str, FactDict], ...]
    consequences: tuple[FactDict, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Inference:
    """Findings in a canonical order, and every fact that was derived."""

    findings: tuple[Finding, ...]
    derived: tuple[FactDict, ...]
    firings: int
