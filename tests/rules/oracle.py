"""A brute-force evaluator of rule documents: naive loops, stratified negation, no engine. The oracle of inference."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from latecomer.knowledge.facts import Fact
from latecomer.rules.model import Rule

OPS = {"gte": operator.ge, "gt": operator.gt, "lte": operator.le, "lt": operator.lt, "ne": operator.ne}
Item = tuple[str, tuple[tuple[str, Any], ...]]


def freeze(kind: str, values: Mapping[str, Any]) -> Item:
    return kind, tuple(sorted(values.items()))


def evaluate(rules: Sequence[Rule], facts: Sequence[Fact]) -> set[tuple[str, tuple[Item, ...]]]:
    """Every (rule id, premises in the order of `when`) that holds."""
    known = {freeze(f.kind, dict(f.values)) for f in facts}
    strata = layers(rules)
    named = {r.id: r for r in rules}
    found: set[tuple[str, tuple[Item, ...]]] = set()
    for level in range(max(strata.values(), default=0) + 1):
        active = [r for r in rules if strata[r.id] == level or (strata[r.id] < level and not r.unless)]
        while True:
            new = found | {(r.id, m) for r in active for m in matches(r, known)}
            derived = {item for name, m in new for item in derive(named[name], m)}
            if new == found and derived <= known:
                break
            found, known = new, known | derived
    return found


def layers(rules: Sequence[Rule]) -> dict[str, int]:
    """Strata by the longest chain of negations below each rule."""
    strata = {r.id: 1 if r.unless else 0 for r in rules}
    makers: dict[str, list[str]] = {}
    for r in rules:
        for head in heads(r):
            makers.setdefault(head["fact"], []).append(r.id)
    changed = True
    while changed:
        before = dict(strata)
        for r in rules:
            below = [strata[o] for p in r.when.values() for o in makers.get(p["fact"], ())]
            under = [strata[o] + 1 for p in r.unless for o in makers.get(p["fact"], ())]
            strata[r.id] = max([strata[r.id], *below, *under])
        changed = strata != before
    return strata


def heads(rule: Rule) -> list[dict[str, Any]]:
    return rule.derive if isinstance(rule.derive, list) else [rule.derive] if rule.derive else []


def matches(rule: Rule, known: set[Item]) -> Iterator[tuple[Item, ...]]:
    kinds = [pattern["fact"] for pattern in rule.when.values()]
    for chosen in permutations([item for item in known if item[0] in kinds], len(kinds)):
        bound: dict[str, dict[str, Any]] = {}
        for (alias, pattern), item in zip(rule.when.items(), chosen, strict=True):
            if not fits(pattern, item, bound):
                break
            bound[alias] = dict(item[1])
        else:
            if not any(fits(pattern, item, bound) for pattern in rule.unless for item in known):
                yield chosen


def fits(pattern: Mapping[str, Any], item: Item, bound: Mapping[str, Mapping[str, Any]]) -> bool:
    values = dict(item[1])
    if item[0] != pattern["fact"]:
        return False
    for name, wanted in pattern.items():
        tests = wanted.items() if isinstance(wanted, dict) else [("eq", wanted)]
        for op, limit in tests if name != "fact" else ():
            if isinstance(limit, str) and limit.startswith("$"):
                alias, field = limit[1:].split(".")
                limit = bound[alias].get(field)
            if name not in values or limit is None or not OPS.get(op, operator.eq)(values[name], limit):
                return False
    return True


def derive(rule: Rule, premises: Sequence[Item]) -> list[Item]:
    bound = {alias: dict(item[1]) for alias, item in zip(rule.when, premises, strict=True)}

    def value(given: Any) -> Any:
        if not (isinstance(given, str) and given.startswith("$")):
            return given
        alias, field = given[1:].split(".")
        return bound[alias].get(field)

    made = [{k: value(v) for k, v in p.items()} for p in heads(rule)]
    return [freeze(m["fact"], {k: v for k, v in m.items() if k != "fact" and v is not None}) for m in made]
