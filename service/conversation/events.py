"""Events of a session's log. A session is what its events say; nothing is overwritten, and a correction is an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...knowledge.errors import InputError
from ...knowledge.facts import Fact, Quality, Scalar, Source, fact
from ...traces.told import Statement


class StatedFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact as the log keeps it; its source is the turn it came with."""

    kind: str
    values: dict[str, Scalar]
    quality: Quality = "stated"


class StatedNumber(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number about ranks, see traces.told.Statement."""

    who: str
    column: str
    value: float
    half_range: float = 0.0
    step: int = -1
    relative: bool = False


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """Base of all events."""


class SessionOpened(Event, frozen=True, tag="session_opened"):
    """A session began."""

    title: str = ""


class MessageReceived(Event, frozen=True, tag="message_received"):
    """What the engineer typed."""

    text: str


class EvidenceAttached(Event, frozen=True, omit_defaults=True, tag="evidence_attached"):
    """Evidence: numbers and facts of a sentence (`statement`), pasted text (`text`), tables of traces (`tables`, whose
    bytes are the blob), or facts of a client (`facts`). `answers`: (question, scope, answer) that it holds; `swapped`:
    the rank that was said and the one meant, where it corrects that."""

    id: str
    form: str
    label: str
    numbers: list[StatedNumber] = []
    sources: dict[str, str] = {}
    facts: list[StatedFact] = []
    in_words: list[str] = []
    ranks: int | None = None
    steps: int | None = None
    text: str = ""
    blob: str = ""
    replaces: str | None = None
    answers: list[list[str]] = []
    swapped: list[str] = []


class EvidenceWithdrawn(Event, frozen=True, tag="evidence_withdrawn"):
    """Evidence was taken back and does not count any more."""

    id: str
    because: str = ""


class QuestionAsked(Event, frozen=True, tag="question_asked"):
    """The service asked a question."""

    question: str
    scope: str
    text: str
    answers: list[list[str]] = []


class QuestionClosed(Event, frozen=True, tag="question_closed"):
    """A question was answered, is not known, or was put off. It is not asked again."""

    question: str
    scope: str
    how: str


class ContradictionFound(Event, frozen=True, tag="contradiction_found"):
    """What was said disagrees with what was recorded; the service asked which to trust. `evidence`: what was said."""

    about: str
    recorded: str
    stated: str
    evidence: str


class SideTrusted(Event, frozen=True, tag="side_trusted"):
    """The engineer said which side of a contradiction counts: recorded or stated."""

    about: str
    side: str


class RankCorrected(Event, frozen=True, tag="rank_corrected"):
    """A rank was meant where another was said: what was asked of the one was asked of the other."""

    old: str
    new: str


class DiagnosisEmitted(Event, frozen=True, omit_defaults=True, tag="diagnosis_emitted"):
    """The first diagnosis of a session, or a new one after evidence changed it; the document is stored beside the log.
    `causes` maps a scope to the probabilities of its causes."""

    id: str
    revision: int
    verdict: str
    headline: str
    evidence: str
    rulebook: str
    supersedes: str | None = None
    leading: dict[str, Any] | None = None
    causes: dict[str, dict[str, float]] = {}
    revised_by: str | None = None


class Replied(Event, frozen=True, omit_defaults=True, tag="replied"):
    """What the service said, as (kind, text, ref)."""

    said: list[list[str]]
    state: str


AnyEvent = (
    SessionOpened
    | MessageReceived
    | EvidenceAttached
    | EvidenceWithdrawn
    | QuestionAsked
    | QuestionClosed
    | ContradictionFound
    | SideTrusted
    | RankCorrected
    | DiagnosisEmitted
    | Replied
)
_DECODER = msgspec.json.Decoder(AnyEvent)
_ENCODER = msgspec.json.Encoder(order="deterministic")


def kind_of_event(event: AnyEvent) -> str:
    """Its kind, as stored beside it."""
    return str(type(event).__struct_config__.tag)


def encode_event(event: AnyEvent) -> str:
    """Event to JSON."""
    return _ENCODER.encode(event).decode()


def decode_event(data: str) -> AnyEvent:
    """JSON to event. Raises InputError for what no version of this program wrote."""
    try:
        return _DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise InputError(
            f"the log holds an event this version cannot read ({error})", remedy="Open it with a newer version."
        ) from error


def as_statements(numbers: Sequence[StatedNumber]) -> tuple[Statement, ...]:
    """Numbers of the log as measures take them."""
    return tuple(Statement(n.who, n.column, n.value, n.half_range, n.step, n.relative) for n in numbers)


def as_numbers(statements: Sequence[Statement]) -> list[StatedNumber]:
    """Numbers as the log keeps them."""
    return [StatedNumber(s.who, s.column, s.value, s.half_range, s.step, s.relative) for s in statements]


def stated(item: Fact) -> StatedFact:
    """A fact as the log keeps it."""
    return StatedFact(item.kind, dict(item.values), item.quality)


def as_fact(item: StatedFact, turn: int, quote: str) -> Fact:
    """A fact of the log, with the turn and the words it came with as its source."""
    return fact(item.kind, item.values, quality=item.quality, source=Source(f"turn {turn}", quote))
