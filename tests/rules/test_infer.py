"""Inference: consequences, sentences, passes, order."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from latecomer.knowledge import EngineError, Fact, fact, load
from latecomer.knowledge.model import FactKind, Field
from latecomer.rules.compile import compile_rules
from latecomer.rules.infer import infer
from latecomer.rules.loader import build_book, load_book
from latecomer.rules.model import Argue, Ask, Finding, Limit, Rule, Veto
from latecomer.rules.template import fill, show

WHEN: dict[str, Any] = {
    "late": {"fact": "scope", "kind": "rank"},
    "extra": {"fact": "stage_excess", "scope": "$late.scope", "part": {"ne": "none"}},
}


def some(fact_kind: str, **values: Any) -> Fact:
    return load().fill({"fact": fact_kind, **values}, {})


def evidence(rank: int = 2) -> list[Fact]:
    name = f"rank:{rank}"
    late = some("scope", scope=name, kind="rank", ranks=str(rank), lateness_ms=120.0)
    return [late, some("stage_excess", scope=name, stage="input_wait", excess_ms=118.04, coverage=0.984, part="whole")]


def rule(name: str = "t.rule", **parts: Any) -> Rule:
    given = {"id": name, "title": "", "status": "stable", "why": "", "when": WHEN, "says": "Rank {late.ranks}", **parts}
    return Rule(**given)


def found(*rules: Rule, facts: list[Fact] | None = None) -> tuple[Finding, ...]:
    return infer(evidence() if facts is None else facts, build_book(rules, load())).findings


def test_an_argument_becomes_one_consequence_for_each_cause() -> None:
    argue = Argue(["input_delay", "host_stall"], "$late.scope", "weak", "g", "against")
    base = {"kind": "@argue", "rule": "t.rule", "scope": "rank:2", "level": "weak", "group": "g", "side": "against"}
    assert found(rule(argue=argue))[0].consequences == (
        {**base, "cause": "input_delay"},
        {**base, "cause": "host_stall"},
    )


def test_other_consequences_are_flat_facts_too() -> None:
    question = next(iter(load().questions))
    parts = {"veto": Veto("host_stall", "$late.scope"), "ask": Ask(question, "$late.scope"), "limit": Limit()}
    kinds = [c["kind"] for c in found(rule(**parts))[0].consequences]
    assert kinds == ["@veto", "@ask", "@limit"]


def test_premises_carry_the_evidence_as_it_was_given() -> None:
    premises = dict(found(rule())[0].premises)
    assert premises["extra"] == {**dict(evidence()[1].values), "kind": "stage_excess"}
    assert premises["late"]["kind"] == "scope" and premises["late"]["lateness_ms"] == 120.0


def test_a_sentence_reads_numbers_as_people_do() -> None:
    says = "{extra.excess_ms:ms}, {extra.coverage:percent}, {late.steps:count}, {late.noise_ms}, {{x}}"
    assert found(rule(says=says))[0].text == "118 ms, 98 %, 0, unknown, {x}"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (12.34, "", "12.3"), (99.96, "", "100"), (20.0, "", "20"), (134.6, "", "135"), (-0.01, "", "0"), (1, "", "1"),
        (0.984, "percent", "98 %"), (0.004, "percent", "0.4 %"), (5.5, "ms", "5.5 ms"), (12345, "count", "12,345"),
        (True, "", "yes"), (None, "", "unknown"), ("0-3", "", "0-3"),
    ],
)  # fmt: skip
def test_values_in_words(value: Any, form: str, text: str) -> None:
    assert show(value, form) == text


@pytest.mark.parametrize("text", ["{a}", "{a.b.c}", "{a.b!r}", "{a.b:>9}", "{a.b:percentage}", "{", "}", "{0}"])
def test_the_formatter_knows_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        fill(text, {"a": {"b": 1}})


def test_unless_holds_back_also_on_a_premise_itself() -> None:
    said = {"seen": {"fact": "host_state", "state": {"ne": "normal"}}}
    held = rule(when=said, unless=[{"fact": "host_state", "scope": "$seen.scope", "state": "unknown"}], says="")
    assert len(found(held, facts=[some("host_state", scope="rank:1", state="compile")])) == 1
    assert found(held, facts=[some("host_state", scope="rank:1", state="unknown")]) == ()


def test_two_patterns_with_an_unless_that_joins_both() -> None:
    unless = [
        {"fact": "work_equality", "scope": "$late.scope", "state": "equal"},
        {"fact": "clock", "state": "unaligned"},
    ]
    book = rule(unless=unless, argue=Argue("input_delay", "$late.scope", "weak", "g"))
    assert len(found(book)) == 1
    assert found(book, facts=[*evidence(), some("work_equality", scope="rank:2", state="equal")]) == ()
    assert len(found(book, facts=[*evidence(), some("work_equality", scope="rank:1", state="equal")])) == 1
    assert found(book, facts=[*evidence(), some("clock", state="unaligned")]) == ()


def test_such_a_rule_is_split_in_two_and_stratified() -> None:
    made = compile_rules([rule(unless=[{"fact": "work_equality"}])])
    assert [(r.name, r.stratum, len(r.when), len(r.unless)) for r in made] == [
        ("~t.rule", 0, 2, 0),
        ("t.rule", 1, 1, 1),
    ]


def test_derived_facts_feed_rules_above_and_are_reported() -> None:
    toy = FactKind("", ["scope"], {"scope": Field("str"), "differs": Field("bool")}, derived=True)
    knowledge = replace(load(), facts={**load().facts, "toy": toy})
    first = rule("t.first", derive={"fact": "toy", "scope": "$late.scope", "differs": True})
    second = rule("t.second", when={"work": {"fact": "toy", "differs": True}}, says="{work.scope}")
    third = rule("t.third", unless=[{"fact": "toy", "scope": "$late.scope"}])
    result = infer(evidence(), build_book([first, second, third], knowledge))
    assert [f.rule for f in result.findings] == ["t.first", "t.second"]
    assert result.derived == ({"kind": "toy", "scope": "rank:2", "differs": True},)


def test_derived_numbers_have_the_declared_type() -> None:
    made = infer([some("transfer", transfer_ms=20.0, wait_ms=1e-5)], load_book()).derived
    took = next(d for d in made if d["kind"] == "collective_time")
    assert (took["transfer_ms"], type(took["transfer_ms"]), took["wait_ms"]) == (20.0, float, 1e-5)


def test_the_order_of_facts_does_not_matter() -> None:
    facts = [item for rank in range(6) for item in evidence(rank)]
    first = infer(facts, load_book())
    assert first.findings
    for seed in range(5):
        assert infer(random.Random(seed).sample(facts, len(facts)), load_book()) == first


def test_ids_are_stable_and_tell_premises_apart() -> None:
    one, other = found(rule())[0].id, found(rule(), facts=evidence(3))[0].id
    assert one == found(rule(), facts=[*evidence(), *evidence(3)])[0].id != other
    assert one.startswith("t.rule#")


def test_pass_two_holds_the_findings_of_pass_one() -> None:
    verdict = some("verdict", scope="rank:2", kind="rank", verdict="probable", cause="input_delay", ranks="2", top=True)
    book = load_book()
    first, second = infer(evidence(), book), infer([*evidence(), verdict], book)
    assert {f.id for f in first.findings} < {f.id for f in second.findings}
    assert infer([*evidence(), verdict], book, pass_=1).findings == first.findings


def test_a_value_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(EngineError, match="nan"):
        infer([fact("transfer", {"transfer_ms": float("nan")})], load_book())
