"""Loading the rule book: what it refuses, and the file and line it names."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from latecomer.knowledge import Knowledge, KnowledgeError, load
from latecomer.knowledge.model import FactKind, Field
from latecomer.rules.loader import build_book, load_book
from latecomer.rules.model import Rule

GOOD = """\
id: site.slow-input
title: A rule of a site
status: preview
why: test
when:
  late: {fact: scope, kind: rank}
  extra: {fact: stage_excess, scope: $late.scope, stage: input_wait}
argue:
  - {cause: input_delay, scope: $late.scope, level: weak, group: site}
says: "Rank {late.ranks}: {extra.excess_ms:ms}."
"""


def pack(root: Path, text: str, name: str = "site/slow-input.yaml") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return root


def test_a_site_pack_stands_beside_the_built_in_book(tmp_path: Path) -> None:
    book = load_book([pack(tmp_path, GOOD)])
    assert len(book.rules) == len(load_book().rules) + 1
    assert [r.id for r in book.rules] == sorted(r.id for r in book.rules)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("status: preview", "status: preview\nstates: x", 4, "states"),
        ("status: preview", "status: finished", 3, "finished"),
        ("fact: scope,", "fact: scoop,", 6, "no fact kind is named scoop"),
        ("stage: input_wait", "stages: input_wait", 7, "has no field stages"),
        ("stage: input_wait", "stage: lunch", 7, "'lunch' is not one of"),
        ("stage: input_wait", "coverage: {over: 1}", 7, "over is not one of"),
        ("stage: input_wait", "stage: {gte: input_wait}", 7, "no order"),
        ("stage: input_wait", "coverage: high", 7, "not of type float"),
        ("scope: $late.scope, stage", "stage", 7, "not joined to late"),
        ("scope: $late.scope, stage", "scope: {ne: $late.scope}, stage", 7, "not joined to late"),
        ("scope: $late.scope, stage", "scope: $later.scope, stage", 7, "no pattern before it is named later"),
        ("scope: $late.scope, stage", "scope: $late.where, stage", 7, "has no field where"),
        ("scope: $late.scope, stage", "late_ms: $late.noise_ms, stage", 7, "may be unknown"),
        ("scope: $late.scope, stage", "scope: $late.loss_ms, stage", 7, "loss_ms is float"),
        ("cause: input_delay", "cause: gremlins", 9, "no cause is named gremlins"),
        ("level: weak", "level: weak, mechanism: magic", 9, "no mechanism magic"),
        ("level: weak", "level: certain", 9, "certain"),
        ("{late.ranks}", "{late.rank}", 10, "has no field rank"),
        ("{late.ranks}", "{latest.ranks}", 10, "named latest"),
        ("{late.ranks}", "{late.ranks:ms}", 10, "not a number"),
        ("{late.ranks}", "{late.ranks.x}", 10, "is not {alias.field}"),
        ("{late.ranks}", "{late.__class__}", 10, "no field __class__"),
        ("id: site.slow-input", "id: site.other", 1, "the file is site/slow-input"),
        ("argue:\n", "ask: {question: why_not}\nargue:\n", 8, "no question is named why_not"),
        ("argue:\n", "propose: {experiment: pray}\nargue:\n", 8, "no experiment is named pray"),
        ("argue:\n", "mitigate: {mitigation: pray}\nargue:\n", 8, "no mitigation is named pray"),
        ("argue:\n", "correct: {misconception: none}\nargue:\n", 8, "no misconception is named none"),
        ("argue:\n", "derive: {fact: late_scope, scope: $late.scope}\nargue:\n", 8, "late_scope lacks of"),
        ("argue:\n", "unless:\n  - {fact: clock, state: broken}\nargue:\n", 9, "'broken' is not one of"),
        ("title: A rule", "title: [", 3, "not YAML"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    with pytest.raises(KnowledgeError, match=re.escape(message)) as caught:
        load_book([pack(tmp_path, GOOD.replace(old, new, 1))])
    assert caught.value.where == f"{tmp_path}/site/slow-input.yaml:{line}"


def test_three_patterns_are_refused(tmp_path: Path) -> None:
    third = "argue:\n  third: {fact: clock}\n".replace("argue:\n", "") + "argue:\n"
    with pytest.raises(KnowledgeError, match="3 patterns, 1 or 2"):
        load_book([pack(tmp_path, GOOD.replace("argue:\n", third))])


def test_two_rules_with_one_id_are_refused(tmp_path: Path) -> None:
    first, second = pack(tmp_path / "one", GOOD), pack(tmp_path / "two", GOOD)
    with pytest.raises(KnowledgeError, match=r"already defined in .*one/site"):
        load_book([first, second])


def test_a_tag_that_would_run_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="not YAML"):
        load_book([pack(tmp_path, GOOD.replace("A rule of a site", "!!python/object/apply:os.getcwd []"))])


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="no such directory"):
        load_book([tmp_path / "nowhere"])


def rule(name: str, **parts: Any) -> Rule:
    when = {"seen": {"fact": "toy"}}
    return Rule(**{"id": f"t.{name}", "title": "", "status": "stable", "why": "", "when": when, "says": "", **parts})


def derives(**values: Any) -> dict[str, Any]:
    return {"fact": "toy", "scope": "common", **values}


def knowledge() -> Knowledge:
    """The built-in knowledge and one more kind of fact that only rules make."""
    toy = FactKind("", ["scope"], {"scope": Field("str")}, derived=True)
    return replace(load(), facts={**load().facts, "toy": toy})


def test_a_rule_that_nothing_reaches_is_refused() -> None:
    with pytest.raises(KnowledgeError, match=r"t\.lost: it is unreachable: no rule derives toy"):
        build_book([rule("lost")], knowledge())


def test_a_cycle_through_negation_is_refused() -> None:
    when, unless = {"said": {"fact": "work_equality"}}, [{"fact": "toy"}]
    with pytest.raises(KnowledgeError, match=r"t\.liar: it negates a fact that it leads to"):
        build_book([rule("liar", when=when, unless=unless, derive=derives())], knowledge())


def test_the_hash_follows_what_rules_say_and_not_their_order() -> None:
    first, second = (rule(n, when={"said": {"fact": "work_equality"}}, derive=derives()) for n in "ab")
    book = build_book([first, second], knowledge())
    assert book.sha256 == build_book([second, first], knowledge()).sha256
    assert book.sha256 != build_book([first], knowledge()).sha256


def test_rules_that_read_a_verdict_are_of_pass_two() -> None:
    book = load_book()
    passes = {r.id: book.pass_of(r) for r in book.rules}
    assert passes["input-delay.lateness-is-input-wait"] == 1
    assert passes["experiments.replay-when-input-leads"] == 2


def test_the_book_loads_in_less_than_half_a_second() -> None:
    load()
    best = min(_timed() for _ in range(3))
    assert best < 0.5, "target 0.15 s; the rest is for slow machines"


def _timed() -> float:
    start = time.perf_counter()
    load_book()
    return time.perf_counter() - start
