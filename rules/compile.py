"""Rule documents -> engine rules, and the consequences of a match.

A rule with `unless` becomes two engine rules: its positive patterns derive an intermediate fact `~id`, and a rule of a
higher stratum reads that one and the negated patterns. So `unless` means: no such fact at all, the rule's own premises
included. Two patterns of a rule match two different facts.

Consequences are flat facts: @argue (rule, cause, scope, level, group, side, mechanism?), @veto (rule, cause, scope),
@ask (rule, question, scope), @propose (rule, experiment, scope), @limit (rule, scope, at_most?), @correct (rule,
misconception), @mitigate (rule, mitigation, scope); one per cause where `cause` is a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..knowledge.errors import KnowledgeError
from ..knowledge.facts import Scalar
from .book_model import as_list, reference
from .conditions import Condition, EngineRule, Join, Test
from .model import FactDict, Pattern, Rule

Premises = Mapping[str, Mapping[str, Scalar]]


@dataclass(frozen=True, slots=True)
class Effect:
    """A fact to be made from premises: fixed fields, and those taken from a premise (name, alias, field)."""

    fixed: FactDict
    taken: tuple[tuple[str, str, str], ...]

    def made(self, premises: Premises) -> FactDict:
        """The fact; a field that is not known in the premise is left out."""
        known = {name: premises[a][f] for name, a, f in self.taken if f in premises[a]}
        return {**self.fixed, **known}


def effect(item: Mapping[str, Any]) -> Effect:
    """The effect of a pattern with `$alias.field` in it."""
    found = {name: reference(value) for name, value in item.items()}
    fixed = {name: value for name, value in item.items() if found[name] is None}
    return Effect(fixed, tuple((name, *at) for name, at in found.items() if at))


def compile_rules(rules: Sequence[Rule]) -> list[EngineRule]:
    """Engine rules in strata. Raises KnowledgeError for a rule that negates what it leads to."""
    made = [part for rule in rules for part in _parts(rule)]
    strata = stratify(made)
    return [EngineRule(r.name, r.when, r.unless, r.derive, r.derives, strata[r.name]) for r in made]


def stratify(rules: Sequence[EngineRule]) -> dict[str, int]:
    """The least stratum of each rule: not below what it reads, above what it negates."""
    stratum = dict.fromkeys((rule.name for rule in rules), 0)
    level: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            above = (max(1, level.get(c.kind, -1) + 1) for c in rule.unless)
            lowest = max([0, *(level.get(c.kind, 0) for c in rule.when), *above])
            if lowest > len(rules):
                raise KnowledgeError(f"{rule.name}: it negates a fact that it leads to itself")
            if lowest > stratum[rule.name]:
                stratum[rule.name], changed = lowest, True
            for kind in rule.derives:
                if level.get(kind, -1) < stratum[rule.name]:
                    level[kind], changed = stratum[rule.name], True
    return stratum


def intermediate(rule: Rule) -> str:
    """Kind of the fact that stands for the positive patterns of a rule with `unless`."""
    return f"~{rule.id}"


def _parts(rule: Rule) -> Iterator[EngineRule]:
    """`c0`, `c1` stand for the aliases in order, so that rules that look alike share their conditions."""
    places = {alias: f"c{place}" for place, alias in enumerate(rule.when)}
    when = tuple(_condition(pattern, places[alias], places) for alias, pattern in rule.when.items())
    heads = derivations(rule)
    derives = tuple(dict.fromkeys(str(head.fixed["fact"]) for head in heads))

    def derive(bound: Premises) -> Iterable[FactDict]:
        premises = {alias: bound[place] for alias, place in places.items()}
        return [head.made(premises) for head in heads]

    if not rule.unless:
        yield EngineRule(rule.id, when, (), derive if derives else None, derives)
        return
    kind = intermediate(rule)

    def both(bound: Premises) -> Iterable[FactDict]:
        packed = {f"{place}_{name}": v for place, values in bound.items() for name, v in values.items()}
        return [{"fact": kind, **packed}]

    def derive_after(bound: Premises) -> Iterable[FactDict]:
        premises = unpack(bound["c0"], rule)
        return [head.made(premises) for head in heads]

    unless = tuple(_negated(pattern, f"n{place}", places) for place, pattern in enumerate(rule.unless))
    yield EngineRule(kind, when, (), both, (kind,))
    yield EngineRule(rule.id, (Condition("c0", kind),), unless, derive_after if derives else None, derives)


def unpack(item: FactDict, rule: Rule) -> dict[str, dict[str, Scalar]]:
    """Premises by alias from an intermediate fact."""
    found: dict[str, dict[str, Scalar]] = {}
    for place, alias in enumerate(rule.when):
        prefix = f"c{place}_"
        found[alias] = {name.removeprefix(prefix): v for name, v in item.items() if name.startswith(prefix)}
    return found


def _condition(pattern: Pattern, alias: str, places: Mapping[str, str]) -> Condition:
    tests, joins = _split(pattern)
    made = sorted((Join(f, op, places[a], other) for f, op, a, other in joins), key=_equality_first)
    return Condition(alias, str(pattern["fact"]), tests, tuple(made))


def _negated(pattern: Pattern, alias: str, places: Mapping[str, str]) -> Condition:
    """A negated pattern joins to the intermediate fact; without an equality, by a field that every fact has."""
    tests, joins = _split(pattern)
    made = sorted((Join(f, op, "c0", f"{places[a]}_{other}") for f, op, a, other in joins), key=_equality_first)
    if not any(join.operator == "eq" for join in made):
        made.insert(0, Join("_1", "eq", "c0", "_1"))
    return Condition(alias, str(pattern["fact"]), tests, tuple(made))


def _equality_first(join: Join) -> tuple[bool, str]:
    return join.operator != "eq", join.field


def _split(pattern: Pattern) -> tuple[tuple[Test, ...], list[tuple[str, str, str, str]]]:
    tests: list[Test] = []
    joins: list[tuple[str, str, str, str]] = []
    for field, op, value in terms(pattern):
        found = reference(value)
        if found:
            joins.append((field, op, *found))
        else:
            tests.append(Test(field, op, value))
    return tuple(sorted(tests, key=lambda t: (t.field, t.operator))), joins


def terms(pattern: Pattern) -> Iterator[tuple[str, str, Scalar]]:
    """Field, operator and value of each term of a pattern; a plain value is an equality."""
    for field, value in pattern.items():
        if field == "fact":
            continue
        for op, limit in value.items() if isinstance(value, dict) else (("eq", value),):
            yield field, op, limit


def derivations(rule: Rule) -> tuple[Effect, ...]:
    """Facts that a match derives, `fact` being their kind."""
    return tuple(effect(pattern) for pattern in as_list(rule.derive))


def consequences(rule: Rule) -> tuple[Effect, ...]:
    """Everything a match leads to but derived facts, in the order of the document."""
    found: list[FactDict] = []
    for kind in ("argue", "veto", "ask", "propose", "limit", "correct", "mitigate"):
        for item in as_list(getattr(rule, kind)):
            known = {k: v for k, v in msgspec.to_builtins(item).items() if k != "cause" and v is not None}
            causes = as_list(getattr(item, "cause", None))
            base: dict[str, Scalar] = {"kind": f"@{kind}", "rule": rule.id, **known}
            found += [{**base, "cause": cause} for cause in causes] if causes else [base]
    return tuple(effect(item) for item in found)
