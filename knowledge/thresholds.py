"""Thresholds by name, read once from thresholds.yaml (value, unit, source)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec.yaml

from .errors import KnowledgeError


@cache
def _table() -> dict[str, float]:
    path = Path(__file__).with_name("thresholds.yaml")
    document: dict[str, dict[str, Any]] = msgspec.yaml.decode(path.read_bytes())
    for name, entry in document.items():
        if set(entry) != {"value", "unit", "source"}:
            raise KnowledgeError(f"threshold {name} needs value, unit and source", where=str(path))
    return {name: float(entry["value"]) for name, entry in document.items()}


def threshold(name: str) -> float:
    """Value of a named threshold. Raises KnowledgeError for an unknown name."""
    try:
        return _table()[name]
    except KeyError:
        raise KnowledgeError(f"no threshold is named {name}", where="knowledge/thresholds.yaml") from None
