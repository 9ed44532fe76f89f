"""Every rule has a case file with cases that fire and cases that stay quiet, and every case holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from latecomer.knowledge import KnowledgeError, load
from latecomer.rules.cases import CaseResult, run_cases
from latecomer.rules.loader import load_book

CASES = Path(__file__).parent


@pytest.fixture(scope="module")
def results() -> list[CaseResult]:
    return run_cases(load_book(), load(), CASES)


def test_every_case_holds(results: list[CaseResult]) -> None:
    assert [(r.rule, r.case, r.fault) for r in results if not r.holds] == []


def test_every_rule_has_a_case_that_fires_and_one_that_stays_quiet(results: list[CaseResult]) -> None:
    ids = {rule.id for rule in load_book().rules}
    assert ids == {r.rule for r in results if r.quiet} == {r.rule for r in results if not r.quiet}


def test_a_case_file_lies_where_its_rule_lies(results: list[CaseResult]) -> None:
    assert {r.rule for r in results if Path(r.where).with_suffix("").parts[-2:] != tuple(r.rule.split("."))} == set()


def test_a_case_that_does_not_hold_says_how(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    facts = "{fact: host_state, scope: common, state: normal}"
    body = f"""rule: host.host-was-seen-normal
cases:
  - {{name: a, facts: [{facts}], quiet: true}}
  - {{name: b, facts: []}}
  - {{name: c, facts: [{facts}], says: [x]}}
  - {{name: d, facts: [{facts}], consequences: [{{cause: input_delay}}]}}
  - {{name: e, facts: [{facts}], consequences: [{{kind: "@argue", cause: host_stall, side: against}}]}}
"""
    (tmp_path / "f" / "x.yaml").write_text(body, "utf-8")
    faults = [r.fault for r in run_cases(load_book(), load(), tmp_path)]
    assert [f.split(" ")[1] if f else "" for f in faults] == ["fired:", "did", "said", "'input_delay'}", ""]


@pytest.mark.parametrize(
    "body", ["rule: x", "rule: no.such\ncases: []", "- 1", "rule: [", "rule: x\ncases: []\nmore: 1"]
)
def test_a_malformed_case_file_is_an_error(tmp_path: Path, body: str) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "x.yaml").write_text(body, "utf-8")
    with pytest.raises(KnowledgeError, match=r"x\.yaml"):
        run_cases(load_book(), load(), tmp_path)
