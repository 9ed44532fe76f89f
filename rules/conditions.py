"""What the engine is told, and the checks that keep it safe: conditions, values, definitions. Imports no engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ..knowledge.errors import EngineError

Scalar = str | int | float | bool
FactDict = Mapping[str, Scalar]
Derive = Callable[[Mapping[str, FactDict]], Iterable[FactDict]]

OPERATORS: Mapping[str, str] = {"eq": "", "ne": "$neq", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte"}
RESERVED = frozenset({"id", "sid", "_1", "_phase", "$s", "fact"})
MAX_KINDS = 400
MAX_EXACT = 2**53
MAX_TEXT_BYTES = 2000
MAX_TESTS = 24
MAX_UNLESS = 8
MAX_READERS = 40
"""Conditions that read one copy of a fact: the library refuses a fact that satisfies 65 joined ones."""
PHASE = "__phase"
_sorted = msgspec.json.Encoder(order="sorted")


@dataclass(frozen=True, slots=True)
class Test:
    """`field operator value` on one fact."""

    field: str
    operator: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Join:
    """`field operator alias.other` between two facts."""

    field: str
    operator: str
    alias: str
    other: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A fact of a kind that passes the tests and joins. The first join of a later condition is an equality."""

    alias: str
    kind: str
    tests: tuple[Test, ...] = ()
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineRule:
    """At most two positive conditions; negated ones only with a single positive one, over lower strata."""

    name: str
    when: tuple[Condition, ...]
    unless: tuple[Condition, ...] = ()
    derive: Derive | None = None
    derives: tuple[str, ...] = ()
    stratum: int = 0


class Plan:
    """What the engine is told: definitions, the fields rules read of each kind, and how many copies of a fact.

    Only fields that a rule reads go in, since a stray name could collide with one of them by hash.
    """

    def __init__(self, rules: Sequence[EngineRule]) -> None:
        self._read: dict[str, set[str]] = {}
        self._joined: dict[str, set[str]] = {}
        self._types: dict[tuple[str, str], str] = {}
        self._readers: dict[str, int] = {}
        self._waiting: dict[int, int] = {}
        for rule in rules:
            for condition in (*rule.when, *rule.unless):
                self._note(rule, condition)
        self.definitions: dict[str, object] = {PHASE: {"all": [{"m": {"$ex": {"_phase": 1}}}], "run": _nothing}}
        for rule in sorted(rules, key=lambda r: r.name):  # the order of definition is the order of firing: fix it
            conditions: list[dict[str, object]] = [self._condition(c) for c in rule.when]
            if rule.unless:
                conditions.append({"__ph": {"_phase": self._phase(rule.stratum)}})
            negated = [self._condition(c, "$not") for c in rule.unless]
            self.definitions[rule.name] = {"all": [*conditions, *negated], "run": _nothing}
        if sum(map(self.copies, self._readers)) > MAX_KINDS:
            raise EngineError(f"rules read more than {MAX_KINDS} kinds of facts", remedy="Split the rule book.")
        self.fields: dict[str, tuple[str, ...]] = {kind: tuple(sorted(names)) for kind, names in self._read.items()}

    @property
    def phases(self) -> list[int]:
        """Phase facts in the order of strata; as with other facts, one for every MAX_READERS rules."""
        counts = sorted(self._waiting.items())
        return [_phase(stratum, copy) for stratum, count in counts for copy in range(-(-count // MAX_READERS))]

    def _phase(self, stratum: int) -> int:
        waiting = self._waiting.get(stratum, 0)
        self._waiting[stratum] = waiting + 1
        return _phase(stratum, waiting // MAX_READERS)

    def copies(self, kind: str) -> int:
        """How often a fact of a kind is asserted: once for every MAX_READERS conditions on it."""
        return -(-self._readers.get(kind, 0) // MAX_READERS)

    def check(self, item: FactDict) -> None:
        """Raises EngineError where a joined field is missing or a tested one has another type: both are read as
        stray memory by the library."""
        kind = str(item["fact"])
        missing = [name for name in self._joined.get(kind, ()) if name not in item]
        if missing:
            raise EngineError(f"a fact {kind} lacks {', '.join(sorted(missing))}, which a rule joins on")
        for name in self.fields.get(kind, ()):
            wanted = self._types.get((kind, name))
            if wanted and name in item and _type(item[name]) != wanted:
                raise EngineError(f"{kind}.{name} is {item[name]!r}, not a {wanted}")

    def _note(self, rule: EngineRule, condition: Condition) -> None:
        fields = self._read.setdefault(condition.kind, set())
        for test in condition.tests:
            fields.add(test.field)
            if self._types.setdefault((condition.kind, test.field), _type(test.value)) != _type(test.value):
                raise EngineError(f"{rule.name} tests {condition.kind}.{test.field} with another type than other rules")
            if test.operator not in ("eq", "ne") and _type(test.value) != "number":
                raise EngineError(f"{rule.name}: only numbers have an order, {test.field} is not one")
        kinds = {c.alias: c.kind for c in rule.when}
        for join in condition.joins:
            for kind, name in ((condition.kind, join.field), (kinds[join.alias], join.other)):
                if name != "_1":
                    self._read.setdefault(kind, set()).add(name)
                    self._joined.setdefault(kind, set()).add(name)

    def _condition(self, condition: Condition, suffix: str = "") -> dict[str, object]:
        reader = self._readers.get(condition.kind, 0)
        self._readers[condition.kind] = reader + 1
        return _condition(condition, suffix, copy=reader // MAX_READERS)


def canonical(item: FactDict) -> str:
    """Text that equal facts share. Raises EngineError for a value the engine cannot hold."""
    return key_of(normal(item))


def key_of(item: FactDict) -> str:
    """As `canonical`, of a fact whose values are normal already."""
    return _sorted.encode(item).decode()


def normal(item: FactDict) -> FactDict:
    """The fact with values as the engine compares them. Raises EngineError for one that it cannot hold."""
    return {name: v if type(v) is bool else scalar(name, v) for name, v in item.items()}


def scalar(name: str, value: Scalar) -> Scalar:
    """A value the engine compares rightly: whole floats as integers (5 and 5.0 hash apart in joins), finite, exact,
    of bounded length."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) < 500 and value.isascii() and "\0" not in value:
            return value
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise EngineError(f"{name} is not valid text") from None
        if size > MAX_TEXT_BYTES or "\0" in value:
            raise EngineError(f"{name} is longer than {MAX_TEXT_BYTES} bytes or holds a NUL")
        return value
    if not isinstance(value, (int, float)):
        raise EngineError(f"{name} must be text, a number or true/false, not {type(value).__name__}")
    if not math.isfinite(value) or abs(value) > MAX_EXACT:
        raise EngineError(f"{name} is {value}, outside the numbers the engine holds exactly")
    if value == int(value):
        return int(value)
    return value


def sent(value: Scalar) -> Scalar:
    """The value as it is told to the library, whose parser knows no exponent without a point: the next float that
    has one. Facts keep the exact value."""
    if type(value) is float:
        while "e" in (text := repr(value)) and "." not in text:
            value = math.nextafter(value, math.inf)
    return value


def _nothing(_: object) -> None:
    """Actions run in `_Session._fire`; the engine only asks that there is one."""


def _condition(condition: Condition, suffix: str, *, copy: int) -> dict[str, object]:
    terms: list[dict[str, object]] = [{"fact": f"{condition.kind}#{copy}"}]
    terms += [_term(t.operator, t.field, sent(scalar(t.field, t.value))) for t in condition.tests]
    terms += [_term(j.operator, j.field, {j.alias: j.other}) for j in condition.joins]
    if condition.joins:
        terms.append({"_1": {condition.joins[0].alias: "_1"}})  # a false last term reads past its end in C
    if len(terms) > MAX_TESTS:
        raise EngineError(f"a condition on {condition.kind} has more than {MAX_TESTS} tests")
    return {condition.alias + suffix: {"$and": terms} if len(terms) > 1 else terms[0]}


def _term(operator: str, field: str, value: object) -> dict[str, object]:
    return {field: value} if operator == "eq" else {OPERATORS[operator]: {field: value}}


def check(rules: Sequence[EngineRule]) -> None:
    level: dict[str, int] = {}
    for rule in rules:
        for kind in rule.derives:
            level[kind] = max(level.get(kind, 0), rule.stratum)
    names: set[str] = set()
    for rule in rules:
        _check_rule(rule, level)
        for condition in (*rule.when, *rule.unless):
            names |= {t.field for t in condition.tests}
            names |= {name for j in condition.joins for name in (j.field, j.other)}
            taken = (RESERVED - {"_1"}) & names
            if taken:
                raise EngineError(f"{rule.name} reads {', '.join(sorted(taken))}, a name the engine keeps for itself")
    names |= RESERVED
    if len({_fnv(name) for name in names}) != len(names):
        raise EngineError("two field names collide in the engine's 32-bit hash", remedy="Rename one field.")


def _check_rule(rule: EngineRule, level: Mapping[str, int]) -> None:
    if not 1 <= len(rule.when) <= 2 or len(rule.unless) > MAX_UNLESS or (rule.unless and len(rule.when) != 1):
        raise EngineError(f"{rule.name}: one or two conditions, and exceptions only to one")
    for position, condition in enumerate((*rule.when, *rule.unless)):
        if position and not any(j.operator == "eq" for j in condition.joins):
            raise EngineError(f"{rule.name}: {condition.alias} needs an equality join")
    if rule.unless and rule.stratum < 1 or any(level.get(c.kind, -1) >= rule.stratum for c in rule.unless):
        raise EngineError(f"{rule.name} is not stratified")
    if any(level.get(c.kind, 0) > rule.stratum for c in rule.when):
        raise EngineError(f"{rule.name} uses a kind of a higher stratum")


def _phase(stratum: int, copy: int) -> int:
    return stratum * 1000 + copy


def _type(value: Scalar) -> str:
    return "truth value" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def _fnv(name: str) -> int:
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value
