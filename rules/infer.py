"""infer(facts, book) -> Inference: a pure function. Same facts, same result, whatever their order."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Literal

from ..knowledge.facts import Fact, Scalar
from .book_model import RuleBook
from .compile import compile_rules, consequences, derived_facts, unpack
from .conditions import canonical
from .engine import Engine, Firing
from .model import FactDict, Finding, Inference, Rule
from .template import fill

MOST_ENGINES = 6
_engines: OrderedDict[tuple[str, int], Engine] = OrderedDict()
_engines_lock = threading.Lock()


def infer(facts: Sequence[Fact], book: RuleBook, *, pass_: Literal[1, 2] | None = None) -> Inference:
    """Findings of every rule that holds, and the facts they derive.

    Pass 2 holds every finding of pass 1 and those that read the verdict's facts; without `pass_` it is chosen by
    whether such facts are given. Raises EngineError for a value the engine cannot hold, or past a limit.
    """
    evidence = {canonical(_tagged(f)): f for f in facts}
    with _engines_lock:
        run = _engine(book, pass_ or book.pass_for({f.kind for f in facts})).run(_tagged(f) for f in evidence.values())
    rules = {rule.id: rule for rule in book.rules}
    findings = [_finding(rules[f.rule], f, evidence, book) for f in run.firings if f.rule in rules]
    derived = [_flat(_typed(item, book)) for item in run.derived if not str(item["fact"]).startswith("~")]
    ordered = tuple(sorted(findings, key=lambda f: (f.rule, f.text, f.id)))
    return Inference(ordered, tuple(derived), len(ordered))


def _tagged(item: Fact) -> FactDict:
    return {"fact": item.kind, **dict(item.values)}


def _engine(book: RuleBook, pass_: Literal[1, 2]) -> Engine:
    """The engine of a book and pass, built once in a process; the one unused for longest makes room."""
    slot = (book.sha256, pass_)
    if slot not in _engines:
        _engines[slot] = Engine(compile_rules([rule for rule in book.rules if book.pass_of(rule) <= pass_]))
        if len(_engines) > MOST_ENGINES:
            _engines.popitem(last=False)[1].close()
    _engines.move_to_end(slot)
    return _engines[slot]


def _finding(rule: Rule, firing: Firing, evidence: Mapping[str, Fact], book: RuleBook) -> Finding:
    found = unpack(firing.premises[0][1], rule) if rule.unless else dict(zip(rule.when, _facts(firing), strict=True))
    keys = {alias: canonical(item) for alias, item in found.items()}
    facts = {
        alias: _tagged(evidence[key]) if key in evidence else _typed(found[alias], book) for alias, key in keys.items()
    }
    digest = hashlib.sha256("\n".join((rule.id, *keys.values())).encode()).hexdigest()[:12]
    derived = [_flat(_typed(item, book)) for item in derived_facts(rule, facts)]
    return Finding(
        id=f"{rule.id}#{digest}",
        rule=rule.id,
        premises=tuple((alias, _flat(item)) for alias, item in facts.items()),
        consequences=(*derived, *consequences(rule, facts)),
        text=fill(rule.says, facts),
    )


def _facts(firing: Firing) -> list[FactDict]:
    return [item for _, item in firing.premises]


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
