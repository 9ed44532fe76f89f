"""How many ranks and steps a sentence says there are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....traces.readers.table.ranks import MOST_RANKS
from ....traces.readers.table.tokens import WORD_NUMBERS, count_of
from ..acts import Context

COUNT = rf"\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(WORD_NUMBERS)}"
_PEOPLE = r"(?:ranks|gpus|workers|cards|accelerators|[ahbv]\d{2,3}s?(?:\s+gpus)?)"
_NODES = re.compile(
    rf"(?<![\w.])({COUNT})\s*(?:x\s+)?(?:nodes?|hosts?|machines?|boxes|servers?)\W+(?:(?:with|of|x|times|and|each|has|have|having)\W+)*"
    rf"({COUNT})\s*x?\s*(?:\w+\s+)?(?:{_PEOPLE}|gpu)\b",
    re.I,
)
_NODES_AFTER = re.compile(
    rf"(?<![\w.])({COUNT})\s*x?\s*(?:\w+\s+)?{_PEOPLE}\s+(?:per|a|each|on each|in each|on every|\/)\s*"
    rf"(?:of\s+)?(?:the\s+)?(?:node|host|machine|box|server)?\W+(?:on|over|across|x|and|,)?\s*({COUNT})\s+(?:nodes|hosts|machines|boxes|servers)\b",
    re.I,
)
_RANKS = re.compile(
    rf"(?<![\w.])(?P<before>(?:others?|remaining|these|those|only|first|last|of which|all the|just)\s+)?"
    rf"(?P<all>all\s+)?(?P<count>{COUNT})\s*x?\s*(?:(?!of\b|loader|dataloader|data\b|cpu|io\b)\w+\s+)??{_PEOPLE}\b(?!\s+(?:are|is|was|were|wait|sit|hang|do|get|arrive|need|take"
    r"|show|late|slow|slower|faulty|dead|stuck|stay|look|out|finish|read|per|that|which|reach|stop|crash|died|have|in|behind)\b)",
    re.I,
)
_LOADERS = re.compile(r"\b(?:cores?|cpus?|threads?|loaders?|dataloaders?|num_workers|ranks?|gpus?)\b", re.I)
"""Beside these words, workers are those that load data."""
_WORLD = re.compile(r"\bworld[ _-]?size\s*(?:is|of|[=:])?\s*(\d+)", re.I)
_STEPS = re.compile(
    rf"(?<![\w.])(?<!every )(?<!after )(?<!each )(?<!until )(?<!per )(?<!completed )(?<!finished )(?<!at )"
    rf"({COUNT})\s+(?:\w+\s+)?(?:steps|iterations|iters)\b(?!\s+(?:per|ago|later|a second))",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Size:
    """Ranks and steps; None where the sentence does not say."""

    ranks: int | None = None
    steps: int | None = None


def without_size(sentence: str) -> str:
    """The sentence without what it says of ranks and steps of the job."""
    for pattern in (_NODES, _NODES_AFTER, _WORLD, _STEPS, _RANKS):
        sentence = pattern.sub(" ", sentence)
    return sentence


def size(sentence: str, context: Context) -> Size:
    """Ranks and steps of the job that a sentence states."""
    sentence = sentence[:2000]
    steps = _STEPS.search(sentence)
    return Size(_ranks(sentence), _within(count_of(steps[1])) if steps else None)


def _ranks(sentence: str) -> int | None:
    for pattern in (_NODES, _NODES_AFTER):
        if match := pattern.search(sentence):
            return _within(count_of(match[1]) * count_of(match[2]))
    if match := _WORLD.search(sentence):
        return _within(int(match[1]))
    loaders = bool(_LOADERS.search(sentence))
    found = [m for m in _RANKS.finditer(sentence) if not m["before"] and not (loaders and "worker" in m[0].lower())]
    counts = [count_of(match["count"]) for match in found]
    return _within(max(counts, default=0))


def _within(count: int) -> int | None:
    return count if 0 < count <= MOST_RANKS else None
