"""What is said in a chat, as lines: paragraphs wrapped where they stand, the question last and indented. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from ...service.diagnosis.schemas import QuestionDocument
from ...service.sessions.schemas import DiagnosisSummary, Reply, Said, SessionDocument
from .words import count, named, percent, ranks, wrapped

STYLES = {
    "understood": "cyan",
    "not_understood": "yellow",
    "contradiction": "bold yellow",
    "revised": "bold",
    "diagnosis": "bold",
}
_ITEM = re.compile(r"\s*(?:-|\?|\d+|e\.g\.)\s+")
HANGING = 2


def reply_lines(reply: Reply, width: int) -> Iterator[Text]:
    """A reply: everything it says, in its order."""
    for said in reply.said:
        yield from said_lines(said, width)


def said_lines(said: Said, width: int) -> Iterator[Text]:
    """One thing said: a line of its text is wrapped below its own beginning."""
    asked = said.kind == "question"
    for place, text in enumerate(said.text.split("\n")):
        style = STYLES.get(said.kind, "")
        if asked:
            style = "bold" if place == 0 else "dim" if text.startswith("(") else ""
        for line in _hung(f"  {text}" if asked else text, width, 0 if asked else HANGING):
            line.stylize(style)
            yield line


def _hung(text: str, width: int, hanging: int) -> Iterator[Text]:
    """A line as it stands; what goes over its end continues below its words, or `hanging` columns in where the line
    is indented and no item."""
    begin = len(text) - len(text.lstrip())
    item = _ITEM.match(text)
    indent = item.end() if item and begin else begin + hanging if begin else 0
    if len(text) <= width:
        yield Text(text)
    else:
        yield from wrapped(text.strip(), width, indent=" " * indent, first=text[:begin])


def recap_lines(session: SessionDocument, turns: int, question: QuestionDocument | None, width: int) -> Iterator[Text]:
    """A session that is taken up again: what it is, where it stands, what is open."""
    title = session.title or "a session without a title"
    yield from wrapped(
        f"{title} ({count(turns, 'turn')}, last {session.updated_at[:16].replace('T', ' ')} UTC)", width, indent=""
    )
    if session.headline:
        verdict = session.verdict.replace("_", " ")
        for line in wrapped(f"{session.headline} ({verdict})", width, indent=""):
            line.stylize("bold")
            yield line
    if question is not None:
        yield from said_lines(Said(kind="question", text="\n".join(_question(question))), width)


def _question(question: QuestionDocument) -> Iterator[str]:
    yield f"Still open: {question.text}"
    yield f"(asking because {question.because})"
    yield from (f"  {number} {answer.text}" for number, answer in enumerate(question.answers, 1))


def standing(diagnosis: DiagnosisSummary) -> str:
    """A diagnosis in a few words: `probable, rank 2, input delay 74 %`."""
    lead = diagnosis.leading
    parts = [diagnosis.verdict.replace("_", " ")]
    if lead is not None:
        parts.append(ranks(lead.ranks) or "all ranks")
        parts.append(f"{named(lead.cause, {})} {percent(lead.probability)}" if lead.cause else "cause open")
    return ", ".join(parts)


def open_questions(questions: Sequence[QuestionDocument], width: int) -> Iterator[Text]:
    """Questions that would decide, one a paragraph."""
    for question in questions:
        yield from wrapped(question.text, width, indent="    ", first="  ? ")
        yield from wrapped(f"({question.because})", width, indent="    ")
