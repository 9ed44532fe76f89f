"""Free questions: why, how, why not, what if, what next."""

from __future__ import annotations

import re

from ....traces.patterns import Words, says, words_of
from ..acts import Asked, Context
from .vocabulary import AskedEntry, asked_book, vocabulary

_SUPPOSITION = re.compile(
    r"\b(?:what (?:would |will )?happens? (?:if|when)|what ?if|(?:suppos|assum)(?:e|ing)(?: that)?|let'?s say(?: that)?"
    r"|imagine(?: that)?|how would it look if|^(?:and |but |so )?if)\b[\s,:]*",
    re.I,
)
_ASKING = re.compile(r"\s*(?:so |and |but )?(?:is|are|should|shall|could|would|can|does|do|why|what)\b", re.I)
_RANK = re.compile(r"\b(?:rank|gpu|worker)\s*#?\s*(\d{1,6})|\br(\d{1,5})\b", re.I)
_NUMBER = re.compile(r"\b([a-z]{0,3}\d{1,6}|[a-z-]+\.[a-z-]+)\b", re.I)
_MEANING = re.compile(
    r"\b(?:what (?:does|do|is|are)|what'?s|define|meaning of|definition of|what do you mean by|(?:is )?meant by)\s+"
    r"(?:an?\s+|the\s+|by\s+|meant by\s+)*[\"'“]?([\w ./-]{2,60}?)"
    r"[\"'”]?\s*(?:means?|stands? for)?\s*(?:here|exactly)?[?.!]*$",
    re.I,
)


def asked(sentence: str, words: Words, context: Context) -> Asked | None:
    """The free question that the sentence asks, or None."""
    for key in asked_book().fits(words):
        entry = vocabulary().asked[int(key)]
        subject = _subject(entry, sentence, words, context)
        if subject or not entry.needs:
            return Asked(entry.topic, subject, sentence)
    return None


def cause_named(words: Words, context: Context) -> str:
    """The first cause that the sentence names, by id, title or what people call it."""
    found = {
        name: place for name, patterns in vocabulary().causes.items() if (place := _first(patterns, words)) is not None
    }
    for name, cause in context.knowledge.causes.items():
        if says(("_".join(cause.title.lower().split()),), words):
            return name
    return min(found, key=lambda name: found[name]) if found else ""


def _first(patterns: list[str], words: Words) -> int | None:
    places = [
        place for pattern in patterns for term in pattern.split("|") if (place := _place(term, words)) is not None
    ]
    return min(places, default=None)


def _place(term: str, words: Words) -> int | None:
    first, *rest = term.split("_")
    return next(
        (at for at in words.places(first) if all(at + i in words.places(word) for i, word in enumerate(rest, 1))), None
    )


def _subject(entry: AskedEntry, sentence: str, words: Words, context: Context) -> str:
    if entry.subject == "cause":
        asking = next((part for part in sentence.split(",")[1:] if _ASKING.match(part)), "")
        return (cause_named(words_of(asking), context) if asking else "") or cause_named(words, context)
    if entry.subject == "rank":
        match = _RANK.search(sentence)
        return f"rank:{match[1] or match[2]}" if match else ""
    if entry.subject == "number":
        match = _NUMBER.search(sentence.partition(" ")[2])
        return match[1] if match else ""
    if entry.subject == "rest":
        return _rest(entry, sentence)
    return ""


def _rest(entry: AskedEntry, sentence: str) -> str:
    if entry.topic == "meaning":
        match = _MEANING.search(sentence)
        return match[1].strip() if match else ""
    match = _SUPPOSITION.search(sentence)
    return sentence[match.end() :].strip(" ?.!") if match else ""
