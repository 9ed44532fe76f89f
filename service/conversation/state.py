"""State of a session: the fold of its log. Pure; the same events give the same state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .acts import OpenQuestion
from .events import (
    AnyEvent,
    ContradictionFound,
    DiagnosisEmitted,
    EvidenceAttached,
    EvidenceWithdrawn,
    MessageReceived,
    QuestionAsked,
    QuestionClosed,
    RankCorrected,
    Replied,
    SideTrusted,
)

REMINDER = "Still open:"
"""How a reply repeats the open question."""


@dataclass(frozen=True, slots=True)
class Held:
    """Evidence with the turn it came with and whether it still counts."""

    turn: int
    given: EvidenceAttached
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A disagreement, and the side that the engineer trusts once he said so."""

    found: ContradictionFound
    side: str = ""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the log says now. `asked` holds (question, scope); `unknown` those that he cannot answer, `not_known` how
    many in a row; `reminded`: the open question was repeated once."""

    turn: int = 0
    evidence: tuple[Held, ...] = ()
    question: OpenQuestion | None = None
    asked: frozenset[tuple[str, str]] = frozenset()
    unknown: frozenset[tuple[str, str]] = frozenset()
    contradictions: tuple[Contradiction, ...] = ()
    diagnosis: DiagnosisEmitted | None = None
    messages: int = 0
    not_known: int = 0
    reminded: bool = False

    @property
    def standing(self) -> tuple[Held, ...]:
        """Evidence that counts."""
        return tuple(h for h in self.evidence if not h.withdrawn)

    @property
    def next_id(self) -> str:
        """Id of the next piece of evidence."""
        return f"e{len(self.evidence) + 1}"

    @property
    def ranks(self) -> int | None:
        """World size that was stated last."""
        return next((h.given.ranks for h in reversed(self.standing) if h.given.ranks), None)

    @property
    def contested(self) -> Contradiction | None:
        """The disagreement that waits for a word."""
        return next((c for c in reversed(self.contradictions) if not c.side and self.held(c.found.evidence)), None)

    def held(self, evidence: str) -> Held | None:
        """Evidence that counts, by id."""
        return next((h for h in self.standing if h.given.id == evidence), None)

    def trusts(self, about: str) -> str:
        """recorded or stated where the engineer said so, else empty."""
        return next((c.side for c in reversed(self.contradictions) if c.found.about == about and c.side), "")


def fold(events: Iterable[tuple[int, AnyEvent]], start: SessionState | None = None) -> SessionState:
    """The state after events, each with its turn."""
    state = start or SessionState()
    for turn, event in events:
        state = _after(replace(state, turn=max(turn, state.turn)), turn, event)
    return state


def _after(state: SessionState, turn: int, event: AnyEvent) -> SessionState:
    match event:
        case MessageReceived():
            return replace(state, messages=state.messages + 1)
        case EvidenceAttached():
            older = _without(state.evidence, event.replaces) if event.replaces else state.evidence
            return replace(state, evidence=(*older, Held(turn, event)), not_known=0)
        case EvidenceWithdrawn():
            gone = state.held(event.id)
            again = {(a[0], a[1]) for a in gone.given.answers} if gone else set()
            left = _without(state.evidence, event.id)
            return replace(state, evidence=left, asked=frozenset(k for k in state.asked if k not in again))
        case QuestionAsked():
            shown = tuple((str(a[0]), str(a[1])) for a in event.answers)
            now = OpenQuestion(event.question, event.scope, shown)
            asked = state.asked | {(event.question, event.scope)}
            return replace(state, question=now, asked=asked, reminded=False)
        case QuestionClosed():
            key = (event.question, event.scope)
            still = None if state.question and (state.question.id, state.question.scope) == key else state.question
            known = event.how != "unknown"
            unknown = state.unknown - {key} if known else state.unknown | {key}
            row = 0 if known else state.not_known + 1
            return replace(state, question=still, unknown=unknown, asked=state.asked | {key}, not_known=row)
        case RankCorrected():
            return _corrected(state, f"rank:{event.old}", f"rank:{event.new}")
        case ContradictionFound():
            return replace(state, contradictions=(*state.contradictions, Contradiction(event)))
        case SideTrusted():
            settled = tuple(
                replace(c, side=event.side) if c.found.about == event.about and not c.side else c
                for c in state.contradictions
            )
            return replace(state, contradictions=settled)
        case DiagnosisEmitted():
            return replace(state, diagnosis=event)
        case Replied():
            again = any(kind == "question" and text.startswith(REMINDER) for kind, text, _ in event.said)
            return replace(state, reminded=state.reminded or again)
        case _:
            return state


def _corrected(state: SessionState, old: str, new: str) -> SessionState:
    swap = {old: new, new: old}

    def moved(keys: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        return frozenset((question, swap.get(scope, scope)) for question, scope in keys)

    question = state.question
    if question is not None:
        question = replace(question, scope=swap.get(question.scope, question.scope))
    return replace(state, asked=moved(state.asked), unknown=moved(state.unknown), question=question)


def _without(evidence: tuple[Held, ...], name: str | None) -> tuple[Held, ...]:
    return tuple(replace(h, withdrawn=True) if h.given.id == name else h for h in evidence)
