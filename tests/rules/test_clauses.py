"""Every clause of the lesson that speaks of performance is carried by a rule or a knowledge entry and held by a case.

`python tests/rules/test_clauses.py` prints clause -> rules -> cases.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import yaml
from latecomer.knowledge import load

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "rules" / "book"
CASES = Path(__file__).parent
PERFORMANCE = [f"L{n:02}" for n in range(1, 44) if n != 33]
"""L33 marks answers, L44 and L45 are about the learner; they belong to the rehearsal."""


@cache
def rules_by_clause() -> dict[str, list[str]]:
    """Clause -> ids of the rules that carry it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(BOOK.glob("*/*.yaml")):
        document = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        for clause in document.get("clauses", ()):
            found[clause].append(document["id"])
    return found


@cache
def cases_by_rule() -> dict[str, list[tuple[str, bool]]]:
    """Rule -> its cases: name, and whether the rule fires."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for path in sorted(CASES.glob("*/*.yaml")):
        document = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        found[document["rule"]] = [(case["name"], not case.get("quiet", False)) for case in document["cases"]]
    return found


@cache
def knowledge_by_clause() -> dict[str, list[str]]:
    """Clause -> knowledge entries that carry it."""
    knowledge, found = load(), defaultdict(list)
    for group in (
        knowledge.causes,
        knowledge.questions,
        knowledge.experiments,
        knowledge.mitigations,
        knowledge.misconceptions,
    ):
        for name, entry in group.items():
            for clause in entry.clauses:
                found[clause].append(name)
    return found


@pytest.mark.parametrize("clause", PERFORMANCE)
def test_clause_is_carried_and_held(clause: str) -> None:
    rules, cases = rules_by_clause()[clause], cases_by_rule()
    assert rules or knowledge_by_clause()[clause], f"{clause} is carried by nothing"
    held = [name for rule in rules for name, fires in cases.get(rule, ()) if fires]
    assert held, f"{clause} is held by no case that fires"


def test_every_rule_has_a_case_that_fires_and_one_that_is_quiet() -> None:
    cases = cases_by_rule()
    rules = {f"{path.parent.name}.{path.stem}" for path in BOOK.glob("*/*.yaml")}
    assert rules == set(cases)
    assert not [rule for rule, found in cases.items() if {fires for _, fires in found} != {True, False}]


def main() -> None:
    """Print the table."""
    rules, cases, entries = rules_by_clause(), cases_by_rule(), knowledge_by_clause()
    for clause in PERFORMANCE:
        print(clause, "knowledge:", ", ".join(entries.get(clause, ["-"])))
        for rule in rules.get(clause, ()):
            print("   ", rule, "|", "; ".join(name for name, _ in cases.get(rule, ())))


if __name__ == "__main__":
    main()
