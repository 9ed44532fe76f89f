"""The diagnosis document `latecomer.diagnosis/1` (DESIGN section 6): the same in CLI, API and stored log.

Owns the published shape and nothing else; `service.py` fills it. Times are milliseconds (`_ms`), probabilities are
shares of 1, weights are decibels against "none of these" (`_db`).
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field

from .parts import (
    HEAT_COLUMNS,
    HEAT_ROWS,
    Argument,
    CauseDocument,
    Clock,
    FactDocument,
    FindingDocument,
    Gate,
    Heat,
    Id,
    Leading,
    Measures,
    NoteDocument,
    Part,
    RankRow,
    ReadReport,
    Recoverable,
    Scope,
    ScopeVerdict,
    Verdict,
)

__all__ = [
    "HEAT_COLUMNS",
    "HEAT_ROWS",
    "Alternative",
    "Argument",
    "Becomes",
    "CauseDocument",
    "Choice",
    "Clock",
    "Correction",
    "Diagnosis",
    "ExperimentDocument",
    "FactDocument",
    "FindingDocument",
    "Gate",
    "Heat",
    "Leading",
    "LimitDocument",
    "Measures",
    "MitigationDocument",
    "Next",
    "NoteDocument",
    "Part",
    "Prediction",
    "QuestionDocument",
    "RankRow",
    "ReadReport",
    "Recoverable",
    "Revision",
    "Scope",
    "ScopeVerdict",
    "Support",
    "Verdict",
    "schema_json",
]


class LimitDocument(Part):
    """What this evidence does not show."""

    text: str = Field(description="The limit in words")
    rule: str = Field(description="Rule that found it; `verdict` for those of the verdict itself")
    scope: str = Field(description="Scope it bears on, or job")
    at_most: ScopeVerdict | None = Field(description="Highest verdict it allows; null where it only informs")


class Alternative(Part):
    """A rival of the leading cause."""

    scope: Id = Field(description="Scope")
    cause: Id = Field(description="Rival cause, or a mechanism as cause/mechanism")
    probability: float | None = Field(description="Its probability; null for a mechanism")
    why_weaker: str = Field(description="Strongest contrary finding")
    would_need: str = Field(description="Evidence that would raise it")


class Becomes(Part):
    """The verdict an answer or a result would lead to."""

    verdict: Verdict = Field(description="Verdict of the job")
    cause: str | None = Field(description="Leading cause")
    ranks: tuple[int, ...] = Field(description="Leading ranks")


class Choice(Part):
    """One outcome class of a question or of an experiment."""

    id: Id = Field(description="Id of the class")
    text: str = Field(description="What a person says, or what is seen")
    probability: float | None = Field(description="How likely it is on this evidence")
    becomes: Becomes | None = Field(description="Verdict after it; null where it reaches no argument")


class QuestionDocument(Part):
    """A piece of evidence to ask for."""

    id: Id = Field(description="Question in knowledge/questions.yaml")
    scope: str = Field(description="Scope it is asked for")
    text: str = Field(description="The question")
    because: str = Field(description="Why it is asked")
    example: str = Field(description="An answer as it may look")
    answers: tuple[Choice, ...] = Field(description="Possible answers")
    cost_minutes: float = Field(description="Cost in minutes of an engineer")
    expected_bits: float = Field(description="Expected information about the cause")


class Prediction(Part):
    """What a cause predicts for an experiment."""

    cause: Id = Field(description="Live cause")
    text: str = Field(description="Predicted result")


class ExperimentDocument(Part):
    """A plan: one thing changes, the rest is held."""

    id: Id = Field(description="Experiment in knowledge/experiments.yaml")
    scope: str = Field(description="Scope it is for")
    title: str = Field(description="Name")
    change: str = Field(description="The one thing that changes")
    hold: tuple[str, ...] = Field(description="What is held")
    steps: int = Field(description="Steps to run")
    abort: str = Field(description="When to stop early")
    rollback: str = Field(description="How to undo it")
    threshold: str = Field(description="Decision threshold")
    predictions: tuple[Prediction, ...] = Field(description="Predicted result under each live cause")
    outcomes: tuple[Choice, ...] = Field(description="Outcome classes and what each would lead to")
    shows_not: str = Field(description="What the result cannot show")
    cost_minutes: float = Field(description="Cost in minutes")
    expected_bits: float = Field(description="Expected information about the cause")


class Next(Part):
    """What to ask or to run next, best first; empty where nothing could change the verdict."""

    questions: tuple[QuestionDocument, ...] = Field(description="Questions, most information for the cost first")
    experiment: ExperimentDocument | None = Field(description="The experiment that separates the live causes")


class MitigationDocument(Part):
    """A way to limit harm, apart from the investigation."""

    id: Id = Field(description="Mitigation in knowledge/mitigations.yaml")
    text: str = Field(description="What to do")
    policies: tuple[str, ...] = Field(description="Run policies it is fit for")
    data_order: str = Field(description="What it does to the order of data")
    record: str = Field(description="What to write down")


class Correction(Part):
    """A misconception that was stated, and the answer."""

    id: Id = Field(description="Misconception in knowledge/misconceptions.yaml")
    answer: str = Field(description="Why it does not follow")
    instead: str = Field(description="What to look at instead")


class Revision(Part):
    """What would change the verdict; each entry was verified by running it."""

    id: Id = Field(description="question/answer or experiment/outcome, with its scope")
    text: str = Field(description="The condition in words")
    subject: str = Field(default="", description="The question or plan it belongs to")
    outcome: str = Field(default="", description="The answer or result that it takes")
    evidence: tuple[FactDocument, ...] = Field(description="Facts that it would add")
    becomes: Becomes = Field(description="The verdict it would lead to")


class Support(Part):
    """A fact whose removal changes the verdict."""

    fact: FactDocument = Field(description="The fact")
    becomes: Becomes = Field(description="The verdict without it")


class Diagnosis(Part):
    """The diagnosis of one job from the evidence at hand."""

    schema_: Literal["latecomer.diagnosis/1"] = Field(
        default="latecomer.diagnosis/1", alias="schema", description="Name and version of this document"
    )
    id: Id = Field(description="Hash of evidence and rule book; equal for equal input")
    session: str | None = Field(default=None, description="Session it belongs to")
    revision: int = Field(default=1, ge=1, description="Number of the diagnosis in its session")
    supersedes: str | None = Field(default=None, description="Id of the diagnosis it replaces")
    created_at: str | None = Field(default=None, description="ISO 8601 time; null where reproducibility matters")
    rulebook: Id = Field(description="sha256 of the rule book and knowledge")
    evidence: Id = Field(description="sha256 of the facts")
    verdict: Verdict = Field(description="Verdict of the job: that of the scope with the largest loss")
    headline: str = Field(description="First sentence of the statement: which rank, by how much, why")
    statement: str = Field(
        description="One testable conclusion: the headline, the nearest rival, the test, its disproof"
    )
    leading: Leading | None = Field(description="Leading hypothesis; null if healthy or not enough evidence")
    scopes: tuple[Scope, ...] = Field(description="What has to be explained, largest loss first")
    gate: Gate = Field(description="Correctness gate")
    measures: Measures = Field(description="Measures")
    recoverable: Recoverable | None = Field(description="Gain of the leading scope; null where replay is not valid")
    recoverables: tuple[Recoverable, ...] = Field(default=(), description="Gain of each scope and stage replayed")
    why: tuple[FindingDocument, ...] = Field(default=(), description="Findings behind the statement, strongest first")
    limits: tuple[LimitDocument, ...] = Field(description="What this evidence does not show")
    alternatives: tuple[Alternative, ...] = Field(description="Rivals and open mechanisms")
    next: Next = Field(description="What to ask or run next")
    mitigation: tuple[MitigationDocument, ...] = Field(description="Apart from the diagnosis")
    corrections: tuple[Correction, ...] = Field(default=(), description="Misconceptions that were stated")
    revise_if: tuple[Revision, ...] = Field(description="What would change the verdict")
    counterfactuals: str = Field(description="complete, or partial (n of m)")
    rests_on: tuple[Support, ...] = Field(description="Facts whose removal changes the verdict")
    facts: tuple[FactDocument, ...] = Field(description="All facts of the evidence")
    findings: tuple[FindingDocument, ...] = Field(description="All findings")
    read_report: ReadReport = Field(description="What was read, dropped and repaired")


def schema_json() -> str:
    """JSON Schema of the document, as committed in docs/schema/diagnosis.schema.json."""
    schema = Diagnosis.model_json_schema(by_alias=True, mode="serialization")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
