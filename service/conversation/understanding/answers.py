"""The open question: a choice by number, letter or words, yes and no, "don't know", "later"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....knowledge.model import Answer
from ....traces.patterns import Words, match, one_typo, says, stem, words_of
from ....traces.readers.table.numbers import unit_pattern
from ..acts import Answered, Context, OpenQuestion, Skipped, Unknown, Unread
from .job import without_size
from .vocabulary import vocabulary

_CHOICE = re.compile(
    r"^\W*(?:(?:it'?s|i'?d say|answer|option|number|choice|no\.|the)\s+)*"
    r"\(?(?:#?([1-9])|([a-h]))\)?(?:\s*(?:please|i think))?\W*$",
    re.I,
)
_ORDINALS = ("first", "second", "third", "fourth")
MOST_WORDS = 60
"""Words beyond which a sentence is a story and no answer."""
MOST_NUMBERS = 3
_SHORTEST_TYPO = 4
_PLAIN = {"yes": ("yes", "yeah", "yep", "yup", "aye"), "no": ("no", "nope", "nah")}
_REPLY = re.compile(
    r"^\W*(?:no|nope|nah|yes|yeah|yep|yup)\W+(?=(?:its?|it's|they|we|the|rank|this|that|all|some|one)\b)", re.I
)
_TIMES = re.compile(rf"\d\s*{unit_pattern()}", re.I)
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_ENOUGH = 1.0
_COVERED = 0.5
_OWN_WORDS = 1.5
"""What a word of `words` counts against one of the answer's text."""
Reply = Answered | Unknown | Skipped | Unread


def reply(clause: str, words: Words, context: Context) -> Reply | None:
    """What a clause answers to the open question, or None where it is about something else."""
    question = context.question
    if question is None or not 0 < len(words) <= MOST_WORDS:
        return None
    if (chosen := _chosen(clause, words, question)) is not None:
        return chosen
    if _consists_of(words, vocabulary().skipped):
        return Skipped(question.id, question.scope)
    if says((*vocabulary().unknown, *vocabulary().unknown_if_asked), words) and not says(("why|because|since",), words):
        return Unknown(question.id, question.scope)
    return _in_words(clause, words, question, context)


def is_measurement(text: str) -> bool:
    """Whether it holds a time and another number, or several numbers: then it is no choice."""
    numbers = len(_NUMBERS.findall(text))
    return numbers >= MOST_NUMBERS or (bool(_TIMES.search(text)) and numbers > 1)


def _chosen(clause: str, words: Words, question: OpenQuestion) -> Reply | None:
    ids = [name for name, _ in question.answers]
    if found := _CHOICE.match(clause):
        at = int(found[1]) - 1 if found[1] else ord(found[2].lower()) - ord("a")
    elif ordinal := next((w for w in words.words if w in _ORDINALS), None):
        if not _consists_of(words, [ordinal, "the", "one", "answer", "option", "it is", "its"]):
            return None
        at = _ORDINALS.index(ordinal)
    else:
        return None
    if at >= len(ids):
        if found and found[2]:
            return None
        return Unread(clause, f"the answers are numbered 1 to {len(ids)}")
    return Answered(question.id, question.scope, ids[at], clause)


def _consists_of(words: Words, phrases: Sequence[str]) -> bool:
    """Whether the clause is made of these phrases and fillers, and holds one of the phrases."""
    places = [_places(phrase, words) for phrase in phrases]
    used = set().union(*places)
    return bool(used) and all(at in used or word in vocabulary().silent for at, word in enumerate(words.words))


def _places(phrase: str, words: Words) -> set[int]:
    pattern = "_".join(phrase.lower().split())
    return set(match(pattern, words) or ())


def _in_words(clause: str, words: Words, question: OpenQuestion, context: Context) -> Reply | None:
    known = context.knowledge.questions.get(question.id)
    answers = [a for a in known.answers if a.id in dict(question.answers)] if known else []
    said = [a for a in answers if says(a.said, words)]
    if len(said) == 1:
        return Answered(question.id, question.scope, said[0].id, clause)
    if is_measurement(clause):
        return None
    rest = without_size(clause)
    if rest != clause:
        clause, words = rest, words_of(rest)
    polar = _polarity(words)
    if polar and (rest := _REPLY.sub("", clause, count=1)) != clause:
        words = words_of(rest)
    scored = _scores(words, answers, question, known.text if known else "")
    best = [answer for score, answer in scored if score >= _ENOUGH and score == scored[0][0]]
    if len(best) == 1:
        return Answered(question.id, question.scope, best[0].id, clause)
    if polar and not best:
        return _yes_or_no(clause, polar, answers, question, words)
    if best:
        texts = dict(question.answers)
        return Unread(clause, "it fits " + " and ".join(repr(texts.get(a.id, a.text)) for a in best[:3]))
    return None


def _polarity(words: Words) -> str:
    first = words.words[words.start] if words.words else ""
    for name, phrases in (("no", vocabulary().no), ("yes", vocabulary().yes)):
        if first in _PLAIN[name] or _consists_of(words, phrases):
            return name
    return ""


def _yes_or_no(
    clause: str, polar: str, answers: Sequence[Answer], question: OpenQuestion, words: Words
) -> Reply | None:
    content = [
        w
        for w in words.words
        if w not in vocabulary().silent and not _consists_of(words_of(w), vocabulary().yes + vocabulary().no)
    ]
    if len(content) > 2:
        return None
    fits = [answer for answer in answers if polar in answer.words]
    if len(fits) == 1:
        return Answered(question.id, question.scope, fits[0].id, clause)
    return Unread(clause, f"{polar} does not choose between the answers; a number does")


def _scores(words: Words, answers: Sequence[Answer], question: OpenQuestion, text: str) -> list[tuple[float, Answer]]:
    """Answers by how well the clause fits, best first; empty where most of the clause is about something else."""
    own = {answer.id: set(words_of(answer.text).words) - vocabulary().silent for answer in answers}
    shown = {name: set(words_of(shown).words) - vocabulary().silent for name, shown in question.answers}
    about = {stem(word) for word in words_of(text).words}
    scored: list[tuple[float, Answer]] = []
    content = {at for at, word in enumerate(words.words) if word not in vocabulary().silent and not word.isdigit()}
    explained = {at for at in content if stem(words.words[at]) in about}
    for answer in answers:
        hits = set().union(*(_loosely(phrase, words) for phrase in answer.words if phrase not in ("yes", "no")), set())
        score, alone = _OWN_WORDS * len(hits), not hits
        for word in own[answer.id] | shown.get(answer.id, set()):
            places = _loosely(word, words) - hits
            shared = sum(word in other for other in own.values())
            if places and shared < len(answers):
                score += 1 / max(1, shared)
                hits |= places
        explained |= hits
        if alone and len(hits) < 2 and len(content) > 1:
            score = 0.0
        scored.append((score, answer))
    if content and len(explained & content) / len(content) < _COVERED:
        return []
    return sorted(scored, key=lambda each: -each[0])


def _loosely(phrase: str, words: Words) -> set[int]:
    """Places of a phrase; a single word with one typo."""
    if found := _places(phrase, words):
        return found
    if " " in phrase or len(phrase) < _SHORTEST_TYPO:
        return set()
    return {
        at
        for at, word in enumerate(words.words)
        if len(word) >= _SHORTEST_TYPO
        and one_typo(phrase.lower(), word)
        and word not in vocabulary().silent
        and not words.denied(at)
    }
