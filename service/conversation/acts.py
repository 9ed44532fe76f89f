"""What a message can do: the acts that understanding finds in it, and what it has to know to find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ...knowledge.facts import Fact
from ...knowledge.model import Knowledge
from ...traces.told import Statement

__all__ = ["Act", "Context", "Statement"]

Topic = Literal[
    "why",
    "how",
    "why_not",
    "what_if",
    "change_mind",
    "next",
    "evidence",
    "facts",
    "causes",
    "safe",
    "sure",
    "is_it",
    "who",
    "meaning",
    "gain",
    "show",
    "help",
]
"""Free questions. `subject` of Asked: a cause for why_not, is_it and meaning; the supposition for what_if; a number or
id for show; a scope or empty for how; a question or empty for why."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """The question that was asked last: its id, scope and the answers that were shown, in that order."""

    id: str
    scope: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What is known when a message comes. `ranks`: world size; `scopes`: id and ranks of each scope, leading first;
    `contested`: what the last reply asked which side to trust, empty if nothing."""

    knowledge: Knowledge
    question: OpenQuestion | None = None
    ranks: int | None = None
    scopes: tuple[tuple[str, str], ...] = ()
    leader: str = ""
    live: tuple[str, ...] = ()
    contested: str = ""
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measures:
    """Numbers of a sentence. `sources` maps ranks (in the form of `who`) to the label of what they read."""

    statements: tuple[Statement, ...]
    quote: str
    sources: Mapping[str, str] = field(default_factory=dict)
    ranks: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Pasted:
    """A table, or text of a log, for the readers."""

    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """Facts that words state: symptoms, beliefs, background. `in_words` repeats each as understood."""

    facts: tuple[Fact, ...]
    in_words: tuple[str, ...]
    quote: str
    ranks: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer class of a question: the open one, or one that was not asked yet."""

    question: str
    scope: str
    answer: str
    quote: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The engineer does not know."""

    question: str
    scope: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not now."""

    question: str
    scope: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A free question."""

    topic: Topic
    subject: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Evidence withdrawn: an id, or `last`."""

    evidence: str = "last"


@dataclass(frozen=True, slots=True)
class Corrected:
    """Numbers stated before are changed: another rank, another value, or both. `old_rank` None: the rank the last
    statement named, or the only one."""

    quote: str
    old_rank: int | None = None
    new_rank: int | None = None
    old_value: float | None = None
    new_value: float | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Revised:
    """Evidence with this id said anew."""

    evidence: str
    text: str


@dataclass(frozen=True, slots=True)
class Trusted:
    """Which side of a contradiction counts."""

    what: Literal["recorded", "stated"]


@dataclass(frozen=True, slots=True)
class Unread:
    """Words that were not understood. `why` names what is missing where that is known (a unit, a rank, a measure)."""

    quote: str
    why: str = ""


Act = (
    Measures | Pasted | Told | Answered | Unknown | Skipped | Asked | TakenBack | Corrected | Revised | Trusted | Unread
)
