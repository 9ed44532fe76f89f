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
from .compile import compile_rules, consequences, derived_facts, resolve, unpack
from .conditions import key_of, normal
from .engine import Engine, Firing
from .model import FactDict, Finding, Inference, Rule
from .template import fill

MOST_ENGINES = 6


@dataclass(frozen=True, slots=True)
class _Compiled:
    """An engine, and its rules with the consequences of each."""

    engine: Engine
    rules: Mapping[str, tuple[Rule, tuple[FactDict, ...]]]


_engines: OrderedDict[tuple[str, int], _Compiled] = OrderedDict()
_lock = threading.Lock()


def infer(facts: Sequence[Fact], book: RuleBook, *, pass_: Literal[1, 2] | None = None) -> Inference:
    """Findings of every rule that holds, and the facts they derive.

    Pass 2 holds every finding of pass 1 and those that read the verdict's facts; without `pass_` it is chosen by
    whether such facts are given. Raises EngineError for a value the engine cannot hold, or past a limit.
    """
    given = {key_of(plain): (plain, f) for plain, f in ((normal(_tagged(f)), f) for f in facts)}
    evidence = {key: _tagged(f) for key, (_, f) in given.items()}
    with _lock:
        ready = _compiled(book, pass_ or book.pass_for({f.kind for f in facts}))
        run = ready.engine.run_keyed({key: plain for key, (plain, _) in given.items()})
    findings = [_finding(ready.rules[f.rule], f, evidence, book) for f in run.firings if f.rule in ready.rules]
    derived = [_flat(_typed(item, book)) for item in run.derived if not str(item["fact"]).startswith("~")]
    ordered = tuple(sorted(findings, key=lambda f: (f.rule, f.text, f.id)))
    return Inference(ordered, tuple(derived), len(ordered))


def _tagged(item: Fact) -> FactDict:
    return {"fact": item.kind, **dict(item.values)}


def _compiled(book: RuleBook, pass_: Literal[1, 2]) -> _Compiled:
    """The engine of a book and pass, built once in a process; the one unused for longest makes room."""
    slot = (book.sha256, pass_)
    if slot not in _engines:
        rules = [rule for rule in book.rules if book.pass_of(rule) <= pass_]
        effects = {rule.id: (rule, tuple(consequences(rule))) for rule in rules}
        _engines[slot] = _Compiled(Engine(compile_rules(rules)), effects)
        if len(_engines) > MOST_ENGINES:
            _engines.popitem(last=False)[1].engine.close()
    _engines.move_to_end(slot)
    return _engines[slot]


def _finding(
    compiled: tuple[Rule, tuple[FactDict, ...]], firing: Firing, evidence: Mapping[str, FactDict], book: RuleBook
) -> Finding:
    rule, effects = compiled
    if rule.unless:
        found = unpack(firing.premises[0][1], rule)
        keys = [key_of(item) for item in found.values()]
    else:
        found = dict(zip(rule.when, (item for _, item in firing.premises), strict=True))
        keys = list(firing.keys)
    facts = {
        alias: evidence.get(key) or _typed(item, book) for (alias, item), key in zip(found.items(), keys, strict=True)
    }
    digest = hashlib.sha256("\n".join((rule.id, *keys)).encode()).hexdigest()[:12]
    derived = [_flat(_typed(item, book)) for item in derived_facts(rule, facts)]
    return Finding(
        id=f"{rule.id}#{digest}",
        rule=rule.id,
        premises=tuple((alias, _flat(item)) for alias, item in facts.items()),
        consequences=(*derived, *(resolve(item, facts) for item in effects)),
        text=fill(rule.says, facts),
    )


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
