"""Rows of numbers keyed by rank and step, still in any order; how several tables of one text become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...tables import SUMMARY, Floats, Ints, Note


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """`values` maps a key of columns.yaml to numbers (ms or counts), `half` to half ranges, `labels` to words."""

    rank: Ints
    step: Ints
    line: Ints
    values: dict[str, Floats]
    half: dict[str, Floats] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)

    def take(self, rows: Ints, rank: Ints | None = None) -> Block:
        """The block with these rows (and other ranks, where given)."""
        return Block(
            self.rank[rows] if rank is None else rank,
            self.step[rows],
            self.line[rows],
            {key: value[rows] for key, value in self.values.items()},
            {key: value[rows] for key, value in self.half.items()},
            {key: [words[row] for row in rows] for key, words in self.labels.items()},
        )


def repeats(rank: Ints, step: Ints) -> bool:
    """True if a pair of rank and step occurs twice."""
    if not len(rank):
        return False
    key = rank * (int(step.max(initial=0)) + 2) + step + 1
    return len(np.unique(key)) < len(key)


def number_steps(block: Block, name: str) -> tuple[Block, list[Note]]:
    """Give rows that repeat a rank without a step the steps 0, 1, ... in their order."""
    if not repeats(block.rank, block.step) or (block.step != SUMMARY).any():
        return block, []
    order = np.argsort(block.rank, kind="stable")
    _, first, counts = np.unique(block.rank[order], return_index=True, return_counts=True)
    step = np.empty(len(order), np.int64)
    step[order] = np.arange(len(order)) - np.repeat(first, counts)
    even = len(set(counts.tolist())) == 1
    detail = "ranks repeat and no column names the step; rows were taken as steps in their order"
    if not even:
        detail += f" (between {counts.min()} and {counts.max()} rows a rank: a repeated or missing row?)"
    note = Note(
        "steps-assumed", "info" if even else "weakens", detail, name, weakens="" if even else "step by step comparison"
    )
    return replace(block, step=step), [note]


def join(blocks: Sequence[Block], name: str) -> tuple[Block, list[Note]]:
    """One block with one row a rank and step. A later value fills gaps and never replaces an earlier one."""
    block = _concatenate(blocks)
    if len(blocks) == 1 and not repeats(block.rank, block.step):
        return block, []
    if len(blocks) > 1:
        block = _spread(block)
    return _fold(block, name) if repeats(block.rank, block.step) else (block, [])


def _concatenate(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]

    def floats(kind: str) -> dict[str, Floats]:
        keys = dict.fromkeys(key for block in blocks for key in getattr(block, kind))
        empty = [np.full(len(block.rank), math.nan) for block in blocks]
        return {
            key: np.concatenate([getattr(block, kind).get(key, gap) for block, gap in zip(blocks, empty, strict=True)])
            for key in keys
        }

    words = dict.fromkeys(key for block in blocks for key in block.labels)
    labels = {
        key: [word for block in blocks for word in block.labels.get(key, [""] * len(block.rank))] for key in words
    }
    rank, step, line = (np.concatenate([getattr(block, part) for block in blocks]) for part in ("rank", "step", "line"))
    return Block(rank, step, line, floats("values"), floats("half"), labels)


def _spread(block: Block) -> Block:
    """Repeat a summary row for every step of its rank, where other rows of the rank name steps."""
    steps: dict[int, list[int]] = {}
    for rank, step in zip(block.rank.tolist(), block.step.tolist(), strict=True):
        if step != SUMMARY:
            steps.setdefault(rank, []).append(step)
    if not steps:
        return block
    rows: list[int] = []
    numbers: list[int] = []
    for row, (rank, step) in enumerate(zip(block.rank.tolist(), block.step.tolist(), strict=True)):
        targets = list(dict.fromkeys(steps.get(rank, ()))) if step == SUMMARY else []
        rows.extend([row] * max(len(targets), 1))
        numbers.extend(targets or [step])
    return replace(block.take(np.array(rows, np.int64)), step=np.array(numbers, np.int64))


def _fold(block: Block, name: str) -> tuple[Block, list[Note]]:
    """Merge rows of the same rank and step: gaps are filled, contradictions keep the first and are reported."""
    first: dict[tuple[int, int], int] = {}
    block = block.take(np.arange(len(block.rank)))
    conflicts: list[str] = []
    for row, key in enumerate(zip(block.rank.tolist(), block.step.tolist(), strict=True)):
        kept = first.setdefault(key, row)
        if kept != row:
            conflicts += _fill(block, kept, row)
    merged = block.take(np.array(sorted(first.values()), np.int64))
    if not conflicts:
        return merged, []
    detail = f"contradictory values for the same rank and step; the first was kept: {'; '.join(conflicts[:3])}"
    return merged, [Note("duplicate-row", "weakens", detail, name, count=len(conflicts), weakens="the ranks named")]


def _fill(block: Block, kept: int, row: int) -> list[str]:
    conflicts: list[str] = []
    for key, value in block.values.items():
        old, new = value[kept], value[row]
        if math.isnan(old):
            value[kept] = new
            if key in block.half:
                block.half[key][kept] = block.half[key][row]
        elif not math.isnan(new) and not math.isclose(old, new, rel_tol=1e-9):
            conflicts.append(f"rank {block.rank[row]} {key} {old:g} and {new:g}")
    for words in block.labels.values():
        words[kept] = words[kept] or words[row]
    return conflicts
