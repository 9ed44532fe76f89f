"""Words that matter in a sentence about ranks: who, which measure, how much, which step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from . import ranks
from .columns import Column, lexicon, normal, understand
from .numbers import NUMBER, Quantity, plain, quantity, unit_pattern

Kind = Literal["who", "column", "value", "list", "step", "comma", "after", "more", "alien"]
_SPELLED_OUT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
LONGEST_LINE = 2000
"""Characters of a line beyond which it is no sentence."""
WORD_NUMBERS = {word: at for at, word in enumerate(_SPELLED_OUT, 1)}
COUNT = rf"\d(?:[\d,]*\d)?|{'|'.join(WORD_NUMBERS)}"
ON = re.compile(r"(?:on|for|of|in)", re.IGNORECASE)
"""Ranks after one of these belong to the number before them."""
_INNER = ("ids", "more_than_one", "at", "unit", "suffix")
_NOT_MEASURED = r"hours?|hrs?|days?|weeks?|months?|times|epochs?|layers?|percent|million|billion|[ap]m|o'clock"
_RANK_WORD = r"(?:ranks?|gpus?|workers?)"


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its meaning. `who` for ranks, `column` for a measure, `values` for numbers."""

    kind: Kind
    text: str
    who: ranks.Ranks | None = None
    column: Column | None = None
    values: tuple[Quantity, ...] = ()


@cache
def _pattern() -> re.Pattern[str]:
    names = {*lexicon().phrases, *(name for name, (_, kind) in lexicon().names.items() if kind in ("time", "count"))}
    column = "|".join(_spelled(name) for name in sorted(names, key=len, reverse=True) if len(name) > 1)
    unit = rf"(?:\s*{unit_pattern()})?"
    one = rf"(?:[~≈<>]\s*)?{NUMBER}{unit}(?:\s*(?:±|\+/-|-|–|—|\bto\b|\.\.)\s*{NUMBER}{unit})?"
    people = r"ranks|gpus|workers"
    spelled = "|".join(_SPELLED_OUT)
    on = rf"(?:\b{ON.pattern}\s+)?"
    parts = {
        "counted": rf"(?<![\w.])(?:{COUNT})\s+(?:(?!(?:on|for|and|at|in|all|but)\b)\w+\s+){{0,2}}?"
        rf"(?:steps|iterations|{people}|nodes|hosts|percent)\b",
        "others": rf"{on}\b(?:all\s+|the\s+)*"
        rf"(?:other\s+(?:{spelled}|\d{{1,4}}(?=\s*(?:{people})|\s+(?:\w+\s+){{0,2}}~?\d))(?:\s+(?:{people}))?|others?(?:\s+(?:\w+\s+)?(?:{people}))?|rest(?:\s+of\s+(?:them|the\s+(?:{people})))?"
        rf"|remaining(?:\s+(?:{spelled}|\d{{1,4}}))?(?:\s+(?:{people}|ones))?|every(?:body|one|thing)\s+else"
        r"|(?:its|their)\s+peers|peers|elsewhere|(?:any|every)where\s+else)\b",
        "all": rf"{on}\b(?:all(?:\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+)?(?:{people}))"
        r"|(?:every|each)\s+(?:rank|gpu|worker)|everyone|everywhere|all\s+of\s+them)\b",
        "last": rf"{on}\b(?:the\s+)?last\s+{_RANK_WORD}\b(?!\s+arriv)",
        "who": rf"{on}"
        r"\b(?:rank|gpu|worker)(?P<more_than_one>s)?\s*[=:#]?\s*"
        r"(?P<ids>\d{1,6}(?:(?(more_than_one)|(?!))\s*(?:-|–|to\b|,|and\b|&|/)\s*\d{1,6}\b(?![.%]))*)"
        r"(?:['’]s\b)?(?!\.\d)",
        "after": r"\b(?:after|behind|later\s+than)\s+(?:all\s+)?(?:its|the|their)\s+(?:peers|others?)\b",
        "more": r"\b(?:longer|slower|later|more)\b",
        "step": r"\b(?:step|iter|iteration|global_step)\s*(?:[=:#]\s*|\s)(?P<at>\d{1,12})"
        r"(?!\.\d|\s*(?:ms|us|s)\b|\d)(?:\s*/\s*\d+)?",
        "column": rf"(?<![\w])(?:{column})(?![\w])"
        rf"(?:\s*[(\[](?P<unit>{unit_pattern()})[)\]])?(?:_(?P<suffix>ms|us|ns|s)\b)?",
        "list": rf"(?<![\w.])(?:{one})(?:\s*/\s*(?:{one}))++(?!\w)",
        "alien": rf"\b[A-Za-z][\w.]*(?:\([a-z]+\))?\s*=\s*{NUMBER}",
        "value": rf"(?<![\w.%])(?:{one})(?![\w]|\s*(?:%|[kKMGT]i?B\b|Gbps|GB|MHz|GHz|TFLOP|°|W\b|x\b"
        rf"|(?:{_NOT_MEASURED})\b)|\s+ago\b)",
        "comma": r",(?!\d)|\bwhile\b|\bbut\b",
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()), re.IGNORECASE)


def unspent(clause: str) -> str:
    """The clause without its tokens."""
    return _pattern().sub(" ", clause)


def _spelled(name: str) -> str:
    return r"[\s_\-]+".join(re.escape(word) for word in name.split())


def tokens(clause: str) -> Iterator[Token]:
    """Tokens of a clause in order; words without meaning here are passed over."""
    for match in _pattern().finditer(clause):
        kind = match.lastgroup if match.lastgroup not in _INNER else _outer(match)
        text = match[0]
        if kind in ("others", "all", "last"):
            yield Token("who", text, kind)  # type: ignore[arg-type]
        elif kind == "who" and (who := ranks.several(match["ids"])) is not None:
            yield Token("who", text, who)
        elif kind == "step":
            yield Token("step", match["at"])
        elif kind in ("comma", "after", "more"):
            yield Token(kind, text)  # type: ignore[arg-type]
        elif kind == "column":
            yield Token("column", text, column=_column(text, match["unit"] or match["suffix"]))
        elif kind == "alien":
            yield Token("alien", text)
        elif kind in ("value", "list"):
            parts = re.split(r"\s*/\s*", text) if kind == "list" else [text]
            yield Token(kind, text, values=shared_unit(parts))  # type: ignore[arg-type]


def _outer(match: re.Match[str]) -> str:
    return next(kind for kind in ("who", "step", "column") if match[kind] is not None)


def _column(text: str, unit: str | None) -> Column | None:
    words = normal(re.sub(r"[(\[].*[)\]]$", "", text))
    book = lexicon()
    if words in book.phrases:
        key, kind = book.phrases[words]
        return Column(key, kind, book.units_ms[unit.lower()] if unit else None)
    return understand(text)


def shared_unit(parts: list[str]) -> tuple[Quantity, ...]:
    """Quantities of a list in which the last may carry the unit of all."""
    read = [quantity(part) for part in parts]
    last = read[-1].factor_ms
    return tuple(Quantity(q.value, q.half, q.factor_ms if q.factor_ms is not None else last, q.problem) for q in read)


def count_of(word: str) -> int:
    """`ten`, `300` or `1,024` as a number."""
    return WORD_NUMBERS.get(word.lower()) or int(min(plain(word.replace(",", "")), 1e15))
