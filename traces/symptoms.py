"""Symptoms in sentences and log lines: text -> which of knowledge/symptoms.yaml it shows, and of which ranks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ..knowledge.model import Symptom
from .patterns import Words, one_typo, says

__all__ = ["UNKNOWN", "Seen", "find_symptoms", "one_typo", "ranks_named"]

LONGEST_LINE = 4000
MOST_WORDS = 400
"""Words of a sentence beyond which it is no sentence that somebody says."""
UNKNOWN = "unknown"
_SENTENCE = re.compile(r"\n+|(?<=[.!?;])\s+")
_RANKS = re.compile(r"\b(?:ranks?|gpus?|workers?)\s*#?\s*(\d{1,6}(?:\s*(?:-|–|,|and|&|to)\s*\d{1,6})*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Seen:
    """A symptom that a text shows: of which ranks (as 0-3,7, or unknown), on which line, in which words."""

    symptom: str
    ranks: str
    line: int
    text: str


def find_symptoms(text: str, symptoms: Mapping[str, Symptom]) -> tuple[Seen, ...]:
    """Each symptom once, where it first shows, in the order of the text."""
    found: dict[str, Seen] = {}
    for line, sentence in _sentences(text):
        words = Words(sentence)
        for name, symptom in symptoms.items():
            if name in found:
                continue
            ranks = _shown(symptom, sentence, words)
            if ranks is not None:
                found[name] = Seen(name, ranks, line, sentence.strip())
    return tuple(found.values())


def ranks_named(sentence: str) -> str:
    """Ranks that a sentence names, as 0-3,7, or unknown."""
    named = _RANKS.search(sentence)
    if named is None:
        return UNKNOWN
    return re.sub(r"\s*(?:,|and|&)\s*", ",", re.sub(r"\s*(?:–|to|-)\s*", "-", named[1]))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for sentence in _SENTENCE.split(line[:LONGEST_LINE]):
            if sentence.strip():
                yield number, sentence


def _shown(symptom: Symptom, sentence: str, words: Words) -> str | None:
    """Ranks it names where the sentence shows the symptom, else None."""
    for pattern in symptom.log:
        if match := _compiled(pattern).search(sentence):
            return str(match.groupdict().get("rank") or UNKNOWN)
    return ranks_named(sentence) if len(words) <= MOST_WORDS and says(symptom.said, words) else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
