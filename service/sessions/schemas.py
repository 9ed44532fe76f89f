"""What clients see of a session: the session itself, its evidence and events, and the reply of a turn."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..diagnosis.parts import FactDocument, Id, Leading, Part, Verdict
from ..diagnosis.schemas import Becomes, Diagnosis, QuestionDocument

ReplyKind = Literal[
    "understood",
    "not_understood",
    "contradiction",
    "answer",
    "belief",
    "change",
    "revised",
    "diagnosis",
    "question",
    "mitigation",
    "plan",
    "note",
]
"""Kinds of what a reply says, in about the order it says them."""
EvidenceForm = Literal["statement", "text", "tables", "facts"]
State = Literal["open", "asking", "concluded", "inconclusive"]
"""open: nothing told yet; concluded: nothing that is open could change a verdict that names or clears; inconclusive:
nothing is left to ask and the verdict abstains."""


class Said(Part):
    """One thing the service says in a reply."""

    kind: ReplyKind = Field(description="What it is")
    text: str = Field(description="Sentences to show as they are")
    ref: str = Field(default="", description="Id it is about: evidence, question, revision or misconception")


class DiagnosisSummary(Part):
    """A diagnosis in a line."""

    id: Id = Field(description="Id of the diagnosis")
    revision: int = Field(description="Number of the diagnosis in its session")
    supersedes: str | None = Field(description="Id of the one it replaces")
    turn: int = Field(description="Turn that led to it")
    created_at: str = Field(description="ISO 8601 time")
    verdict: Verdict = Field(description="Verdict")
    headline: str = Field(description="First sentence of the statement")
    leading: Leading | None = Field(description="Leading hypothesis")
    revised_by: str | None = Field(default=None, description="Id of the revise-if condition that fired, if one did")


class Reply(Part):
    """The reply to a message, or to evidence."""

    session: Id = Field(description="Session")
    turn: int = Field(description="Number of the turn")
    revision: int = Field(description="Revision of the session's log after the turn")
    state: State = Field(description="Whether there is something left to ask")
    said: tuple[Said, ...] = Field(description="What it says, in order")
    facts: tuple[FactDocument, ...] = Field(description="What the turn was understood to state")
    question: QuestionDocument | None = Field(description="The open question")
    diagnosis: DiagnosisSummary = Field(description="The diagnosis now")

    @property
    def text(self) -> str:
        """The reply as plain text, one paragraph a thing said."""
        return "\n".join(said.text for said in self.said)


class SessionDocument(Part):
    """A session."""

    id: Id = Field(description="Id of the session")
    title: str = Field(description="First words of it, or the title given")
    created_at: str = Field(description="ISO 8601 time")
    updated_at: str = Field(description="ISO 8601 time of the last event")
    revision: int = Field(description="Number of events in its log; send it as If-Match to write only if unchanged")
    verdict: str = Field(description="Verdict of the last diagnosis; empty before the first")
    headline: str = Field(description="Headline of the last diagnosis")


class SessionList(Part):
    """Sessions, latest first."""

    sessions: tuple[SessionDocument, ...] = Field(description="Sessions")
    next: str | None = Field(description="Cursor of the next page; null at the end")


class EvidenceDocument(Part):
    """One piece of evidence: what was attached or said, and whether it still counts."""

    id: Id = Field(description="Id in the session, such as e3")
    turn: int = Field(description="Turn it came with")
    form: EvidenceForm = Field(description="A statement of the chat, pasted text, tables of traces, or typed facts")
    label: str = Field(description="What it is called: a file, or the words it was said in")
    summary: tuple[str, ...] = Field(description="What it was understood to say")
    facts: tuple[FactDocument, ...] = Field(description="Facts it states itself; measures of tables are in /facts")
    withdrawn: bool = Field(description="Taken back, so that it does not count")
    replaces: str | None = Field(description="Evidence it corrects")


class EventDocument(Part):
    """One event of the log."""

    seq: int = Field(description="Position in the log, from 1")
    at: str = Field(description="ISO 8601 time")
    kind: str = Field(description="Kind of event")
    turn: int = Field(description="Turn it belongs to")
    data: dict[str, Any] = Field(description="What happened")


class FactInput(Part):
    """A fact to attach or to suppose: a kind of the vocabulary and its fields."""

    kind: str = Field(max_length=64, description="Kind of fact, see docs/knowledge.md")
    values: dict[str, str | int | float | bool] = Field(max_length=64, description="Its fields")


class WhatIf(Part):
    """What the diagnosis would be; nothing is stored."""

    supposed: tuple[FactDocument, ...] = Field(description="Facts supposed")
    before: Becomes = Field(description="Verdict now")
    after: Becomes = Field(description="Verdict then")
    diagnosis: Diagnosis = Field(description="The whole diagnosis then")


class Moved(Part):
    """A cause whose probability an answer would move."""

    cause: str = Field(description="Cause")
    before: float = Field(description="Probability now")
    after: float = Field(description="Probability then")


class AnswerEffect(Part):
    """What one answer of a question would do."""

    id: Id = Field(description="Answer")
    text: str = Field(description="In words")
    probability: float = Field(description="How likely it is on this evidence")
    raises: tuple[Moved, ...] = Field(description="Causes it would raise")
    lowers: tuple[Moved, ...] = Field(description="Causes it would lower")


class WhyQuestion(Part):
    """WHY: why a question is asked."""

    question: QuestionDocument = Field(description="The question")
    effects: tuple[AnswerEffect, ...] = Field(description="What each answer would do, likeliest first")


class CountedArgument(Part):
    """A finding that counts for or against a cause."""

    rule: str = Field(description="Rule")
    finding: str = Field(description="Finding")
    text: str = Field(description="What it found")
    group: str = Field(description="Independence group")
    level: str = Field(description="weak, moderate, strong or decisive")
    weight_db: float = Field(description="Weight, negative against")
    premises: dict[str, dict[str, Any]] = Field(description="Facts it rests on, by alias")


class CauseWeight(Part):
    """How a cause came to its probability: prior and counted arguments."""

    cause: str = Field(description="Cause")
    title: str = Field(description="In words")
    prior: float = Field(description="Before any evidence")
    weight_db: float = Field(description="Sum of what counts, dB")
    probability: float = Field(description="After it")
    arguments: tuple[CountedArgument, ...] = Field(description="What counts")


class How(Part):
    """HOW: how the causes of a scope came to their probabilities."""

    scope: str = Field(description="Scope")
    causes: tuple[CauseWeight, ...] = Field(description="Most probable first")


class WhyNotCause(Part):
    """WHY NOT: why a cause does not lead."""

    cause: str = Field(description="Cause")
    probability: float = Field(description="Its probability")
    vetoed: bool = Field(description="Logically impossible here")
    against: tuple[CountedArgument, ...] = Field(description="What speaks against it")
    leader: str = Field(description="Cause that leads instead")
    leader_support: tuple[CountedArgument, ...] = Field(description="What speaks for that one")
