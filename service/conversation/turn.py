"""A turn of the conversation: (state, message) -> (new events, reply). Pure but for what `Mind` keeps at hand.

It understands, lets the evidence speak, says what changed, and asks the next question or concludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...knowledge.errors import InputError
from ...knowledge.model import Knowledge
from ..diagnosis import documents, statement
from ..diagnosis.documents import fact_document
from ..diagnosis.schemas import FactDocument, QuestionDocument
from ..sessions.schemas import Said, State
from . import dialogue
from .acts import Act
from .apply import apply
from .change import changes
from .context import context_of
from .events import AnyEvent, DiagnosisEmitted, EvidenceAttached, EvidenceWithdrawn, MessageReceived, Replied
from .evidence import Recordings
from .mind import Mind, View
from .state import SessionState, fold
from .understanding import understand


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn did: its events, the state after them, what it says, and the evidence as it stands."""

    events: tuple[AnyEvent, ...]
    state: SessionState
    said: tuple[Said, ...]
    facts: tuple[FactDocument, ...]
    question: QuestionDocument | None
    status: State
    view: View
    recordings: Recordings


def message(text: str, state: SessionState, recordings: Recordings, mind: Mind) -> Outcome:
    """The turn of a message. Evidence in it that does not fit what is there is refused in words."""
    before = mind.view(state, recordings)
    acts = understand(text, context_of(state, before, mind))
    heard = [MessageReceived(text=text)]
    try:
        return take(acts, heard, state, recordings, mind, before)
    except InputError as error:
        text = f"That does not go together with what is there: {error}"
        return take((), heard, state, recordings, mind, before, said=[Said(kind="not_understood", text=text)])


def evidence(
    attached: Sequence[AnyEvent], new: Recordings, state: SessionState, recordings: Recordings, mind: Mind
) -> Outcome:
    """The turn of evidence that a client attaches or takes back. `new`: tables by evidence id. Raises InputError where
    it cannot be put together with what is there."""
    before = mind.view(state, recordings)
    return take((), attached, state, {**recordings, **new}, mind, before, said=_attached(attached, state))


def _attached(events: Sequence[AnyEvent], state: SessionState) -> list[Said]:
    """What was read, or taken back."""
    said: list[Said] = []
    for event in events:
        if isinstance(event, EvidenceAttached):
            text = f"Read {event.label}: {'; '.join(event.in_words)}.  /undo takes it back."
            said.append(Said(kind="understood", text=text, ref=event.id))
        elif isinstance(event, EvidenceWithdrawn) and (held := state.held(event.id)) is not None:
            text = f"Taken back: {'; '.join(held.given.in_words) or held.given.label}."
            said.append(Said(kind="understood", text=text, ref=event.id))
    return said


def take(
    acts: Sequence[Act],
    first: Sequence[AnyEvent],
    state: SessionState,
    recordings: Recordings,
    mind: Mind,
    before: View,
    said: Sequence[Said] = (),
) -> Outcome:
    """Apply acts, reason, say what changed and ask on. `said`: what to say first."""
    turn = state.turn + 1
    events: list[AnyEvent] = list(first)
    state_now = fold([(turn, e) for e in first], state)
    done = apply(acts, first, state_now, recordings, mind, before)
    events += done.events
    state_now, recordings = done.state, done.recordings
    after = mind.view(state_now, recordings)
    said = [*said, *done.said]
    disagree = dialogue.disagreements(state_now, after)
    events += disagree.events
    said += disagree.said
    state_now = fold([(turn, e) for e in disagree.events], state_now)
    told, fired = changes(before if state.diagnosis else None, after, mind.knowledge, attached=done.weighs)
    changed = state.diagnosis is None or state.diagnosis.id != after.identity.id
    said += told if changed else []
    end = dialogue.go_on(state_now, after, mind, done, waiting=bool(disagree.events))
    events += end.events
    if any(s.kind == "diagnosis" for s in end.said):
        said = [s for s in said if s.kind != "diagnosis"]
    said += end.said
    if changed:
        events.append(emitted(state.diagnosis, after, fired, mind.knowledge))
    said = said or [Said(kind="note", text="That fits what is known." if done.known else "All right.")]
    events.append(Replied(said=[[s.kind, s.text, s.ref] for s in said], state=end.state))
    here = f"turn {turn}"
    new_facts = tuple(fact_document(f) for f in after.evidence.facts if here in f.source.ref.split(", "))
    final = fold([(turn, e) for e in events], state)
    return Outcome(tuple(events), final, tuple(said), new_facts, end.question, end.state, after, recordings)


def emitted(previous: DiagnosisEmitted | None, view: View, fired: str | None, knowledge: Knowledge) -> DiagnosisEmitted:
    """The event of a new diagnosis."""
    judgement = view.now.judgement
    lead = documents.leading(judgement)
    return DiagnosisEmitted(
        id=view.identity.id,
        revision=previous.revision + 1 if previous else 1,
        verdict=judgement.verdict,
        headline=statement.headline(judgement, view.now.facts, knowledge),
        evidence=view.identity.evidence,
        rulebook=view.identity.rulebook,
        supersedes=previous.id if previous else None,
        leading=lead.model_dump(mode="json") if lead else None,
        causes={s.scope: {b.cause: round(b.probability, 4) for b in s.beliefs} for s in judgement.scopes},
        revised_by=fired,
    )
