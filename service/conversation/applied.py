"""Events and words of a turn while its acts are applied."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..sessions.schemas import Said
from .acts import Asked
from .events import AnyEvent, EvidenceAttached, EvidenceWithdrawn, SideTrusted
from .evidence import Recordings
from .state import SessionState, fold

BACKGROUND = ("told", "claim", "run_policy")
"""Kinds of fact that argue for no cause."""


@dataclass(slots=True)
class Applied:
    """Events and words so far, and the state they lead to. `first`: events that came before any act; `back`: free
    questions to answer on the new evidence; `known`: something was said that the evidence holds already."""

    state: SessionState
    recordings: Recordings
    turn: int
    first: tuple[AnyEvent, ...] = ()
    events: list[AnyEvent] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    back: list[Asked] = field(default_factory=list)
    closed: bool = False
    unread: bool = False
    known: bool = False

    @property
    def changed(self) -> bool:
        """Whether the evidence did."""
        given = (EvidenceAttached, EvidenceWithdrawn, SideTrusted)
        return any(isinstance(e, given) for e in (*self.first, *self.events))

    @property
    def weighs(self) -> bool:
        """Whether anything came or went that rules may weigh: more than background and beliefs."""
        return any(_weighs(e) for e in (*self.first, *self.events))

    def add(self, *events: AnyEvent) -> None:
        """Events, and the state after them."""
        self.events += events
        self.state = fold([(self.turn, e) for e in events], self.state)

    def say(self, kind: str, text: str, ref: str = "") -> None:
        """One thing said."""
        self.said.append(Said.model_validate({"kind": kind, "text": text, "ref": ref}))


def _weighs(event: AnyEvent) -> bool:
    if not isinstance(event, EvidenceAttached):
        return isinstance(event, EvidenceWithdrawn | SideTrusted)
    told = bool(event.facts) and all(f.kind in BACKGROUND for f in event.facts)
    return not told and bool(event.numbers or event.facts or event.sources or event.form in ("text", "tables"))
