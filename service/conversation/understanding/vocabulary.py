"""topics.yaml: the phrases by which a message is known."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import msgspec.yaml

from ....knowledge.model import FactTemplate
from ....traces.patterns import Book
from ..acts import Topic

Patterns = list[str]


class AskedEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A free question. `subject`: what Asked carries; `needs` it: without one the entry does not fit."""

    topic: Topic
    said: Patterns
    subject: Literal["", "cause", "rest", "number", "rank"] = ""
    needs: bool = False


class BackgroundEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Background (fact `told`), and facts it means beside."""

    about: str
    value: str
    said: Patterns
    facts: list[FactTemplate] = []


class TrustEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which side of a contradiction to trust, the first that fits."""

    what: Literal["recorded", "stated"]
    said: Patterns


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole document."""

    asked: list[AskedEntry]
    causes: dict[str, Patterns]
    unknown: Patterns
    unknown_if_asked: Patterns
    skipped: list[str]
    yes: list[str]
    no: list[str]
    taken_back: Patterns
    trusted: list[TrustEntry]
    background: list[BackgroundEntry]
    small_talk: list[str]
    fillers: list[str]
    measure_words: list[str]

    @property
    def silent(self) -> frozenset[str]:
        """Words that say nothing by themselves."""
        return _silent()


@cache
def vocabulary() -> Vocabulary:
    """The phrases, read once."""
    return msgspec.yaml.decode(Path(__file__).parents[1].joinpath("topics.yaml").read_bytes(), type=Vocabulary)


@cache
def _silent() -> frozenset[str]:
    return frozenset(word for line in vocabulary().fillers for word in line.split())


@cache
def measure_words() -> frozenset[str]:
    """Words that stand around numbers and change nothing."""
    return _silent() | frozenset(word for line in vocabulary().measure_words for word in line.split())


@cache
def background_book() -> Book:
    """Background by its place in the list."""
    return Book((str(at), entry.said) for at, entry in enumerate(vocabulary().background))


@cache
def asked_book() -> Book:
    """Free questions by their place in the list, which is their order."""
    return Book((str(at), entry.said) for at, entry in enumerate(vocabulary().asked))
