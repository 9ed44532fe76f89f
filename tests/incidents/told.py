"""What an engineer says and pastes -> diagnosis. The conversation layer takes this module's place inside; `tell` and
`questions_asked` stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from latecomer.knowledge.errors import InputError
from latecomer.knowledge.facts import Fact, Source, fact, replace_by_key
from latecomer.service.conversation.understanding.text import pieces
from latecomer.service.diagnosis.local import diagnose_tables
from latecomer.service.diagnosis.reasoner import local_reasoner
from latecomer.service.diagnosis.schemas import Diagnosis, QuestionDocument
from latecomer.service.diagnosis.service import diagnose
from latecomer.traces.merge import merge
from latecomer.traces.patterns import Words, says
from latecomer.traces.readers.registry import read_file
from latecomer.traces.symptoms import find_symptoms
from latecomer.traces.tables import Tables

UNKNOWN = "unknown"


def tell(messages: Sequence[str], answers: Sequence[Fact] = ()) -> Diagnosis:
    """The diagnosis after these messages, and these facts beside them."""
    return _told(tuple(messages), tuple(answers))


def questions_asked(messages: Sequence[str], n: int = 3) -> list[str]:
    """Ids of the first questions, each answered "don't know"."""
    asked: list[QuestionDocument] = []
    while len(asked) < n:
        questions = tell(messages, [_unknown(q) for q in asked]).next.questions
        if not questions:
            break
        asked.append(questions[0])
    return [q.id for q in asked]


@cache
def _told(messages: tuple[str, ...], answers: tuple[Fact, ...]) -> Diagnosis:
    reasoner = local_reasoner()
    facts: list[Fact] = []
    tables: list[Tables] = []
    for turn, text in enumerate(messages, 1):
        facts = replace_by_key(facts, facts_in(text, turn), reasoner.knowledge.keys)
        tables += _tables(text)
    stated = [*facts, *answers]
    if not tables:
        return diagnose(stated, reasoner=reasoner)
    return diagnose_tables(merge(tables), answers=stated, reasoner=reasoner)


def facts_in(text: str, turn: int = 1) -> list[Fact]:
    """Symptoms, what they mean, and the misconceptions that a message states."""
    knowledge, source = local_reasoner().knowledge, Source(f"turn {turn}")
    found: list[Fact] = []
    for seen in find_symptoms(text, knowledge.symptoms):
        told = {"symptom": seen.symptom, "ranks": seen.ranks}
        found.append(fact("symptom", told, quality="stated", source=source))
        for template in knowledge.symptoms[seen.symptom].facts:
            filled = knowledge.fill(template, {"scope": "common", "ranks": seen.ranks, "lateness_ms": 0.0})
            found.append(fact(filled.kind, dict(filled.values), quality="stated", source=source))
    for name, belief in knowledge.misconceptions.items():
        if any(says(belief.said, Words(line)) for line in re.split(r"\n+|(?<=[.!?;])\s+", text)):
            found.append(fact("claim", {"misconception": name}, quality="stated", source=source))
    return found


def _tables(text: str) -> list[Tables]:
    read = "\n".join(piece.text for piece in pieces(text) if piece.kind != "log")
    try:
        return [read_file(read.encode(), name="message")]
    except InputError:
        return []


def _unknown(question: QuestionDocument) -> Fact:
    return fact("answered", {"question": question.id, "scope": question.scope}, quality="stated")
