"""Plays a conversation of tests/conversations/cases through the pure turn, and checks what holds for every one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from latecomer.service.conversation.events import AnyEvent, decode_event, encode_event
from latecomer.service.conversation.mind import Mind
from latecomer.service.conversation.state import SessionState, fold
from latecomer.service.conversation.turn import Outcome, evidence, message
from latecomer.service.diagnosis.local import local_reasoner
from latecomer.service.sessions import inputs
from latecomer.traces.tables import Tables

CASES = Path(__file__).parent / "cases"
EXAMPLE_JOB = Path(__file__).resolve().parents[2] / "service" / "example" / "job"


@cache
def mind() -> Mind:
    """One mind for all conversations: what it keeps must not show."""
    return Mind(local_reasoner())


@dataclass
class Talk:
    """A session in memory."""

    state: SessionState = field(default_factory=SessionState)
    recordings: dict[str, Tables] = field(default_factory=dict)
    log: list[tuple[int, AnyEvent]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def say(self, text: str) -> Outcome:
        """A message."""
        return self._after(message(text, self.state, self.recordings, mind()))

    def attach(self, paths: Sequence[Path]) -> Outcome:
        """Traces."""
        made = inputs.of_files(list(paths), "", self.state)
        assert made.tables is not None
        new = {made.event.id: made.tables}
        return self._after(evidence([made.event], new, self.state, self.recordings, mind()))

    def _after(self, outcome: Outcome) -> Outcome:
        self.state, self.recordings = outcome.state, dict(outcome.recordings)
        self.log += [(outcome.state.turn, e) for e in outcome.events]
        self.outcomes.append(outcome)
        return outcome

    @property
    def asked(self) -> list[str]:
        """Questions with their scopes, in the order they were asked."""
        events = [e for _, e in self.log]
        return [f"{e.question}@{e.scope}" for e in events if type(e).__name__ == "QuestionAsked"]  # type: ignore[union-attr]

    def replayed(self) -> SessionState:
        """The state that the stored form of the log folds to."""
        return fold([(turn, decode_event(encode_event(event))) for turn, event in self.log])


def text_of(outcome: Outcome) -> str:
    """All it said."""
    return "\n".join(s.text for s in outcome.said)


def documents() -> dict[str, dict[str, Any]]:
    """Every conversation by its name."""
    return {p.stem: yaml.load(p.read_text("utf-8"), Loader=yaml.CSafeLoader) for p in sorted(CASES.glob("*.yaml"))}


def check(outcome: Outcome, wanted: dict[str, Any], where: str) -> list[str]:
    """What a turn does not fulfil."""
    text, wrong = text_of(outcome), []
    flat = " ".join(text.split())
    for phrase in wanted.get("hears", ()):
        if phrase not in flat:
            wrong.append(f"{where}: not said {phrase!r} in {text!r}")
    for phrase in wanted.get("never", ()):
        if phrase in flat:
            wrong.append(f"{where}: said {phrase!r} in {text!r}")
    judged = outcome.view.now.judgement
    top = judged.leading
    have = {
        "verdict": judged.verdict,
        "cause": top.cause if top else None,
        "ranks": top.ranks if top else "",
        "asks": outcome.question.id if outcome.question else None,
        "state": outcome.status,
        "revised": any(s.kind == "revised" for s in outcome.said),
        "mechanism": top.mechanism if top else None,
    }
    for name, value in have.items():
        if name in wanted and (value not in wanted[name] if isinstance(wanted[name], list) else value != wanted[name]):
            wrong.append(f"{where}: {name} is {value!r}, wanted {wanted[name]!r} after {text!r}")
    facts = {(f.kind, n): v for f in outcome.view.now.facts for n, v in f.values}
    for name, value in wanted.get("facts", {}).items():
        kind, _, field_name = name.partition(".")
        if facts.get((kind, field_name)) != value:
            wrong.append(f"{where}: {name} is {facts.get((kind, field_name))!r}, wanted {value!r}")
    return wrong
