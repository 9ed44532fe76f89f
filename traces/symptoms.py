"""Symptoms in sentences and log lines: text -> which of knowledge/symptoms.yaml it shows, and of which ranks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ..knowledge.model import Symptom
from .patterns import Words, book_of, one_typo, words_of

__all__ = ["UNKNOWN", "Seen", "find_symptoms", "one_typo", "ranks_named"]

LONGEST_LINE = 4000
MOST_WORDS = 400
"""Words of a sentence beyond which it is no sentence that somebody says."""
MOST_LINES = 2000
UNKNOWN = "unknown"
_DIGITS = re.compile(r"\d+")
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
    """Each symptom once, where it first shows, in the order of the text. Lines that differ in numbers only are looked
    at once, and no more than MOST_LINES different ones."""
    found: dict[str, Seen] = {}
    book = book_of(symptoms, "said", lambda: [(name, symptom.said) for name, symptom in symptoms.items()])
    logs = [(name, pattern) for name, symptom in symptoms.items() for pattern in symptom.log]
    for line, sentence in _sentences(text):
        words = words_of(sentence) if len(sentence) < 400 else Words(sentence)
        shown = {name: ranks_named(sentence) for name in book.fits(words)} if len(words) <= MOST_WORDS else {}
        printed: set[str] = set()
        for name, pattern in logs:
            if name not in found and name not in printed and (match := _compiled(pattern).search(sentence)):
                printed.add(name)
                shown[name] = str(match.groupdict().get("rank") or UNKNOWN)
        for name in sorted(shown, key=list(symptoms).index) if len(shown) > 1 else shown:
            if name not in found:
                found[name] = Seen(name, shown[name], line, sentence.strip())
    return tuple(found.values())


def ranks_named(sentence: str) -> str:
    """Ranks that a sentence names, as 0-3,7, or unknown."""
    named = _RANKS.search(sentence)
    if named is None:
        return UNKNOWN
    return re.sub(r"\s*(?:,|and|&)\s*", ",", re.sub(r"\s*(?:–|to|-)\s*", "-", named[1]))


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        alike = _DIGITS.sub("0", line[:LONGEST_LINE])
        if alike in seen:
            continue
        seen.add(alike)
        if len(seen) > MOST_LINES:
            return
        for sentence in _SENTENCE.split(line[:LONGEST_LINE]):
            if sentence.strip():
                yield number, sentence


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
