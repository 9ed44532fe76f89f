"""What a text says of the whole job: how many ranks and steps there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...tables import Note
from . import ranks
from .tokens import COUNT, LONGEST_LINE, count_of

_STEPS = re.compile(rf"(?<![\w.])({COUNT})\s+(?:\w+\s+)?(?:steps|iterations)\b", re.IGNORECASE)
_WORLD = re.compile(
    rf"(?<![\w.])({COUNT})\s+(?:\w+\s+)?(?:ranks|gpus)\b|\bworld[ _-]?size\s*[=:]?\s*(\d+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Stated:
    """Numbers about the whole job: ranks, and (as a note `steps-stated`) steps."""

    world_size: int | None
    notes: tuple[Note, ...]


def stated(lines: Sequence[tuple[int, str]], name: str) -> Stated:
    """How many ranks and steps the text says there are."""
    world: list[int] = []
    notes: list[Note] = []
    for _, line in lines:
        world += [count_of(match[1] or match[2]) for match in _WORLD.finditer(line[:LONGEST_LINE])]
        for match in _STEPS.finditer(line[:LONGEST_LINE]):
            count = count_of(match[1])
            notes.append(Note("steps-stated", "info", f"the text speaks of {count} steps", name, count=count))
    size = max(world, default=0)
    return Stated(size if 0 < size <= ranks.MOST_RANKS else None, tuple(notes[:1]))
