"""infer(facts, book) -> Inference: a pure function. Same facts, same result, whatever their order."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..knowledge.facts import Fact, Scalar
from .book_model import RuleBook
from .compile import Effect, compile_rules, consequences, derivations, unpack
from .conditions import key_of, normal
from .engine import Engine, Firing
from .model import FactDict, Finding, Inference, Rule
from .template import fill

MOST_ENGINES = 6


@dataclass(frozen=True, slots=True)
class _Ready:
    """A rule with what its matches make."""

    rule: Rule
    derivations: tuple[Effect, ...]
    consequences: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """An engine and its rules."""

    engine: Engine
    rules: Mapping[str, _Ready]


_engines: OrderedDict[tuple[str, int], _Compiled] = OrderedDict()
_lock = threading.Lock()


def infer(facts: Sequence[Fact], book: RuleBook, *, pass_: Literal[1, 2] | None = None) -> Inference:
    """Findings of every rule that holds, and the facts they derive.

    Pass 2 holds every finding of pass 1 and those that read the verdict's facts; without `pass_` it is chosen by
    whether such facts are given. Raises EngineError for a value the engine cannot hold, or past a limit.
    """
    normals = [normal(_tagged(f)) for f in facts]
    keys = [key_of(item) for item in normals]
    seen = _Seen(dict(zip(keys, facts, strict=True)), book)
    with _lock:
        compiled = _compiled(book, pass_ or book.pass_for({f.kind for f in facts}))
        run = compiled.engine.run_keyed(dict(zip(keys, normals, strict=True)))
    findings = [_finding(compiled.rules[f.rule], f, seen) for f in run.firings if f.rule in compiled.rules]
    derived = [_made(_typed(item, book)) for item in run.derived if not str(item["fact"]).startswith("~")]
    ordered = tuple(sorted(findings, key=lambda f: (f.rule, f.text, f.id)))
    return Inference(ordered, tuple(derived), len(ordered))


def _tagged(item: Fact) -> FactDict:
    return {"fact": item.kind, **dict(item.values)}


def _compiled(book: RuleBook, pass_: Literal[1, 2]) -> _Compiled:
    """The engine of a book and pass, built once in a process; the one unused for longest makes room."""
    slot = (book.sha256, pass_)
    if slot not in _engines:
        rules = [rule for rule in book.rules if book.pass_of(rule) <= pass_]
        ready = {rule.id: _Ready(rule, derivations(rule), consequences(rule)) for rule in rules}
        _engines[slot] = _Compiled(Engine(compile_rules(rules)), ready)
        if len(_engines) > MOST_ENGINES:
            _engines.popitem(last=False)[1].engine.close()
    _engines.move_to_end(slot)
    return _engines[slot]


def _finding(ready: _Ready, firing: Firing, seen: _Seen) -> Finding:
    rule = ready.rule
    keys: Sequence[str] = firing.keys
    found = [item for _, item in firing.premises]
    if rule.unless:
        found = list(unpack(found[0], rule).values())
        keys = [key_of(item) for item in found]
    facts = {alias: seen.fact(key, item) for alias, key, item in zip(rule.when, keys, found, strict=True)}
    digest = hashlib.sha256("\n".join((rule.id, *keys)).encode()).hexdigest()[:12]
    derived = [_flat(_typed(head.made(facts), seen.book)) for head in ready.derivations]
    return Finding(
        id=f"{rule.id}#{digest}",
        rule=rule.id,
        premises=tuple((alias, seen.flat(key)) for alias, key in zip(rule.when, keys, strict=True)),
        consequences=(*derived, *(item.made(facts) for item in ready.consequences)),
        text=fill(rule.says, facts),
    )


class _Seen:
    """Facts of one run by key, as they were given or as the vocabulary types them, each made once."""

    def __init__(self, evidence: Mapping[str, Fact], book: RuleBook) -> None:
        self.book = book
        self._facts: dict[str, FactDict] = {key: _tagged(item) for key, item in evidence.items()}
        self._flat: dict[str, FactDict] = {}

    def fact(self, key: str, item: FactDict) -> FactDict:
        """The fact under a key; `item` is the engine's form of it."""
        if key not in self._facts:
            self._facts[key] = _typed(item, self.book)
        return self._facts[key]

    def flat(self, key: str) -> FactDict:
        """As published."""
        if key not in self._flat:
            self._flat[key] = _flat(self._facts[key])
        return self._flat[key]


def _typed(item: FactDict, book: RuleBook) -> FactDict:
    """Fields in the vocabulary's order; whole numbers of a float field as floats, as the engine's have no point."""
    fields = book.kinds[str(item["fact"])].fields
    typed: dict[str, Scalar] = {"fact": item["fact"]}
    for name, field in fields.items():
        if name in item:
            typed[name] = float(item[name]) if field.type == "float" else item[name]
    return typed


def _flat(item: FactDict) -> FactDict:
    """As published: `kind` is the kind of fact, also where a field has that name."""
    return {**{name: value for name, value in item.items() if name != "fact"}, "kind": item["fact"]}


def _made(item: FactDict) -> FactDict:
    """A derived fact; its kind is `_kind` where it has a field `kind` of its own (a scope), see weigh.kind_of."""
    if "kind" not in item:
        return _flat(item)
    return {"_kind": item["fact"], **{name: value for name, value in item.items() if name != "fact"}}
