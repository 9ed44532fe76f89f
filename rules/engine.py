"""The engine seam: the only module that imports durable-rules, used in the one way that is safe.

Measured: its stock API crashes on joins whose last term is false, runs threads, swallows errors and gets negation
wrong in batches. So here: no Host and no threads, one rule set a process behind a lock, one session that is deleted
after each run, a sentinel fact that always fires first, an always-true last term in every join, negation only over
completed strata and last, facts asserted one at a time in canonical order under explicit ids, and our own pump, so
that errors are raised. Every run starts from the evidence: nothing is retracted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import durable_rules_engine as c_engine
import msgspec
from durable import engine as durable

from ..knowledge.errors import EngineError
from .conditions import PHASE, EngineRule, FactDict, Plan, Scalar, check, key_of, normal, sent

SESSION = "s"
_ONE_RUN = threading.Lock()
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


@dataclass(frozen=True, slots=True)
class Firing:
    """A rule that fired, and the facts that made it: their keys, and by alias."""

    rule: str
    keys: tuple[str, ...]
    premises: tuple[tuple[str, FactDict], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What one inference did: firings in the engine's order, and the facts they derived."""

    firings: tuple[Firing, ...]
    derived: tuple[FactDict, ...]


class Engine:
    """Rules compiled once; `run` may be called from several threads, one at a time. Raises EngineError where the
    rules are not safe to run: not stratified, a join without equality, too many tests, colliding field names."""

    def __init__(self, rules: Sequence[EngineRule], *, max_firings: int = 5000, max_facts: int = 5000) -> None:
        self._rules = {rule.name: rule for rule in rules}
        self._max_firings, self._max_facts = max_firings, max_facts
        if len(self._rules) != len(rules):
            raise EngineError("two rules have the same name")
        check(rules)
        self._plan = Plan(rules)
        with _ONE_RUN:
            self._handle = durable.Ruleset("latecomer", None, self._plan.definitions)._handle

    def run(self, facts: Iterable[FactDict]) -> Run:
        """Everything that follows from the facts. Same facts in any order: the same run.

        Raises EngineError for values the engine cannot hold, above the limits, or from a rule's own error.
        """
        normals = [normal(item) for item in facts]
        return self.run_keyed({key_of(item): item for item in normals})

    def run_keyed(self, facts: Mapping[str, FactDict]) -> Run:
        """As `run`, of normal facts under their keys."""
        evidence = {key: facts[key] for key in sorted(facts)}
        if len(evidence) > self._max_facts:
            raise EngineError(f"{len(evidence)} facts are more than {self._max_facts}", remedy="Give fewer facts.")
        for item in evidence.values():
            self._plan.check(item)
        with _ONE_RUN:
            return _Session(self._handle, self._rules, self._plan, self._max_firings).run(evidence)

    def close(self) -> None:
        """Free the compiled rules; `run` may not be called after."""
        with _ONE_RUN:
            c_engine.delete_ruleset(self._handle)


class _Session:
    """One run: assert, pump, collect, delete."""

    def __init__(self, handle: int, rules: Mapping[str, EngineRule], plan: Plan, max_firings: int) -> None:
        self._handle, self._rules, self._plan, self._max = handle, rules, plan, max_firings
        self._ids: dict[str, str] = {}
        self._known: dict[str, FactDict] = {}
        self._firings: list[Firing] = []
        self._derived: list[str] = []

    def run(self, evidence: Mapping[str, FactDict]) -> Run:
        self._phase(0)  # fires always: only a session in which something fired can be deleted
        try:
            for key, item in evidence.items():
                self._pump(self._put(key, item))
            for phase in self._plan.phases:
                self._phase(phase)
        finally:
            c_engine.delete_state(self._handle, SESSION)
        return Run(tuple(self._firings), tuple(self._known[key] for key in sorted(self._derived)))

    def _phase(self, phase: int) -> None:
        message = _encode({"sid": SESSION, "id": f"ph{phase}", "_phase": phase, "_1": 1})
        code, offset = c_engine.assert_fact(self._handle, message)
        if code:
            raise EngineError("the engine kept an earlier session", remedy="Start the worker again.")
        self._pump(offset)

    def _put(self, key: str, item: FactDict) -> int | None:
        """Assert a fact once; None where it is known or no rule listens to it."""
        if key in self._known:
            return None
        self._known[key] = item
        kind = str(item["fact"])
        found: int | None = None
        read = {name: sent(item[name]) for name in self._plan.fields.get(kind, ()) if name in item}
        for copy in range(self._plan.copies(kind)):
            offset = self._assert({**read, "fact": f"{kind}#{copy}"}, key)
            found = found if offset is None else offset
        return found

    def _assert(self, body: Mapping[str, Scalar], key: str) -> int | None:
        name = f"n{len(self._ids)}"
        self._ids[name] = key
        message = _encode({**body, "sid": SESSION, "id": name, "_1": 1})
        try:
            code, offset = c_engine.assert_fact(self._handle, message)
        except Exception as error:
            raise EngineError(f"the engine refused {key}: {error}") from error
        if code == 2:
            raise EngineError(f"the engine took {key} for another fact")
        return offset if code == 0 else None

    def _pump(self, offset: int | None) -> None:
        if offset is None:
            return
        result = c_engine.start_action_for_state(self._handle, offset)
        message = result[1] if result else None
        while message:
            self._fire(*msgspec.json.decode(message).popitem())
            message = c_engine.complete_and_start_action(self._handle, offset)

    def _fire(self, name: str, message: Mapping[str, Mapping[str, Any]]) -> None:
        if name == PHASE:
            return
        if len(self._firings) >= self._max:
            raise EngineError(f"more than {self._max} firings, the last of {name}", remedy="Narrow that rule.")
        rule = self._rules[name]
        keys = [self._ids[message[c.alias]["id"]] for c in rule.when]
        if len(set(keys)) < len(keys):  # two copies of one fact
            return
        premises = tuple((c.alias, self._known[key]) for c, key in zip(rule.when, keys, strict=True))
        self._firings.append(Firing(name, tuple(keys), premises))
        for item in rule.derive(dict(premises)) if rule.derive else ():
            if item["fact"] not in rule.derives:
                raise EngineError(f"{name} derived {item['fact']}, which it does not declare")
            made = normal(item)
            key = key_of(made)
            if key not in self._known:
                self._plan.check(made)
                self._derived.append(key)
                self._put(key, made)
