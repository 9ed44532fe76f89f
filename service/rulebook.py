"""The rule book for clients: list, show, run its cases, name its version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml

from ..knowledge.errors import InputError, UsageError
from ..knowledge.loader import load
from ..rules.cases import CaseResult, run_cases
from ..rules.loader import load_book
from ..rules.model import Rule


def book_hash() -> str:
    """sha256 of the rule book."""
    return load_book(knowledge=load()).sha256


def rules(pack: str = "") -> Sequence[Rule]:
    """Rules of a family, or all, sorted by id. Raises UsageError for a family that does not exist."""
    found = load_book(knowledge=load()).rules
    if not pack:
        return found
    chosen = [rule for rule in found if _family(rule.id) == pack]
    if not chosen:
        families = sorted({_family(rule.id) for rule in found})
        raise UsageError(f"no family of rules is named {pack}", remedy=f"One of: {', '.join(families)}.")
    return chosen


def rule(rule_id: str) -> Rule:
    """One rule. Raises UsageError for an id that does not exist, with those that look like it."""
    found = {r.id: r for r in load_book(knowledge=load()).rules}
    if rule_id not in found:
        word = rule_id.rpartition(".")[2]
        alike = [name for name in found if word and word in name][:5]
        remedy = f"Did you mean {', '.join(alike)}?" if alike else "`latecomer rules list` names them all."
        raise UsageError(f"no rule has the id {rule_id}", remedy=remedy)
    return found[rule_id]


def as_yaml(shown: Rule) -> str:
    """A rule as the document it was written as, without fields at their default."""
    given = msgspec.to_builtins(shown)
    kept = {name: value for name, value in given.items() if value not in (None, [], "")}
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110)


def case_results(pack: str, directory: Path) -> list[CaseResult]:
    """Results of the cases of a family, or of all. Raises UsageError or InputError where there are none."""
    names = {r.id for r in rules(pack)}
    if not directory.is_dir():
        raise InputError("no such folder of cases", where=str(directory), remedy="Give it with --cases.")
    knowledge = load()
    results = run_cases(load_book(knowledge=knowledge), knowledge, directory)
    chosen = [result for result in results if result.rule in names]
    if not chosen:
        raise InputError("it holds no cases of these rules", where=str(directory), remedy="Give --cases.")
    return chosen


def _family(rule_id: str) -> str:
    return rule_id.partition(".")[0]
