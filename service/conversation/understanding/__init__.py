"""Text -> acts, without a language model. Pure; takes time linear in the text; never raises.

A message is cut into sentences, tables and log lines (text.py). Each sentence is offered, in this order, to what it
may be: a choice of a side, a correction, numbers about ranks, an answer of the open question, a free question,
something told. What none takes is Unread, unless it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....traces.patterns import Words, says, words_of
from ..acts import Act, Answered, Asked, Context, Measures, Pasted, Skipped, Told, Unknown, Unread
from .answers import is_measurement, reply
from .asked import asked
from .commands import command
from .corrections import correction, trusted
from .measures import Memory, measures, of_another_run, open_measure, ratio_of_a_rank, trouble
from .text import LONGEST_SENTENCE, Piece, cleaned, pieces, read_by_a_log_reader
from .told import answered_early, answers_said, logged, told
from .vocabulary import vocabulary

__all__ = ["understand"]

MOST_SENTENCES = 400
MOST_UNREAD = 3
LONGEST_QUOTE = 200
_CLAUSE = re.compile(r"\s*(?:,(?!\d{3}\b)|;|\s[-–]+\s|\bbut\b)\s*")
_INTERROGATIVES = frozenset(
    [
        *("is", "isnt", "are", "arent", "was", "could", "can", "should", "would", "will", "does", "do", "did", "might"),
        *("what", "whats", "why", "how", "who", "whos", "which", "whose", "where", "when", "shall", "may", "explain"),
    ]
)
_PROPOSES = re.compile(
    r"\b(?:should|shall|let'?s|lets|we'?ll|we will|i'?ll|going to|plan to|want to|could (?:we|i|try)|can (?:we|i)"
    r"|maybe (?:we|i|try))\b",
    re.I,
)
"""What somebody would do is no answer to what was seen."""
_NUMBERED = re.compile(r"^\W*[1-9]\W*$")
_ANOTHER_RUN = "these are numbers of another run; those of the slow run are needed, or how the two compare in words"
_NO_HEADER = "rows of numbers without names: a first line such as  rank  input  compute  arrival  says what they are"
_NO_SYMPTOM = "no line of this log says what the product knows; the first error of every rank says most"


def understand(text: str, context: Context) -> tuple[Act, ...]:
    """The acts of a message, in its order; empty where it only greets or thanks."""
    text = cleaned(text)
    if text.startswith("/"):
        return (command(text, context),)
    memory = Memory()
    acts: list[Act] = []
    for count, piece in enumerate(pieces(text)):
        if count == MOST_SENTENCES:
            acts.append(Unread(_quote(piece.text), f"only the first {MOST_SENTENCES} sentences of a message are read"))
            break
        acts += _piece(piece, memory, context, acts)
    return tuple(_gathered(acts))


def _piece(piece: Piece, memory: Memory, context: Context, before: list[Act]) -> list[Act]:
    if piece.kind == "table":
        found = logged(piece.text, context)
        return [Pasted(piece.text), *([found] if found else [])]
    if piece.kind == "bare":
        rows = piece.text.split("\n")
        if open_measure(context) and all(len(row.split()) == 2 for row in rows[:MOST_SENTENCES]):
            return [act for row in rows[:MOST_SENTENCES] for act in measures(row, memory, context)]
        return [Unread(_quote(piece.text), _NO_HEADER)]
    if piece.kind == "log":
        found = logged(piece.text, context)
        taken: list[Act] = [Pasted(piece.text)] if read_by_a_log_reader(piece.text) else []
        taken += [found] if found else []
        return taken or [Unread(_quote(piece.text), _NO_SYMPTOM)]
    return _sentence(piece.text, memory, context, before)


def _sentence(text: str, memory: Memory, context: Context, before: list[Act]) -> list[Act]:
    if len(text) > LONGEST_SENTENCE:
        return [Unread(_quote(text), "a line this long is no sentence; a table has a row a rank")]
    words = words_of(text)
    if (side := trusted(words, context)) is not None:
        return [side]
    if (changed := correction(text, words, context)) is not None:
        return [changed]
    question = asked(text, words, context)
    interrogative = text.endswith("?") or (bool(words.words) and words.words[words.start] in _INTERROGATIVES)
    supposed = question is not None and (text.endswith("?") or question.topic == "what_if")
    numbers = () if supposed or of_another_run(text) else measures(text, memory, context)
    if any(isinstance(act, Measures) for act in numbers):
        return [*numbers, *_told(text, words, context, measured=True)]
    open_question = context.question is not None and not any(isinstance(a, (Answered, Unknown)) for a in before)
    vague = ratio_of_a_rank(text) and not answers_said(context.knowledge).fits(words)
    if (
        open_question
        and not vague
        and not (question and interrogative)
        and not ((numbers or _PROPOSES.search(text) or is_measurement(text)) and not _chooses(text, words, context))
        and (replies := list(_replies(text, context)))
    ):
        return replies
    if question is not None and question.topic == "is_it" and _PROPOSES.search(text) and not text.endswith("?"):
        question = Asked("safe", "", text)
    if question is not None:
        acts = list(_told(text, words, context, question=interrogative)) if question.topic != "what_if" else []
        return [*acts, question] if interrogative or not acts else acts
    acts = list(_told(text, words, context))
    if acts or _says_nothing(words):
        return acts
    if context.question is None and says(vocabulary().unknown, words):
        return []
    if _PROPOSES.search(text) and not numbers:
        return [Asked("safe", "", text)]
    why = _ANOTHER_RUN if of_another_run(text) else trouble(text, context)
    return list(numbers[:1]) or [Unread(_quote(text), why)]


def _chooses(text: str, words: Words, context: Context) -> bool:
    """Whether a sentence is a choice by number, or says that something is not known."""
    found = reply(text, words, context)
    return isinstance(found, (Unknown, Skipped)) or bool(_NUMBERED.match(text))


def _told(
    text: str, words: Words, context: Context, *, question: bool = False, measured: bool = False
) -> Iterator[Act]:
    found = told(text, words, context, question=question, measured=measured)
    if found is not None:
        yield found
    if not question and not measured:
        yield from answered_early(text, words, context)


def _replies(text: str, context: Context) -> Iterator[Act]:
    """Answer of the open question: by the sentence as a whole, else by its first clause; the rest is read as well."""
    whole = reply(text, words_of(text), context)
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    if whole is not None and not (len(clauses) > 1 and isinstance(whole, (Unknown, Unread))):
        yield whole
        yield from _beside(text, context)
        return
    for at, clause in enumerate(clauses):
        found = reply(clause, words_of(clause), context)
        if found is None:
            continue
        yield found
        for other in (*clauses[:at], *clauses[at + 1 :]):
            if not isinstance(reply(other, words_of(other), context), Unknown):
                yield from _beside(other, context)
        return
    if whole is not None:
        yield whole


def _beside(text: str, context: Context) -> Iterator[Act]:
    """What an answer tells besides."""
    found = told(text, words_of(text), context)
    if found is not None:
        yield found


def _says_nothing(words: Words) -> bool:
    """Whether all words are small talk or fillers."""
    quiet = vocabulary().silent | {
        word for phrase in vocabulary().small_talk for word in phrase.replace("'", "").split()
    }
    return all(word in quiet for word in words.words) and not any(word.isdigit() for word in words.words)


def _gathered(acts: list[Act]) -> Iterator[Act]:
    """Numbers of all sentences as one act, and so what was told; each answer and question once."""
    numbers = [act for act in acts if isinstance(act, Measures)]
    words = [act for act in acts if isinstance(act, Told)]
    seen: set[object] = set()
    unread = 0
    for act in acts:
        if isinstance(act, Measures):
            if act is numbers[0]:
                yield _one_measures(numbers)
        elif isinstance(act, Told):
            if act is words[0]:
                yield _one_told(words)
        elif isinstance(act, Unread):
            unread += 1
            if unread <= MOST_UNREAD:
                yield act
        else:
            key = (act.topic, act.subject) if isinstance(act, Asked) else act
            key = (act.question, act.scope) if isinstance(act, Answered) else key
            if key not in seen:
                seen.add(key)
                yield act


def _one_measures(found: list[Measures]) -> Measures:
    return Measures(
        tuple(s for each in found for s in each.statements),
        ". ".join(each.quote.rstrip(".;") for each in found),
        {who: label for each in found for who, label in each.sources.items()},
        next((each.ranks for each in found if each.ranks), None),
        next((each.steps for each in found if each.steps), None),
    )


def _one_told(found: list[Told]) -> Told:
    return Told(
        tuple(dict.fromkeys(item for each in found for item in each.facts)),
        tuple(dict.fromkeys(text for each in found for text in each.in_words)),
        " ".join(each.quote for each in found),
        next((each.ranks for each in found if each.ranks), None),
        next((each.steps for each in found if each.steps), None),
    )


def _quote(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 3] + "..."
