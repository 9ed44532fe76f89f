"""Inference agrees finding for finding with a brute-force evaluator, whatever the order of facts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from latecomer.knowledge import Fact, Knowledge, fact, load
from latecomer.knowledge.model import FactKind, Field
from latecomer.rules.book_model import RuleBook
from latecomer.rules.compile import compile_rules
from latecomer.rules.engine import Engine
from latecomer.rules.infer import infer
from latecomer.rules.loader import build_book, load_book
from latecomer.rules.model import Inference, Rule

from .oracle import evaluate, freeze

TEXTS = ("x", "y", 'é"q', "z\\")
NUMBERS = (-3.0, 0.0, 1.0, 2.0, 0.5, 1.5, -2.5, 2e-5)
FIELDS = {
    "g": Field("str"), "s": Field("str"), "v": Field("float"), "w": Field("float", optional=True),
    "b": Field("bool"), "kind": Field("str", optional=True),
}  # fmt: skip
KINDS = {name: FactKind(name, ["g"], FIELDS) for name in "ABCPQRST"}
BASES = 240


def toy_knowledge() -> Knowledge:
    return Knowledge(KINDS, {}, {}, {}, {}, {}, {}, {})


def constant(rnd: random.Random, name: str) -> Any:
    if name == "b":
        return rnd.random() < 0.5
    return rnd.choice(TEXTS if name in "gs" or name == "kind" else NUMBERS)


def some_tests(rnd: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in rnd.sample(sorted(FIELDS), rnd.randint(0, 2)):
        numeric = name in "vw"
        ops = ("gte", "gt", "lte", "lt", "ne", "") if numeric else ("ne", "", "")
        op = rnd.choice(ops)
        made[name] = {op: constant(rnd, name)} if op else constant(rnd, name)
    return made


def pattern(rnd: random.Random, kinds: str, aliases: tuple[str, ...], *, must_join: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"fact": rnd.choice(kinds), **some_tests(rnd)}
    if aliases and (must_join or rnd.random() < 0.7):
        name = rnd.choice(("g", "g", "s", "v", "b"))
        made[name] = f"${rnd.choice(aliases)}.{name}"
        if rnd.random() < 0.4 and name != "v":
            made["v"] = {rnd.choice(("gt", "lte", "ne")): f"${rnd.choice(aliases)}.v"}
    return made


def random_rule(rnd: random.Random, number: int) -> Rule:
    level = rnd.choice((0, 0, 0, 1, 1, 2))
    kinds = "ABC" + "PQPQ" + ("RS" if level else "") + ("T" if level == 2 else "")
    when: dict[str, Any] = {"a": pattern(rnd, kinds, (), must_join=False)}
    if rnd.random() < 0.6:
        when["z"] = pattern(rnd, kinds, ("a",), must_join=True)
    negated = "ABC" + ("PQ" if level else "") + ("RS" if level == 2 else "")
    count = rnd.choice((0, 1, 1, 2)) if level else 0
    unless = [pattern(rnd, negated, tuple(when), must_join=False) for _ in range(count)]
    head: dict[str, Any] = {"fact": rnd.choice(("PQ", "RS", "T")[level]), "g": "$a.g", "b": "$a.b"}
    head |= {"s": rnd.choice(("$a.s", "x")), "v": rnd.choice(("$a.v", 1.0))}
    if rnd.random() < 0.4:
        head["w"] = "$a.w"
    return Rule(
        id=f"toy.r{number}",
        title="",
        status="stable",
        why="",
        when=when,
        unless=unless,
        derive=head,
        says="{a.v} {a.g}",
    )


def random_facts(rnd: random.Random) -> list[Fact]:
    made: list[Fact] = []
    for _ in range(rnd.randint(3, 14)):
        values = {name: constant(rnd, name) for name in ("g", "s", "v", "b")}
        if rnd.random() < 0.6:
            values["w"] = constant(rnd, "w")
        if rnd.random() < 0.3:
            values["kind"] = constant(rnd, "kind")
        made.append(fact(rnd.choice("ABCABCP"), values))
    return made


def matched(inference: Inference) -> set[tuple[str, tuple[Any, ...]]]:
    """Rule and premises of each finding; `kind` is the kind of fact, so that a field of that name is left out."""
    return {
        (f.rule, tuple(freeze(str(p["kind"]), {k: v for k, v in p.items() if k != "kind"}) for _, p in f.premises))
        for f in inference.findings
    }


def expected(book: RuleBook, facts: list[Fact]) -> set[tuple[str, tuple[Any, ...]]]:
    found = evaluate(book.rules, facts)
    return {(r, tuple((k, tuple(x for x in v if x[0] != "kind")) for k, v in premises)) for r, premises in found}


@pytest.mark.parametrize("first", range(0, BASES, 40))
def test_random_rule_bases_agree_with_the_oracle(first: int) -> None:
    for seed in range(first, first + 40):
        rnd = random.Random(seed)
        book = build_book([random_rule(rnd, n) for n in range(rnd.randint(4, 10))], toy_knowledge())
        for _ in range(2):
            facts = random_facts(rnd)
            found = infer(facts, book)
            assert matched(found) == expected(book, facts), seed
            assert infer(rnd.sample(facts, len(facts)), book) == found, seed


def random_evidence(rnd: random.Random, knowledge: Knowledge, book: RuleBook) -> list[Fact]:
    """Facts of the vocabulary whose values come from what the rules speak of."""
    said: dict[tuple[str, str], list[Any]] = {}
    for rule in book.rules:
        for p in (*rule.when.values(), *rule.unless):
            for name, raw in p.items():
                plain = [v for v in (raw.values() if isinstance(raw, dict) else [raw]) if not str(v).startswith("$")]
                said.setdefault((p["fact"], name), []).extend(plain)
    made: dict[tuple[Any, ...], Fact] = {}
    for _ in range(24):
        kind = rnd.choice(sorted(knowledge.facts))
        values = {n: any_value(rnd, n, f, said.get((kind, n), [])) for n, f in knowledge.facts[kind].fields.items()}
        item = knowledge.check(fact(kind, {n: v for n, v in values.items() if v is not None}))
        made[(kind, *(item.get(n) for n in knowledge.keys[kind]))] = item
    return list(made.values())


def any_value(rnd: random.Random, name: str, field: Field, said: list[Any]) -> Any:
    if field.optional and rnd.random() < 0.3:
        return None
    if name == "scope":
        return rnd.choice(("rank:2", "common", "rank:2"))
    if name == "of":
        return "job"
    if field.values:
        return rnd.choice([*field.values, *(v for v in said if v in field.values)])
    if field.type == "bool":
        return rnd.random() < 0.5
    if field.type == "str":
        return rnd.choice([*said, "other"])
    number = rnd.choice([*said, 0, 1, 3, 120]) + rnd.choice((0, 0, 1))
    return float(number) if field.type == "float" else int(number)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_the_rule_book_agrees_with_the_oracle_over_random_facts(first: int) -> None:
    knowledge = load()
    book = load_book()
    fired: set[str] = set()
    for seed in range(first, first + 10):
        rnd = random.Random(seed)
        facts = random_evidence(rnd, knowledge, book)
        found = infer(facts, book, pass_=2)
        assert matched(found) == expected(book, facts), seed
        assert infer(rnd.sample(facts, len(facts)), book, pass_=2) == found, seed
        fired |= {f.rule for f in found.findings}
    assert len(fired) > len(book.rules) / 5


def test_an_engine_of_the_whole_book_is_the_same_each_time_it_is_built() -> None:
    book, knowledge = load_book(), load()
    facts = [{"fact": f.kind, **dict(f.values)} for f in random_evidence(random.Random(3), knowledge, book)]
    first, second = (Engine(compile_rules(book.rules)).run(facts) for _ in range(2))
    assert first == second and first.firings
