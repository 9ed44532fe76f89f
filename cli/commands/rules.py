"""`latecomer rules list|show|test` and the version line."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...service import rulebook
from ..exit_codes import Exit


def version_line() -> str:
    """Version of latecomer and hash of its rule book."""
    try:
        number = version("latecomer")
    except PackageNotFoundError:
        number = "(not installed)"
    return f"latecomer {number}, rule book {rulebook.book_hash()[:12]}"


def list_rules(pack: str) -> Exit:
    """Id, status, clauses and title of each rule, a line each."""
    found = rulebook.rules(pack)
    size = max(len(rule.id) for rule in found)
    for rule in found:
        status = "" if rule.status == "stable" else f" ({rule.status})"
        print(f"{rule.id.ljust(size)}  {rule.title}{status}")
    print(f"{len(found)} rules", file=sys.stderr)
    return Exit.DIAGNOSIS


def show_rule(rule_id: str) -> Exit:
    """The document of one rule."""
    sys.stdout.write(rulebook.as_yaml(rulebook.rule(rule_id)))
    return Exit.DIAGNOSIS


def test_rules(pack: str, cases: str) -> Exit:
    """Run cases; a line for each that does not hold, and the count. 1 where one does not hold."""
    results = rulebook.case_results(pack, Path(cases))
    broken = [result for result in results if not result.holds]
    for result in broken:
        print(f"{result.where}: {result.rule}: {result.case}: {result.fault}")
    fired = sum(not result.quiet for result in results)
    print(f"{len(results)} cases ({fired} fire, {len(results) - fired} quiet), {len(broken)} do not hold")
    return Exit.FAULT if broken else Exit.DIAGNOSIS
