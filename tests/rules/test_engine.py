"""The engine seam: limits, order, errors and what the library gets wrong when it is used otherwise."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from latecomer.knowledge import EngineError
from latecomer.rules.conditions import Condition, EngineRule, Join, canonical
from latecomer.rules.conditions import Test as Check
from latecomer.rules.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
Facts = Mapping[str, Any]


def a(**values: Any) -> dict[str, Any]:
    return {"fact": "a", "g": 1, **values}


def b(**values: Any) -> dict[str, Any]:
    return {"fact": "b", "g": 1, **values}


def one(name: str = "one", *tests: Check) -> EngineRule:
    return EngineRule(name, (Condition("c0", "a", tests),))


def pair(name: str = "pair", *joins: Join) -> EngineRule:
    same = Join("g", "eq", "c0", "g")
    return EngineRule(name, (Condition("c0", "a"), Condition("c1", "b", (), (same, *joins))))


def without(name: str, kind: str, stratum: int = 1, derives: str = "") -> EngineRule:
    negated = Condition("n0", kind, (), (Join("g", "eq", "c0", "g"),))
    derive = (lambda _: [{"fact": derives, "g": 1}]) if derives else None
    return EngineRule(name, (Condition("c0", "a"),), (negated,), derive, (derives,) if derives else (), stratum)


def fired(rules: Iterable[EngineRule], *facts: Facts) -> list[str]:
    return sorted(f.rule for f in Engine(list(rules)).run(facts).firings)


def test_only_one_module_imports_the_library() -> None:
    sources = [
        p for folder in ("knowledge", "traces", "rules", "service", "cli") for p in (ROOT / folder).rglob("*.py")
    ]
    users = [
        p.name for p in sources if "import durable" in p.read_text("utf-8") or "from durable" in p.read_text("utf-8")
    ]
    assert users == ["engine.py"]


def test_a_false_last_join_term_does_not_crash() -> None:
    rules = [pair(f"p{n}", Join("v", "gt", "c0", "v")) for n in range(60)]
    assert fired(rules, a(v=5), b(v=1)) == []
    assert len(fired(rules, a(v=5), b(v=9))) == 60


def test_a_fact_may_satisfy_more_joins_than_the_library_allows() -> None:
    assert len(fired([pair(f"p{n:03}") for n in range(200)], a(), b())) == 200


def test_more_rules_may_wait_for_a_phase_than_the_library_allows() -> None:
    assert len(fired([without(f"w{n:03}", "b") for n in range(150)], a())) == 150


def test_many_kinds_of_tests_on_one_fact() -> None:
    rules = [one(f"t{n:03}", Check("v", "gte", n)) for n in range(150)]
    assert len(fired(rules, a(v=99))) == 100


def test_negation_sees_every_fact_in_whatever_order() -> None:
    assert fired([without("w", "b")], a(), b()) == []
    assert fired([without("w", "b")], a(), b(g=2)) == ["w"]


def test_negation_of_a_derived_fact_waits_for_its_stratum() -> None:
    rules = [without("low", "b", derives="c"), without("high", "c", stratum=2)]
    assert fired(rules, a()) == ["low"]
    assert fired(rules, a(), b()) == ["high"]


def test_a_fact_is_not_joined_to_its_own_copy() -> None:
    same = Join("g", "eq", "c0", "g")
    rules = [EngineRule(f"r{n}", (Condition("c0", "a"), Condition("c1", "a", (), (same,)))) for n in range(45)]
    assert fired(rules, a()) == []
    assert len(fired(rules, a(v=1), a(v=2))) == 90


def test_whole_floats_join_integers() -> None:
    assert fired([pair("p", Join("v", "eq", "c0", "v"))], a(v=5), b(v=5.0)) == ["p"]


def test_small_floats_pass_and_stay_exact() -> None:
    run = Engine([one("t", Check("v", "lt", 2e-5))]).run([a(v=1e-5)])
    assert [p for f in run.firings for _, p in f.premises] == [a(v=1e-5)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**60, None, [1], "\ud800", "x" * 3000])
def test_values_the_engine_cannot_hold_are_refused(value: object) -> None:
    engine = Engine([one("t")])
    with pytest.raises(EngineError):
        engine.run([a(v=value)])
    assert len(engine.run([a()]).firings) == 1


def test_types_that_do_not_agree_are_refused() -> None:
    with pytest.raises(EngineError, match="not a number"):
        Engine([one("t", Check("v", "gt", 5))]).run([a(v="5")])
    with pytest.raises(EngineError, match="another type"):
        Engine([one("t", Check("v", "gt", 5)), one("u", Check("v", "eq", "x"))])


def test_a_missing_joined_field_is_refused_before_the_library_sees_it() -> None:
    with pytest.raises(EngineError, match="lacks v"):
        Engine([pair("p", Join("v", "eq", "c0", "v"))]).run([a(), b(v=1)])


def test_an_absent_field_passes_no_test() -> None:
    tests = [one(op, Check("v", op, 3)) for op in ("eq", "ne", "gt", "gte", "lt", "lte")]
    assert fired(tests, a()) == []


def test_a_runaway_rule_stops_at_the_limit_and_the_engine_goes_on() -> None:
    def more(bound: Mapping[str, Facts]) -> list[Facts]:
        return [a(v=int(str(bound["c0"]["v"])) + 1)]

    grow = EngineRule("grow", (Condition("c0", "a", (Check("v", "gte", 0),)),), (), more, ("a",))
    engine = Engine([grow], max_firings=50)
    for _ in range(2):
        with pytest.raises(EngineError, match="more than 50 firings"):
            engine.run([a(v=1)])


def test_an_error_in_a_rule_is_raised_and_the_engine_goes_on() -> None:
    def fail(bound: Mapping[str, Facts]) -> list[Facts]:
        return [a(v=1 // int(str(bound["c0"]["g"])), fact="c")]

    engine = Engine([EngineRule("bad", (Condition("c0", "a"),), (), fail, ("c",))])
    with pytest.raises(ZeroDivisionError):
        engine.run([a(g=0)])
    assert len(engine.run([a(g=1)]).derived) == 1


@pytest.mark.parametrize(
    "rule",
    [
        EngineRule("open", (Condition("c0", "a"), Condition("c1", "b"))),
        EngineRule("early", (Condition("c0", "a"),), (Condition("n0", "b", (), (Join("g", "eq", "c0", "g"),)),)),
        one("text", Check("v", "gt", "x")),
        one("reserved", Check("id", "eq", 1)),
        one("wide", *(Check(f"f{n}", "eq", 1) for n in range(30))),
    ],
)
def test_unsafe_rules_are_refused(rule: EngineRule) -> None:
    with pytest.raises(EngineError):
        Engine([rule])


def test_fields_that_collide_in_the_hash_are_refused() -> None:
    with pytest.raises(EngineError, match="collide"):
        Engine([one("t", Check("costarring", "eq", 1), Check("liquid", "eq", 1))])


def test_the_same_facts_in_any_order_make_the_same_run() -> None:
    engine = Engine([pair(), without("w", "b"), one("t", Check("v", "gte", 2))])
    facts = [a(v=n, g=n % 3) for n in range(12)] + [b(v=n, g=n % 2) for n in range(6)]
    first = engine.run(facts)
    for seed in range(20):
        assert engine.run(random.Random(seed).sample(facts, len(facts))) == first


def test_a_thousand_runs_leave_nothing_behind() -> None:
    engine = Engine([pair()])
    assert all(len(engine.run([a(), b()]).firings) == 1 for _ in range(1100))
    engine.close()


def test_keys_ignore_the_order_of_fields() -> None:
    assert canonical({"fact": "a", "g": 1, "v": 2.0}) == canonical({"v": 2, "g": 1, "fact": "a"})
