"""Runs the case files of rules: <directory>/<family>/<name>.yaml, cases that fire and cases that stay quiet.

rule: input-delay.lateness-is-input-wait
cases:
  - name: fires on ...
    facts: [{fact: scope, scope: "rank:2", kind: rank, ...}]     # what is left out takes a default
    says: ["full text of each message"]                          # optional; exact, in any order
    consequences: [{kind: "@argue", cause: input_delay}]         # optional; parts that must be among them
  - name: stays quiet when ...
    facts: [...]
    quiet: true
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ..knowledge.errors import KnowledgeError
from ..knowledge.facts import Fact, Scalar, fact
from ..knowledge.model import Knowledge
from ..knowledge.vocabulary import fill_template
from .book_model import RuleBook
from .infer import infer
from .model import Finding


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One case: facts, and what the rule makes of them."""

    name: str
    facts: list[dict[str, Any]]
    quiet: bool = False
    says: list[str] | None = None
    consequences: list[dict[str, Any]] = []


class CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cases of one rule."""

    rule: str
    cases: list[Case]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case went; `fault` is empty where it holds."""

    rule: str
    case: str
    quiet: bool
    where: str
    fault: str = ""

    @property
    def holds(self) -> bool:
        """Whether the rule did what the case says."""
        return not self.fault


def run_cases(book: RuleBook, knowledge: Knowledge, directory: Path) -> list[CaseResult]:
    """Every case under a directory, run with the whole book. Raises KnowledgeError for a malformed case file."""
    known = {rule.id for rule in book.rules}
    results: list[CaseResult] = []
    for path in sorted(directory.glob("*/*.yaml")):
        found = read_cases(path)
        if found.rule not in known:
            raise KnowledgeError(f"no rule has the id {found.rule}", where=f"{path}:1")
        results += [_run(case, found.rule, book, knowledge, path) for case in found.cases]
    return results


def read_cases(path: Path) -> CaseFile:
    """The cases of one file. Raises KnowledgeError for anything malformed."""
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
        return msgspec.convert(raw, CaseFile)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise KnowledgeError(f"not a case file: {error}", where=str(path)) from error


def fact_of(template: Mapping[str, Scalar], knowledge: Knowledge) -> Fact:
    """The fact that a case names; fields left out take the vocabulary's defaults."""
    return fill_template(knowledge.facts, dict(template), {})


def _run(case: Case, rule: str, book: RuleBook, knowledge: Knowledge, path: Path) -> CaseResult:
    try:
        facts = [fact(f.kind, dict(f.values)) for f in (fact_of(t, knowledge) for t in case.facts)]
    except (KnowledgeError, KeyError) as error:
        raise KnowledgeError(f"{case.name}: {error}", where=str(path)) from error
    found = [f for f in infer(facts, book).findings if f.rule == rule]
    return CaseResult(rule, case.name, case.quiet, str(path), _fault(case, found))


def _fault(case: Case, found: list[Finding]) -> str:
    said = sorted(f.text for f in found)
    if case.quiet:
        return f"it fired: {said[0]}" if said else ""
    if not said:
        return "it did not fire"
    if case.says is not None and said != sorted(case.says):
        return f"it said {said}, not {sorted(case.says)}"
    made = [item for f in found for item in f.consequences]
    for wanted in case.consequences:
        if not any(all(item.get(name) == value for name, value in wanted.items()) for item in made):
            return f"{wanted} is not among its consequences"
    return ""
