"""What a table was read as, in words. Pure."""

from __future__ import annotations

import numpy as np

from ...traces.statements import rank_text
from ...traces.tables import SUMMARY, Tables
from .words import COLUMNS

MOST_NOTES = 3


def in_words(tables: Tables) -> list[str]:
    """Ranks, steps, columns, and what reading weakened."""
    ranks = sorted({i.rank for i in tables.ranks})
    words = [f"rank{'s' if len(ranks) != 1 else ''} {rank_text(ranks)}"]
    columns: list[str] = []
    if tables.steps is not None:
        stepped = np.unique(tables.steps.step[tables.steps.step != SUMMARY])
        words.append(f"{len(stepped)} steps" if len(stepped) else "one row a rank")
        columns += [COLUMNS.get(c, c.removesuffix("_ms").replace("_", " ")) for c in tables.steps.columns]
    if tables.collectives is not None:
        columns.append(f"{len(tables.collectives.rank):,} collective calls")
    if tables.batches is not None:
        kinds = ("samples", "tokens", "padded_tokens", "max_len")
        columns += [k.replace("_", " ") for k in kinds if (getattr(tables.batches, k) >= 0).any()]
        columns += ["sources"] if tables.batches.sources else []
    if columns:
        words.append(", ".join(columns))
    words += [n.detail for n in tables.report if n.severity != "info"][:MOST_NOTES]
    return words
