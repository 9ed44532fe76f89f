"""Patterns of words: which words a sentence has to hold, in any order and with small typos. Pure.

`a b` both stand in the sentence; `a|b` one of them; `a_b` adjacent; `a*` a word that begins so; `!a` must not stand
there; `^a` only as the first word. A word that is denied shortly before ("not slow") does not count, unless the
pattern itself speaks of a negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise

NEAR = 2
"""How many words before a word a negation may stand."""
TYPO_LENGTH = 7
"""Shortest word in which one wrong letter is forgiven."""
_OPINIONS = frozenset(("think", "believe", "suspect"))
_MOST_BOOKS = 64
_LONGEST_BEGINNING = 16
_WORD = re.compile(r"[a-z0-9µ%]+(?:[-/'.+][a-z0-9%]+)*|[,;:()]|--|–")
_DENIED = ("isnt", "doesnt", "dont", "wasnt", "werent", "arent", "didnt", "wont", "hasnt", "havent", "cant", "couldnt")
_NEGATIONS = frozenset(("no", "not", "never", "without", "nor", "cannot", *_DENIED))
_OPENERS = frozenset(
    ("so", "and", "but", "ok", "okay", "well", "hm", "hmm", "hey", "please", "then", "also", "btw", "now", "um")
)
_WHOLE = frozenset(("whats", "whos", "hows", "thats", "theres", "heres", "lets", "wheres"))
_ENDINGS = ("ing", "ed", "es", "s")

Phrase = tuple[bool, tuple[str, ...]]
"""Whether it stands only at the beginning, and words that follow each other."""
Term = tuple[bool, tuple[Phrase, ...]]
"""Whether it has to stand there, and its alternatives."""


class Words:
    """The words of a sentence, indexed once for many patterns."""

    __slots__ = ("_at", "_broken", "_doubt", "_first", "_known", "start", "words")

    def __init__(self, text: str) -> None:
        words: list[str] = []
        self._broken: set[int] = set()
        for word in _WORD.findall(text.lower().replace("’", "'")):
            if word in ",;:()–" or word == "--":
                self._broken.add(len(words))
            else:
                words.append(word.replace("'", ""))
        self.words = tuple(words)
        self.start = next((at for at, word in enumerate(words) if word not in _OPENERS), 0)
        self._at: dict[str, list[int]] = {}
        self._first: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            self._at.setdefault(stem(word), []).append(at)
            self._first.setdefault(word[:1], []).append(at)
        pairs = enumerate(pairwise(words))
        doubts = (at for at, (a, b) in pairs if a == "doubt" or (a in _NEGATIONS and b in _OPINIONS))
        self._doubt = next(doubts, len(words))
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.words)

    def places(self, term: str) -> tuple[int, ...]:
        """Where one word of a pattern stands."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._search(term)
        return found

    def denied(self, at: int) -> bool:
        """Whether a negation stands shortly before this word in the same part of the sentence, or a doubt anywhere."""
        if at > self._doubt:
            return True
        for before in range(at - 1, max(-1, at - NEAR - 1), -1):
            if before + 1 in self._broken:
                return False
            if self.words[before] in _NEGATIONS:
                return True
        return False

    def _search(self, term: str) -> tuple[int, ...]:
        if term.endswith("*"):
            beginning = term[:-1]
            return tuple(at for at in self._first.get(term[:1], ()) if self.words[at].startswith(beginning))
        found = self._at.get(stem(term), [])
        if len(term) < TYPO_LENGTH:
            return tuple(found)
        return tuple(at for at in self._first.get(term[:1], ()) if at in found or one_typo(term, self.words[at]))


@lru_cache(maxsize=1024)
def words_of(text: str) -> Words:
    """The words of a sentence, made once for short texts that come again."""
    return Words(text)


class Book:
    """Many patterns under keys, looked up by the words of a sentence: only those are tried of which a word stands
    there. `fits` gives the keys in the order in which they were given."""

    def __init__(self, entries: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._patterns: list[tuple[str, str]] = [(key, pattern) for key, some in entries for pattern in some]
        self._always: list[int] = []
        self._stems: dict[str, list[int]] = {}
        self._beginnings: dict[str, list[int]] = {}
        self._long: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for at, (_, pattern) in enumerate(self._patterns):
            self._enter(at, pattern)

    def fits(self, words: Words) -> list[str]:
        """Keys with a pattern that the sentence fits."""
        tried = sorted({*self._always, *(at for word in set(words.words) for at in self._near(word))})
        found: dict[str, None] = {}
        for at in tried:
            key, pattern = self._patterns[at]
            if key not in found and match(pattern, words) is not None:
                found[key] = None
        return list(found)

    def _enter(self, at: int, pattern: str) -> None:
        wanted = [some for want, some in terms(pattern)[0] if want]
        if not wanted:
            self._always.append(at)
            return
        for word in {phrase[0] for _, phrase in min(wanted, key=len)}:
            if word.endswith("*"):
                self._beginnings.setdefault(word[:-1], []).append(at)
            else:
                self._stems.setdefault(stem(word), []).append(at)
            if len(word) >= TYPO_LENGTH:
                self._long.setdefault((word[:1], len(word)), []).append((word, at))

    def _near(self, word: str) -> Iterator[int]:
        yield from self._stems.get(stem(word), ())
        for end in range(1, min(len(word), _LONGEST_BEGINNING) + 1):
            yield from self._beginnings.get(word[:end], ())
        if len(word) >= TYPO_LENGTH - 1:
            for length in (len(word) - 1, len(word), len(word) + 1):
                yield from (at for term, at in self._long.get((word[:1], length), ()) if one_typo(term, word))


_books: dict[tuple[int, str], tuple[object, Book]] = {}


def book_of(owner: object, name: str, entries: Callable[[], Iterable[tuple[str, Iterable[str]]]]) -> Book:
    """The book of an owner's patterns, made once."""
    known = _books.get((id(owner), name))
    if known is None or known[0] is not owner:
        if len(_books) >= _MOST_BOOKS:
            _books.clear()
        known = _books[(id(owner), name)] = (owner, Book(entries()))
    return known[1]


def says(patterns: Iterable[str], words: Words) -> bool:
    """Whether the sentence fits one of the patterns."""
    return any(match(pattern, words) is not None for pattern in patterns)


def match(pattern: str, words: Words) -> frozenset[int] | None:
    """The places of the words that fit the pattern, or None."""
    used: set[int] = set()
    parsed, denies = terms(pattern)
    for wanted, alternatives in parsed:
        found = next((places for first, a in alternatives if (places := _stands(a, words, denies, first))), None)
        if wanted != (found is not None):
            return None
        used.update(found or ())
    return frozenset(used)


@cache
def terms(pattern: str) -> tuple[tuple[Term, ...], bool]:
    """The terms of a pattern, and whether it speaks of a negation."""
    parsed: list[Term] = []
    for text in pattern.lower().replace("’", "'").replace("'", "").split():
        bare = text.removeprefix("!")
        alternatives = tuple((a.startswith("^"), tuple(a.removeprefix("^").split("_"))) for a in bare.split("|"))
        parsed.append((bare == text, alternatives))
    denies = any(wanted and _NEGATIONS.intersection(a) for wanted, some in parsed for _, a in some)
    return tuple(parsed), denies


def _stands(phrase: tuple[str, ...], words: Words, denies: bool, first: bool) -> tuple[int, ...] | None:
    for at in words.places(phrase[0]):
        if first and at != words.start and at != 0:
            continue
        if all(at + i in words.places(term) for i, term in enumerate(phrase) if i) and (denies or not words.denied(at)):
            return tuple(range(at, at + len(phrase)))
    return None


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The word without a usual ending."""
    if word in _WHOLE:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=65536)
def one_typo(first: str, second: str) -> bool:
    """Whether two words differ by one letter that is wrong, missing, added, or swapped with its neighbour."""
    if abs(len(first) - len(second)) > 1 or first[:1] != second[:1]:
        return False
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    if start is None:
        return True
    a, b = first[start:], second[start:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and a[2:] == b[2:])
