"""Where each measured fact comes from: the files of the ranks it speaks of, and the steps or lines in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..knowledge.facts import NO_SOURCE, Fact, Source
from .tables import SUMMARY, Tables

NAMED_FILES = 4
"""More files than this are counted instead of named."""


def with_sources(facts: list[Fact], tables: Tables) -> list[Fact]:
    """The facts, each with the files and the span it rests on; a fact that has a source keeps it."""
    files = files_by_rank(tables)
    scopes = {str(f["scope"]): str(f["ranks"]) for f in facts if f.kind == "scope"}
    span = _span(tables)
    return [
        f if f.source is not NO_SOURCE else replace(f, source=_source(f, files, scopes, span, tables)) for f in facts
    ]


def files_by_rank(tables: Tables) -> dict[int, tuple[str, ...]]:
    """Names of the sources that hold each rank's steps."""
    steps = tables.steps
    if steps is None:
        return {}
    pairs = np.unique(np.stack([steps.rank, steps.origin]), axis=1).T
    found: dict[int, list[str]] = {}
    for rank, origin in pairs.tolist():
        if 0 <= origin < len(tables.sources):
            found.setdefault(rank, []).append(tables.sources[origin])
    return {rank: tuple(names) for rank, names in found.items()}


def _source(
    fact: Fact, files: Mapping[int, tuple[str, ...]], scopes: Mapping[str, str], span: str, tables: Tables
) -> Source:
    ranks = _ranks(fact, scopes)
    found = sorted({n for r in ranks for n in files.get(r, ())}) or list(tables.sources)
    names = list(dict.fromkeys(part for n in found for part in (n.split(", ") if n.startswith("turn ") else (n,))))
    if not names:
        return Source("given facts", span)
    shown = ", ".join(names) if len(names) <= NAMED_FILES else f"{names[0]} and {len(names) - 1} more files"
    return Source(shown, span)


def _ranks(fact: Fact, scopes: Mapping[str, str]) -> list[int]:
    known = fact.get("rank")
    if known is not None:
        return [int(known)]
    text = fact.get("ranks") if fact.kind == "scope" else scopes.get(str(fact.get("scope")))
    return expand(str(text)) if text else []


def expand(text: str) -> list[int]:
    """Ranks as people write them (0-3,7) as numbers."""
    found: list[int] = []
    for low, high in re.findall(r"(\d+)(?:-(\d+))?", text):
        found.extend(range(int(low), int(high or low) + 1))
    return found


def _span(tables: Tables) -> str:
    steps = tables.steps
    if steps is None or len(steps.step) == 0:
        return ""
    known = steps.step[steps.step != SUMMARY]
    if len(known):
        return f"steps {known.min()}-{known.max()}"
    lines = steps.line[steps.line >= 0]
    return f"lines {lines.min()}-{lines.max()}" if len(lines) else ""
