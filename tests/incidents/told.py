"""What an engineer says and pastes -> diagnosis. The conversation layer takes this module's place inside; `tell` and
`questions_asked` stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from latecomer.knowledge.errors import InputError
from latecomer.knowledge.facts import Fact, Source, fact, replace_by_key
from latecomer.rules.candidates import Candidate
from latecomer.rules.counterfactuals import ask, reason
from latecomer.service.conversation.understanding.text import pieces
from latecomer.service.diagnosis import documents
from latecomer.service.diagnosis.reasoner import local_reasoner
from latecomer.service.diagnosis.schemas import Diagnosis, ReadReport
from latecomer.service.diagnosis.service import NO_EXTRAS, NOTHING_READ, diagnose
from latecomer.traces.measure import Extras, measure
from latecomer.traces.merge import merge
from latecomer.traces.patterns import Words, says
from latecomer.traces.readers.registry import read_file
from latecomer.traces.symptoms import find_symptoms
from latecomer.traces.tables import Tables


def tell(messages: Sequence[str], answers: Sequence[Fact] = ()) -> Diagnosis:
    """The diagnosis after these messages, and these facts beside them."""
    return _told(tuple(messages), tuple(answers))


def questions_asked(messages: Sequence[str], n: int = 3) -> list[str]:
    """Ids of the first questions, each answered "don't know"."""
    reasoner = local_reasoner()
    evidence = documents.canonical(_evidence(tuple(messages))[0], reasoner.knowledge)
    now = reason(evidence, reasoner.knowledge, reasoner.infer)
    asked: list[Candidate] = []
    while len(asked) < n:
        done = frozenset((question.id, question.scope) for question in asked)
        found = ask(now, reasoner.knowledge, reasoner.infer, done)
        if not found:
            break
        asked += [assessed.candidate for assessed in found]
    return [question.id for question in asked[:n]]


@cache
def _told(messages: tuple[str, ...], answers: tuple[Fact, ...]) -> Diagnosis:
    facts, report, extras = _evidence(messages)
    reasoner = local_reasoner()
    stated = replace_by_key(facts, answers, reasoner.knowledge.keys)
    return diagnose(stated, report, extras, reasoner=reasoner)


@cache
def _evidence(messages: tuple[str, ...]) -> tuple[list[Fact], ReadReport, Extras]:
    """What was stated and what its tables measure."""
    stated: list[Fact] = []
    tables: list[Tables] = []
    for turn, text in enumerate(messages, 1):
        stated = replace_by_key(stated, facts_in(text, turn), local_reasoner().knowledge.keys)
        tables += _tables(text)
    if not tables:
        return stated, NOTHING_READ, NO_EXTRAS
    merged = merge(tables)
    measured = measure(merged, stated)
    facts = [*(f for f in measured.facts if f not in stated), *stated]
    return facts, documents.read_report(merged), measured.extras


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
