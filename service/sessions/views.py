"""What clients see of a session's state, as documents. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ...rules.explain import Split, Weights, WhyNot
from ...rules.weigh import Argument
from ..conversation.events import AnyEvent, DiagnosisEmitted, as_fact
from ..conversation.mind import Mind
from ..conversation.state import Held
from ..conversation.turn import Outcome
from ..diagnosis.documents import cause_title, fact_document
from ..diagnosis.parts import Leading
from ..store.records import SessionRecord, StoredEvent
from .schemas import (
    AnswerEffect,
    CauseWeight,
    CountedArgument,
    DiagnosisSummary,
    EventDocument,
    EvidenceDocument,
    How,
    Moved,
    Reply,
    SessionDocument,
    WhyNotCause,
)


def session_document(record: SessionRecord) -> SessionDocument:
    """A session."""
    return SessionDocument(
        id=record.id,
        title=record.title,
        created_at=record.created_at,
        updated_at=record.updated_at,
        revision=record.revision,
        verdict=record.verdict,
        headline=record.headline,
    )


def evidence_document(held: Held) -> EvidenceDocument:
    """A piece of evidence."""
    given = held.given
    return EvidenceDocument.model_validate(
        {
            "id": given.id,
            "turn": held.turn,
            "form": given.form,
            "label": given.label,
            "summary": tuple(given.in_words),
            "facts": tuple(fact_document(as_fact(f, held.turn, given.label)) for f in given.facts),
            "withdrawn": held.withdrawn,
            "replaces": given.replaces,
        }
    )


def event_document(stored: StoredEvent) -> EventDocument:
    """An event of the log."""
    data = {name: value for name, value in json.loads(stored.data).items() if name != "kind"}
    return EventDocument(seq=stored.seq, at=stored.at, kind=stored.kind, turn=stored.turn, data=data)


def summary(event: DiagnosisEmitted, turn: int, at: str) -> DiagnosisSummary:
    """A diagnosis in a line."""
    return DiagnosisSummary.model_validate(
        {
            "id": event.id,
            "revision": event.revision,
            "supersedes": event.supersedes,
            "turn": turn,
            "created_at": at,
            "verdict": event.verdict,
            "headline": event.headline,
            "leading": Leading.model_validate(event.leading) if event.leading else None,
            "revised_by": event.revised_by,
        }
    )


def reply(session: str, outcome: Outcome, stored: Iterable[StoredEvent], previous: DiagnosisSummary | None) -> Reply:
    """The reply of a turn, once its events are stored."""
    last = list(stored)
    now = previous
    for event, kept in zip(outcome.events, last, strict=True):
        if isinstance(event, DiagnosisEmitted):
            now = summary(event, kept.turn, kept.at)
    assert now is not None  # the first turn always emits one
    return Reply(
        session=session,
        turn=outcome.state.turn,
        revision=last[-1].seq,
        state=outcome.status,
        said=outcome.said,
        facts=outcome.facts,
        question=outcome.question,
        diagnosis=now,
    )


def summaries(events: Iterable[tuple[StoredEvent, AnyEvent]]) -> tuple[DiagnosisSummary, ...]:
    """Every diagnosis of a log, oldest first."""
    return tuple(summary(e, s.turn, s.at) for s, e in events if isinstance(e, DiagnosisEmitted))


# ---- explanations ----------------------------------------------------------------------------------------


def argument(item: Argument) -> CountedArgument:
    """An argument that counts."""
    found = item.finding
    return CountedArgument(
        rule=found.rule,
        finding=found.id,
        text=found.text,
        group=item.group,
        level=item.level,
        weight_db=item.weight_db,
        premises={alias: dict(premise) for alias, premise in found.premises},
    )


def how_document(scope: str, weights: Iterable[Weights], mind: Mind) -> How:
    """How causes came to their probabilities."""
    causes = tuple(
        CauseWeight(
            cause=w.cause,
            title=cause_title(w.cause, mind.knowledge),
            prior=w.prior,
            weight_db=w.weight_db,
            probability=w.probability,
            arguments=tuple(argument(a) for a in w.counted),
        )
        for w in weights
    )
    return How(scope=scope, causes=causes)


def effect(split: Split) -> AnswerEffect:
    """What an answer would do."""

    def moved(moves: Iterable[tuple[str, float, float]]) -> tuple[Moved, ...]:
        return tuple(Moved(cause=c, before=before, after=after) for c, before, after in moves)

    return AnswerEffect(
        id=split.outcome,
        text=split.text,
        probability=split.probability,
        raises=moved(split.raises),
        lowers=moved(split.lowers),
    )


def why_not_document(found: WhyNot) -> WhyNotCause:
    """Why a cause does not lead."""
    return WhyNotCause(
        cause=found.cause,
        probability=found.probability,
        vetoed=found.vetoed,
        against=tuple(argument(a) for a in found.against),
        leader=found.leader,
        leader_support=tuple(argument(a) for a in found.leader_support),
    )
