"""Facts: typed, immutable statements with a unit, a quality and a source.

A fact's key is its kind and the values of its key fields; a new fact with the same key replaces the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Scalar = str | int | float | bool
Quality = Literal["measured", "stated", "derived", "supposed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact comes from: a file and span, a turn of the chat, or a supposition."""

    ref: str
    span: str = ""

    def __str__(self) -> str:
        return f"{self.ref}#{self.span}" if self.span else self.ref


NO_SOURCE = Source("unknown")


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement. `values` holds the fields in the vocabulary's order; absent means unknown."""

    kind: str
    values: tuple[tuple[str, Scalar], ...]
    quality: Quality = "measured"
    source: Source = field(default=NO_SOURCE, compare=False)

    def __getitem__(self, name: str) -> Scalar:
        for key, value in self.values:
            if key == name:
                return value
        raise KeyError(name)

    def get(self, name: str, default: Scalar | None = None) -> Scalar | None:
        """Value of a field, or the default where the field is unknown."""
        return next((value for key, value in self.values if key == name), default)

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.values)
        return f"{self.kind}({inner})"


def fact(
    kind: str,
    values: Mapping[str, Scalar | None],
    *,
    quality: Quality = "measured",
    source: Source = NO_SOURCE,
) -> Fact:
    """Build a fact, dropping unknown (None) fields. The vocabulary checks it (`Vocabulary.check`)."""
    known = tuple((name, value) for name, value in values.items() if value is not None)
    return Fact(kind, known, quality, source)


def replace_by_key(facts: Iterable[Fact], newer: Iterable[Fact], keys: Mapping[str, tuple[str, ...]]) -> list[Fact]:
    """Facts in which each newer fact takes the place of the older one with the same key."""
    merged: dict[tuple[object, ...], Fact] = {}
    for item in (*facts, *newer):
        merged[fact_key(item, keys)] = item
    return list(merged.values())


def fact_key(item: Fact, keys: Mapping[str, tuple[str, ...]]) -> tuple[object, ...]:
    """The identity of a fact: its kind and the values of its key fields."""
    return (item.kind, *(item.get(name) for name in keys.get(item.kind, ())))
