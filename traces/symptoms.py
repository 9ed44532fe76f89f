"""Symptoms in sentences and log lines: text -> which of knowledge/symptoms.yaml it shows, and of which ranks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ..knowledge.model import Symptom

LONGEST_LINE = 4000
NEAR = 2
"""How many words before a word a negation may stand."""
TYPO_LENGTH = 7
"""Shortest word in which one wrong letter is forgiven."""
UNKNOWN = "unknown"
_SENTENCE = re.compile(r"\n+|(?<=[.!?;])\s+")
_WORD = re.compile(r"[a-z0-9_µ%]+(?:[-/'.+][a-z0-9_%]+)*")
_RANKS = re.compile(r"\b(?:ranks?|gpus?|workers?)\s*#?\s*(\d{1,6}(?:\s*(?:-|–|,|and|&|to)\s*\d{1,6})*)", re.IGNORECASE)
_DENIED = ("isn't", "doesn't", "don't", "wasn't", "weren't", "aren't", "didn't", "won't", "hasn't", "can't")
_NEGATIONS = frozenset(("no", "not", "never", "without", "nor", "cannot", *_DENIED))
_ENDINGS = ("ing", "ed", "es", "s")


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
        words = _WORD.findall(sentence.lower())
        for name, symptom in symptoms.items():
            if name in found:
                continue
            ranks = _shown(symptom, sentence, words)
            if ranks is not None:
                found[name] = Seen(name, ranks, line, sentence.strip())
    return tuple(found.values())


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        for sentence in _SENTENCE.split(line[:LONGEST_LINE]):
            if sentence.strip():
                yield number, sentence


def _shown(symptom: Symptom, sentence: str, words: Sequence[str]) -> str | None:
    """Ranks it names where the sentence shows the symptom, else None."""
    for pattern in symptom.log:
        if match := _compiled(pattern).search(sentence):
            return str(match.groupdict().get("rank") or UNKNOWN)
    if any(_says(_terms(pattern), words) for pattern in symptom.said):
        named = _RANKS.search(sentence)
        return re.sub(r"\s*(?:,|and|&)\s*", ",", re.sub(r"\s*(?:–|to|-)\s*", "-", named[1])) if named else UNKNOWN
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


Term = tuple[bool, tuple[tuple[str, ...], ...]]
"""Whether it has to stand there, and its alternatives: words that follow each other."""


@cache
def _terms(pattern: str) -> tuple[Term, ...]:
    terms: list[Term] = []
    for term in pattern.lower().split():
        wanted = not term.startswith("!")
        terms.append((wanted, tuple(tuple(a.split("_")) for a in term.removeprefix("!").split("|"))))
    return tuple(terms)


def _says(terms: Sequence[Term], words: Sequence[str]) -> bool:
    denies = any(wanted and alternative[0] in _NEGATIONS for wanted, some in terms for alternative in some)
    return all(wanted == any(_stands(a, words, denies) for a in some) for wanted, some in terms)


def _stands(phrase: Sequence[str], words: Sequence[str], denies: bool) -> bool:
    last = len(words) - len(phrase)
    for at in range(last + 1):
        if all(_alike(term, words[at + i]) for i, term in enumerate(phrase)):
            before = words[max(0, at - NEAR) : at]
            if denies or not _NEGATIONS.intersection(before):
                return True
    return False


@cache
def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _alike(term: str, word: str) -> bool:
    if term.endswith("*"):
        return word.startswith(term[:-1])
    if term == word or _stem(term) == _stem(word):
        return True
    return len(term) >= TYPO_LENGTH and one_typo(term, word)


def one_typo(first: str, second: str) -> bool:
    """Whether two words differ by one letter that is wrong, missing, added, or swapped with its neighbour."""
    if abs(len(first) - len(second)) > 1 or first[:1] != second[:1]:
        return False
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    if start is None:
        return True
    a, b = first[start:], second[start:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and a[2:] == b[2:])
