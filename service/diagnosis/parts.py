"""Parts of the diagnosis document: facts and findings, judgement, measures, reading. See schemas.py."""

from __future__ import annotations

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
    interval: tuple[float, float] | None = Field(description="95 % interval of the gain, ms; null for one row a rank")
    replay_error: float = Field(description="Replay of the unmodified trace against the recorded step, as a share")


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
