"""Checks of rule documents against the knowledge, and of a book as a whole. Raises Fault with a document path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ..knowledge.errors import KnowledgeError
from ..knowledge.facts import Scalar
from ..knowledge.model import Cause, FactKind, Field, Knowledge
from ..knowledge.vocabulary import check_value
from .book_model import as_list, reference
from .compile import compile_rules, terms
from .model import Argue, Pattern, Rule, Veto
from .template import placeholders

OPERATORS = ("gte", "gt", "lte", "lt", "ne")
MOST_PATTERNS, MOST_UNLESS = 2, 8
Path = tuple[str | int, ...]


class Fault(Exception):
    """What is wrong in which rule, and the path to it in the document."""

    def __init__(self, rule: str, what: str, at: Path = (), remedy: str = "") -> None:
        super().__init__(what)
        self.rule, self.what, self.at, self.remedy = rule, what, at, remedy


def check_rule(rule: Rule, knowledge: Knowledge) -> None:
    """One rule by itself."""
    if not 1 <= len(rule.when) <= MOST_PATTERNS:
        remedy = "Join further facts through a derived fact."
        raise Fault(rule.id, f"`when` has {len(rule.when)} patterns, 1 or 2 are allowed", ("when",), remedy)
    if len(rule.unless) > MOST_UNLESS:
        raise Fault(
            rule.id, f"`unless` has {len(rule.unless)} patterns, at most {MOST_UNLESS} are allowed", ("unless",)
        )
    _check_patterns(rule, knowledge.facts)
    _check_derive(rule, knowledge.facts)
    _check_says(rule, knowledge.facts)
    _check_names(rule, knowledge)


def check_book(rules: Sequence[Rule], knowledge: Knowledge) -> None:
    """What only all rules together show: no two with one id, every derived kind read or known, no negation cycle."""
    ids = [rule.id for rule in rules]
    for first, second in pairwise(ids):
        if first == second:
            raise Fault(first, "it is defined twice", ("id",))
    derived = {str(p["fact"]) for rule in rules for p in as_list(rule.derive)}
    for rule in rules:
        for alias, pattern in rule.when.items():
            kind = str(pattern["fact"])
            if knowledge.facts[kind].derived and kind not in derived:
                raise Fault(rule.id, f"it is unreachable: no rule derives {kind}", ("when", alias, "fact"))
    try:
        compile_rules(rules)
    except KnowledgeError as error:
        name, _, what = error.what.partition(": ")
        raise Fault(name, what, ("unless",)) from None


def _check_patterns(rule: Rule, kinds: Mapping[str, FactKind]) -> None:
    earlier: list[str] = []
    for alias, pattern in rule.when.items():
        at: Path = ("when", alias)
        if not alias.isidentifier():
            raise Fault(rule.id, f"{alias} is not a name", at)
        _check_pattern(rule, pattern, kinds, earlier, at)
        joined = any(op == "eq" and reference(value) for _, op, value in terms(pattern))
        if earlier and not joined:
            raise Fault(
                rule.id, f"{alias} is not joined to {earlier[0]} by an equality", at, "Write field: $alias.field."
            )
        earlier.append(alias)
    for place, pattern in enumerate(rule.unless):
        _check_pattern(rule, pattern, kinds, earlier, ("unless", place))


def _check_pattern(
    rule: Rule, pattern: Pattern, kinds: Mapping[str, FactKind], aliases: Sequence[str], at: Path
) -> None:
    kind = _kind(rule, pattern, kinds, at)
    for name, raw in pattern.items():
        if name == "fact":
            continue
        entry = _field(rule, str(pattern["fact"]), kind, name, at)
        here: Path = (*at, name)
        if isinstance(raw, dict):
            _check_operators(rule, raw, here)
        elif isinstance(raw, list) or raw is None:
            raise Fault(rule.id, f"{name} is {raw!r}, not a value, a test or $alias.field", here)
    for name, op, value in terms(pattern):
        entry = kind.fields[name]
        here = (*at, name)
        if op in OPERATORS[:4] and entry.type not in ("int", "float"):
            raise Fault(rule.id, f"{name} is {entry.type}, which has no order", here)
        found = reference(value)
        if found:
            _check_join(rule, name, entry, _referred(rule, found, aliases, kinds, here), found, here)
        else:
            _check_value(rule, entry, value, name, here)


def _check_operators(rule: Rule, tests: Mapping[str, object], at: Path) -> None:
    unknown = [op for op in tests if op not in OPERATORS]
    if unknown or not tests:
        raise Fault(rule.id, f"{', '.join(map(str, unknown)) or 'nothing'} is not one of {', '.join(OPERATORS)}", at)


def _check_join(rule: Rule, name: str, entry: Field, other: Field, found: tuple[str, str], at: Path) -> None:
    if _sort(entry) != _sort(other):
        raise Fault(rule.id, f"{name} is {entry.type}, ${'.'.join(found)} is {other.type}", at)
    if entry.optional or other.optional:
        raise Fault(rule.id, f"{name} joins ${'.'.join(found)}, and one of them may be unknown", at)


def _check_derive(rule: Rule, kinds: Mapping[str, FactKind]) -> None:
    several = isinstance(rule.derive, list)
    for place, pattern in enumerate(as_list(rule.derive)):
        at: Path = ("derive", place) if several else ("derive",)
        kind = _kind(rule, pattern, kinds, at)
        for name, value in pattern.items():
            if name == "fact":
                continue
            entry = _field(rule, str(pattern["fact"]), kind, name, at)
            found = reference(value)
            if found is None:
                _check_value(rule, entry, value, name, (*at, name))
                continue
            other = _referred(rule, found, list(rule.when), kinds, (*at, name))
            if _sort(entry) != _sort(other) or (other.optional and not entry.optional):
                raise Fault(rule.id, f"${'.'.join(found)} does not fit {pattern['fact']}.{name}", (*at, name))
        missing = [n for n, f in kind.fields.items() if not f.optional and n not in pattern]
        if missing:
            raise Fault(rule.id, f"{pattern['fact']} lacks {', '.join(missing)}", at)


def _check_says(rule: Rule, kinds: Mapping[str, FactKind]) -> None:
    try:
        for alias, name, form in placeholders(rule.says):
            entry = _referred(rule, (alias, name), list(rule.when), kinds, ("says",))
            if form and entry.type not in ("int", "float"):
                raise Fault(rule.id, f"{alias}.{name} is {entry.type}, not a number for :{form}", ("says",))
    except ValueError as error:
        raise Fault(rule.id, str(error), ("says",)) from None


def _check_names(rule: Rule, knowledge: Knowledge) -> None:
    named: tuple[tuple[str, str, Mapping[str, object]], ...] = (
        ("ask", "question", knowledge.questions),
        ("propose", "experiment", knowledge.experiments),
        ("correct", "misconception", knowledge.misconceptions),
        ("mitigate", "mitigation", knowledge.mitigations),
    )
    for at, item in _consequences(rule):
        for key, word, entries in named:
            name = getattr(item, word, None) if at[0] == key else None
            if name is not None and name not in entries:
                raise Fault(rule.id, f"no {word} is named {name}", (*at, word))
        if isinstance(item, (Argue, Veto)):
            _check_causes(rule, item, knowledge.causes, at)
        found = reference(getattr(item, "scope", None))
        if found:
            entry = _referred(rule, found, list(rule.when), knowledge.facts, (*at, "scope"))
            if entry.type != "str" or entry.optional:
                raise Fault(rule.id, f"${'.'.join(found)} is not a scope that is always known", (*at, "scope"))


def _consequences(rule: Rule) -> Iterator[tuple[Path, object]]:
    for key in ("argue", "veto", "ask", "propose", "limit", "correct", "mitigate"):
        value = getattr(rule, key)
        for place, item in enumerate(as_list(value)):
            yield ((key, place) if isinstance(value, list) else (key,)), item


def _check_causes(rule: Rule, item: Argue | Veto, causes: Mapping[str, Cause], at: Path) -> None:
    for cause in as_list(item.cause):
        if cause not in causes:
            raise Fault(rule.id, f"no cause is named {cause}", (*at, "cause"))
        mechanism = item.mechanism if isinstance(item, Argue) else None
        if mechanism is not None and mechanism not in causes[cause].mechanisms:
            raise Fault(rule.id, f"{cause} has no mechanism {mechanism}", (*at, "mechanism"))


def _kind(rule: Rule, pattern: Pattern, kinds: Mapping[str, FactKind], at: Path) -> FactKind:
    kind = kinds.get(str(pattern.get("fact")))
    if kind is None:
        raise Fault(rule.id, f"no fact kind is named {pattern.get('fact')}", (*at, "fact"))
    return kind


def _field(rule: Rule, kind_name: str, kind: FactKind, name: str, at: Path) -> Field:
    if name not in kind.fields:
        raise Fault(rule.id, f"{kind_name} has no field {name}", (*at, name))
    return kind.fields[name]


def _referred(
    rule: Rule, found: tuple[str, str], aliases: Sequence[str], kinds: Mapping[str, FactKind], at: Path
) -> Field:
    alias, name = found
    if alias not in aliases:
        raise Fault(rule.id, f"no pattern before it is named {alias}", at)
    pattern = rule.when[alias]
    kind = kinds[str(pattern["fact"])]
    if name not in kind.fields:
        raise Fault(rule.id, f"{alias} ({pattern['fact']}) has no field {name}", at)
    return kind.fields[name]


def _check_value(rule: Rule, entry: Field, value: Scalar, name: str, at: Path) -> None:
    try:
        check_value(entry, value, name)
    except KnowledgeError as error:
        raise Fault(rule.id, str(error), at) from None


def _sort(entry: Field) -> str:
    return "number" if entry.type in ("int", "float") else entry.type
