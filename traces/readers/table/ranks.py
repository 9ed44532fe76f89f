"""Rank labels: `2`, `rank 2`, `gpu3`, `0-3`, `0, 1 and 3`, `others`, `all`."""

from __future__ import annotations

import re
from typing import Literal

Ranks = tuple[int, ...] | Literal["others", "all", "last"]
"""Ranks that a label names. `others` and `all` are resolved once the ranks of the job are known."""

MOST_RANKS = 1_000_000
_WORD = r"(?:global[ _-]?|local[ _-]?)?(?:ranks?|gpus?|workers?|devices?|proc(?:ess)?|cuda|r)[\s_#:=-]*"
_LABEL = re.compile(rf"(?:{_WORD})?\s*\[?((?:\d+)(?:\s*(?:-|–|—|to|\.\.|,|/|&|and|\+)\s*\d+)*)\]?\s*(?:\(.*\))?", re.I)
_NAMED = re.compile(rf"{_WORD}(\d+)", re.I)
_OTHERS = frozenset({"other", "others", "rest", "the others", "the rest", "all others", "everyone else", "other ranks",
                     "everybody else", "remaining", "all other ranks", "peers", "the other ranks"})  # fmt: skip
_ALL = frozenset({"all", "all ranks", "every rank", "each rank", "everyone", "*", "each", "any"})


def label(text: object) -> Ranks | None:
    """The ranks a cell names, or None."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, (int, float)):
        return (int(text),) if text == text and 0 <= text < MOST_RANKS and int(text) == text else None
    word = str(text).strip().strip("*`\"'").strip().lower()
    if word in _OTHERS:
        return "others"
    if word in _ALL:
        return "all"
    match = _LABEL.fullmatch(word.removesuffix(".0"))
    return several(match[1]) if match else None


def named(text: object) -> int | None:
    """The rank of a label that says that it is one (`rank 2`, `gpu3`), for headers; else None."""
    match = _NAMED.fullmatch(str(text).strip().strip("*`\"'"))
    return int(match[1]) if match and len(match[1]) <= 6 else None


def several(text: str) -> Ranks | None:
    """Expand `0-3`, `0, 1 and 3`."""
    ranks: list[int] = []
    for part in re.split(r"\s*(?:,|/|&|\band\b|\+)\s*", text.strip()):
        ends = [end for end in re.split(r"\s*(?:-|–|—|to|\.\.)\s*", part) if end]
        if not ends or any(len(end) > 6 or not end.isdecimal() for end in ends):
            return None
        low, high = int(ends[0]), int(ends[-1])
        if high < low or high >= MOST_RANKS:
            return None
        ranks.extend(range(low, high + 1))
    return tuple(dict.fromkeys(ranks))
