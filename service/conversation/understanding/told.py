"""What words say without numbers: symptoms, beliefs, background, answers to questions not asked yet."""

from __future__ import annotations

import re

from ....knowledge.facts import Fact, fact
from ....knowledge.model import Knowledge
from ....rules.candidates import is_bound
from ....traces.patterns import Book, Words, book_of
from ....traces.symptoms import find_symptoms, ranks_named
from ..acts import Answered, Context, Told
from .job import Size, size
from .measures import of_a_pause, ratio_of_a_rank
from .vocabulary import background_book, vocabulary

JOB = "job"
_DEVICE = re.compile(r"\b((?:gb)?[ahbv]\d{2,3}|mi\d{3}x?|l40s?|rtx\s?\d{4}|tpu\s?v\d\w?|gaudi\s?\d?)s?\b", re.I)
_SLOWER = re.compile(
    r"(\d{1,3}(?:\.\d+)?)\s*(?:%|percent|pct)\s*(?:or so\s*)?(?:slower|longer|more time|higher step)", re.I
)
_LESS = re.compile(
    r"(?:throughput|tokens?/s|samples?/s|mfu|speed)\b.{0,40}?(\d{1,3}(?:\.\d+)?)\s*(?:%|percent)(?:\s+(?:lower|less|down|slower))?|"
    r"(\d{1,3}(?:\.\d+)?)\s*(?:%|percent)\s*(?:lower|less|drop in)\s*(?:throughput|speed)",
    re.I,
)
_TIMES = re.compile(
    r"\b(twice|double|triple|three times|two times|(\d+(?:\.\d+)?)\s*(?:x|times))"
    r"\s*(?:as\s+)?(?:slow|slower|long|longer)\b",
    re.I,
)
_HALF = re.compile(r"\bhalf\s+(?:as fast|the\s+(?:speed|throughput))|\bat half (?:speed|throughput)", re.I)
_PARTS = re.compile(r"[,;]\s|\b(?:and|but|because)\b")
_NAMED = re.compile(r"\b(?:rank|gpu|worker)s?\s*\d", re.I)


def told(
    sentence: str, words: Words, context: Context, *, question: bool = False, measured: bool = False
) -> Told | None:
    """Symptoms, beliefs and background of a sentence. A question shows no symptom, and where ranks were measured the
    numbers speak and not the words around them."""
    facts, said = ([], []) if question else _symptoms(_without_numbers(sentence) if measured else sentence, context)
    facts += _beliefs(words, context)
    for item, text in _background(sentence, words, context):
        facts.append(item)
        said.append(text)
    job = Size() if measured else size(sentence, context)
    if not facts and not job.ranks and not job.steps:
        return None
    return Told(tuple(dict.fromkeys(facts)), tuple(dict.fromkeys(filter(None, said))), sentence, job.ranks, job.steps)


def logged(text: str, context: Context) -> Told | None:
    """Symptoms of the lines of a log."""
    facts, said = _symptoms(text, context)
    return Told(tuple(facts), tuple(said), text.split("\n")[0][:200]) if facts else None


def answered_early(sentence: str, words: Words, context: Context) -> tuple[Answered, ...]:
    """Answers to questions that were not asked yet, or to the open one in words that need no context."""
    found: list[Answered] = []
    fits = [key.partition(".") for key in answers_said(context.knowledge).fits(words)]
    questions = [question for question, _, _ in fits]
    for question, _, answer in fits:
        if questions.count(question) == 1:
            found.append(Answered(question, _scope(question, sentence, context), answer, sentence))
    return tuple(found)


def answers_said(knowledge: Knowledge) -> Book:
    """What answers a question by itself; the keys are question.answer."""
    questions = knowledge.questions
    return book_of(
        questions,
        "said",
        lambda: [(f"{name}.{a.id}", a.said) for name, question in questions.items() for a in question.answers],
    )


def _scope(question: str, sentence: str, context: Context) -> str:
    """The scope that an early answer speaks of; empty where it needs one and none is known yet: then it
    counts for whatever scope is found later."""
    if context.question is not None and context.question.id == question:
        return context.question.scope
    if not is_bound(context.knowledge.questions[question]):
        return JOB
    named = ranks_named(sentence)
    if named.isdecimal():
        return f"rank:{named}"
    return context.scopes[0][0] if context.scopes else ""


def _without_numbers(sentence: str) -> str:
    parts = _PARTS.split(sentence)
    return ", ".join(part for part in parts if not re.search(r"\d", part) or of_a_pause(part))


def _symptoms(text: str, context: Context) -> tuple[list[Fact], list[str]]:
    facts: list[Fact] = []
    said: list[str] = []
    for seen in find_symptoms(text, context.knowledge.symptoms):
        entry = context.knowledge.symptoms[seen.symptom]
        facts.append(fact("symptom", {"symptom": seen.symptom, "ranks": seen.ranks}, quality="stated"))
        for template in entry.facts:
            filled = context.knowledge.fill(template, {"scope": "common", "ranks": seen.ranks, "lateness_ms": 0.0})
            facts.append(fact(filled.kind, dict(filled.values), quality="stated"))
        said.append(entry.text)
    return facts, said


def _beliefs(words: Words, context: Context) -> list[Fact]:
    beliefs = context.knowledge.misconceptions
    book = book_of(beliefs, "said", lambda: [(name, entry.said) for name, entry in beliefs.items()])
    return [fact("claim", {"misconception": name}, quality="stated") for name in book.fits(words)]


def _background(sentence: str, words: Words, context: Context) -> list[tuple[Fact, str]]:
    found: list[tuple[Fact, str]] = []
    for key in background_book().fits(words):
        entry = vocabulary().background[int(key)]
        said = f"since {entry.value}" if entry.about == "since" else entry.value
        found.append((_about(entry.about, entry.value), said))
        for template in entry.facts:
            filled = context.knowledge.fill(template, {})
            found.append((fact(filled.kind, dict(filled.values), quality="stated"), ""))
    if slower := _slowdown(sentence):
        found.append((_about("slowdown", slower), slower))
    if device := _DEVICE.search(sentence):
        found.append((_about("hardware", device[1].upper()), device[1].upper()))
    return found


def _about(about: str, value: str) -> Fact:
    return fact("told", {"about": about, "value": value}, quality="stated")


def _slowdown(sentence: str) -> str:
    """How much slower the job is, as words; a ratio of one rank is none of the job."""
    if _NAMED.search(sentence) or ratio_of_a_rank(sentence):
        return ""
    if match := _LESS.search(sentence):
        return f"throughput -{match[1] or match[2]} %"
    if match := _SLOWER.search(sentence):
        return f"step time +{match[1]} %"
    if match := _TIMES.search(sentence):
        times = match[2] or ("3" if match[1].lower() in ("triple", "three times") else "2")
        return f"step time x {times}"
    return "step time x 2" if _HALF.search(sentence) else ""
