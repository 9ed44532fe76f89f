"""Case files of public incidents, told in our own words, with their labels."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

CASES = Path(__file__).parent / "cases"


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The labels, untouched."""

    hypothesis: str | None
    rank: Any
    rank_kind: str
    must_ask: list[str]
    must_not_claim: list[str]


class Incident(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One incident. `says`: messages as an engineer types or pastes them, in order."""

    id: str
    says: list[str]
    expected: Expected


@cache
def incidents() -> tuple[Incident, ...]:
    """Every incident, by id."""
    return tuple(_read(path) for path in sorted(CASES.glob("*.yaml")))


def _read(path: Path) -> Incident:
    found = msgspec.convert(yaml.safe_load(path.read_text("utf-8")), Incident)
    assert found.id == path.stem, path
    return found
