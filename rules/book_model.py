"""A rule book that was checked: rules, their hash, and the vocabulary they are written in. Imports no engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from ..knowledge.model import FactKind
from .model import Pattern, Rule

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules sorted by id. `sha256` depends on what they say, not on the order of files or keys."""

    rules: tuple[Rule, ...]
    sha256: str
    kinds: Mapping[str, FactKind]

    def pass_of(self, rule: Rule) -> Literal[1, 2]:
        """2 for a rule that reads a fact of the verdict."""
        return 2 if any(self.kinds[str(p["fact"])].pass_ == 2 for p in patterns(rule)) else 1

    def pass_for(self, kinds: set[str]) -> Literal[1, 2]:
        """The pass that facts of these kinds are meant for: 2 where a verdict is among them."""
        return 2 if any(k in self.kinds and self.kinds[k].pass_ == 2 for k in kinds) else 1


def as_list(value: list[_Item] | _Item | None) -> list[_Item]:
    """One, several or none, as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def patterns(rule: Rule) -> Iterator[Pattern]:
    """Positive, then negated patterns."""
    yield from rule.when.values()
    yield from rule.unless


def reference(value: object) -> tuple[str, str] | None:
    """Alias and field of `$alias.field`."""
    if not isinstance(value, str) or not value.startswith("$"):
        return None
    alias, _, field = value[1:].partition(".")
    return alias, field
