"""The diagnosis document `latecomer.diagnosis/1` (DESIGN section 6): the same in CLI, API and stored log.

Owns the published shape and nothing else; `service.py` fills it. Times are milliseconds (`_ms`), probabilities are
shares of 1, weights are decibels against "none of these" (`_db`).
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Verdict = Literal["established", "probable", "undetermined", "healthy", "insufficient_evidence"]
ScopeVerdict = Literal["established", "probable", "undetermined", "insufficient_evidence"]
ScopeKind = Literal["rank", "set", "rotating", "common", "hang"]
Value = str | bool | int | float
Id = Annotated[str, StringConstraints(min_length=1)]

HEAT_ROWS = 64
HEAT_COLUMNS = 200


class Part(BaseModel):
    """Base of every part: immutable, no unknown members, finite numbers only."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class FactDocument(Part):
    """A typed statement with its quality and where it comes from."""

    kind: Id = Field(description="Kind of fact in the vocabulary")
    values: dict[str, Value] = Field(description="Known fields; a field that is absent is unknown")
    quality: Literal["measured", "stated", "derived", "supposed"] = Field(description="How it is known")
    source: str = Field(description="File and span, or turn of the conversation")


class FindingDocument(Part):
    """What a rule concluded from which facts."""

    id: Id = Field(description="Stable id of this rule with these premises")
    rule: Id = Field(description="Id of the rule")
    text: str = Field(description="The rule's sentence with its numbers")
    premises: dict[str, dict[str, Value]] = Field(description="Facts used, by the rule's alias")


class Argument(FindingDocument):
    """A finding that argues for or against a cause."""

    level: Literal["weak", "moderate", "strong", "decisive", "veto"] = Field(description="Strength of the argument")
    group: str = Field(description="Independence group; of a group only the strongest argument counts")
    weight_db: float = Field(description="Weight in dB against none of these; negative when against; 0 for a veto")
    counted: bool = Field(description="False where a stronger argument of the same group counts instead")


class CauseDocument(Part):
    """A hypothesis inside a scope."""

    cause: Id = Field(description="Cause in knowledge/causes.yaml, or none_of_these")
    title: str = Field(description="Its name in words")
    mechanism: str | None = Field(description="Sub-cause that the evidence singles out; null while it is open")
    prior: float = Field(description="Probability before the evidence")
    probability: float = Field(description="Probability after the evidence; causes of a scope sum to 1")
    weight_db: float = Field(description="Sum of the counted arguments, dB against none of these")
    vetoed: bool = Field(description="Logically impossible here")
    for_: tuple[Argument, ...] = Field(alias="for", description="Arguments for it, strongest first")
    against: tuple[Argument, ...] = Field(description="Arguments against it, strongest first")


class Scope(Part):
    """Something a cause has to explain, with its own verdict."""

    id: Id = Field(description="rank:2, set:0-1, common, rotating or hang")
    kind: ScopeKind = Field(description="Lateness of a rank or of ranks alike, time all lose together, or a hang")
    ranks: tuple[int, ...] = Field(description="Ranks that are late; empty where all lose alike")
    members: str = Field(description="The same ranks as people write them")
    lateness_ms: float | None = Field(description="Median lateness (mean over late steps if intermittent)")
    pattern: str = Field(description="persistent, intermittent, single, first_steps or summary")
    loss_ms: float = Field(description="Mean loss per step")
    loss_share: float = Field(description="Loss over the mean step; 0 where the step time is unknown")
    share: float = Field(description="This scope's part of the loss of all scopes")
    verdict: ScopeVerdict = Field(description="How sure the leading cause is")
    reasons: tuple[str, ...] = Field(description="What keeps the verdict from being higher")
    causes: tuple[CauseDocument, ...] = Field(description="All causes that can apply, most probable first")


class Leading(Part):
    """The hypothesis the statement is about."""

    scope: Id = Field(description="Id of the scope with the largest recoverable time")
    ranks: tuple[int, ...] = Field(description="Its ranks")
    cause: str | None = Field(description="Its cause; null: the late rank is known, its cause is open")
    mechanism: str | None = Field(description="Sub-cause; null while open")
    probability: float = Field(description="Probability of the cause (of the strongest one where it is open)")
    weight_db: float = Field(description="Weight of that cause, dB against none of these")


class Gate(Part):
    """The correctness gate: settled before any performance cause."""

    collectives: Literal["matched", "matched_by_progress", "mismatched", "unknown"] = Field(
        description="Whether all ranks ran matching collectives"
    )
    ranks: Literal["complete", "missing", "unknown"] = Field(description="Whether every rank has evidence")
    method: str = Field(description="How collectives were paired")
    paired: int = Field(description="Collectives paired")
    unpaired: int = Field(description="Collectives left unpaired")


class Clock(Part):
    """Whether clocks matter to the conclusion, and whether they can be used."""

    state: str = Field(description="not_needed, same_host, aligned, unaligned or not_identifiable")
    method: str = Field(description="durations, collective_ends, stated or none")
    bar_ms: float | None = Field(description="No claim about start times smaller than this")


class RankRow(Part):
    """One rank's usual step."""

    rank: int = Field(description="Rank")
    stages_ms: dict[str, float] = Field(description="Time of each measured stage")
    own_time_ms: float | None = Field(description="From the end of its previous sync to its arrival at the next")
    lateness_ms: float | None = Field(description="Own time minus the median own time of the on-time ranks")
    wait_ms: float | None = Field(description="Wait for the last arrival, per step")


class Heat(Part):
    """Lateness by rank and step, binned with max to at most 64 rows and 200 columns."""

    ranks: tuple[int, ...] = Field(max_length=HEAT_ROWS, description="First rank of each row")
    steps: tuple[int, ...] = Field(max_length=HEAT_COLUMNS, description="First step of each column")
    lateness_ms: tuple[tuple[float | None, ...], ...] = Field(description="Rows of lateness; null where unknown")


class Measures(Part):
    """What was measured, before any conclusion."""

    ranks: int = Field(description="Ranks with evidence")
    ranks_expected: int | None = Field(description="World size where a source states it")
    steps: int = Field(description="Steps seen on all ranks; 0 for a summary row a rank")
    step_ms: float | None = Field(description="Mean step time")
    evidence: str = Field(description="profile, table, summary, log, mixed or none")
    sampling: str = Field(description="none, single_step, summary, few, candidate, sufficient or ample")
    arrival_skew_ms: float | None = Field(description="Usual distance from first to last arrival")
    transfer_ms: float | None = Field(description="From the last arrival to completion, per step")
    wait_ms: dict[int, float] = Field(description="Mean wait for the last arrival per step, by rank")
    clock: Clock | None = Field(description="Clocks; null where nothing is known of them")
    table: tuple[RankRow, ...] = Field(description="A row a rank")
    heat: Heat | None = Field(description="Lateness by rank and step; null without steps")


class Recoverable(Part):
    """What a step would gain if one stage of one scope were as on the on-time ranks, by replay of every sync."""

    scope: Id = Field(description="Scope")
    stage: str = Field(description="Stage set to the on-time median")
    ms_per_step: float = Field(description="Gain per step")
    share: float = Field(description="Gain over the mean step")
    interval: tuple[float, float] = Field(description="95 % interval of the gain, ms")
    replay_error: float = Field(description="Replay of the unmodified trace against the recorded step, as a share")


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
    evidence: tuple[FactDocument, ...] = Field(description="Facts that it would add")
    becomes: Becomes = Field(description="The verdict it would lead to")


class Support(Part):
    """A fact whose removal changes the verdict."""

    fact: FactDocument = Field(description="The fact")
    becomes: Becomes = Field(description="The verdict without it")


class NoteDocument(Part):
    """Something reading dropped, repaired, missed or found contradictory."""

    code: Id = Field(description="Stable code")
    severity: Literal["info", "weakens", "unusable"] = Field(description="How much it matters")
    detail: str = Field(description="What happened")
    file: str = Field(description="File it concerns; empty for the job")
    rank: int | None = Field(description="Rank it concerns")
    count: int = Field(description="How often")
    weakens: str = Field(description="Which conclusions it weakens")


class ReadReport(Part):
    """What was read and what became of it."""

    sources: tuple[str, ...] = Field(description="Files or pasted text that were read")
    notes: tuple[NoteDocument, ...] = Field(description="Notes, most severe first")


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
