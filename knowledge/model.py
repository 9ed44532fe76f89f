"""The typed form of knowledge/*.yaml. `knowledge.load()` (loader.py) validates and cross-references it.

Templates: in `facts` of answers and outcomes, a string `$scope`, `$ranks` or `$lateness_ms` is replaced by the
value of the scope the question or experiment is asked for. A template fact may give any subset of the fields;
numbers that a scale answers are cut into classes at the rules' own thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from .facts import Fact, Scalar

ScopeKind = Literal["rank", "set", "common", "rotating", "hang"]
FactTemplate = dict[str, Any]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of a fact kind."""

    type: Literal["str", "int", "float", "bool"]
    doc: str = ""
    unit: str = ""
    values: list[str] = []
    optional: bool = False


class FactKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"pass_": "pass"}):
    """A kind of fact: its key, fields and the pass it belongs to. `derived`: only rules make it."""

    doc: str
    key: list[str]
    fields: dict[str, Field]
    pass_: Literal[1, 2] = 1
    derived: bool = False


class Mechanism(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sub-cause that stays open until evidence separates it."""

    title: str
    would_need: str


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cause. `priors`: weight per scope kind it can apply to; the loader normalises per kind with
    `none_of_these` (also an entry of causes.yaml). `because`: the clause that ends a verdict's sentence, per scope
    kind; `rank` serves set and rotating too, `{its}` is its or their."""

    title: str
    meaning: str
    not_meaning: str
    priors: dict[ScopeKind, float]
    mechanisms: dict[str, Mechanism] = {}
    because: dict[ScopeKind, str] = {}
    would_need: str = ""
    clauses: list[str] = []


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One outcome class of a question: what a person says, and the facts it means.

    `words` answer the question while it is open; `said` (patterns as in Symptom) answer it before it was asked."""

    id: str
    text: str
    facts: list[FactTemplate] = []
    words: list[str] = []
    said: list[str] = []


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One piece of evidence to ask for. At most four answers. `cost` is minutes of an engineer.

    `settled_by`: a fact pattern; where the evidence holds a match (for the scope), it is not asked.
    `measure`: what a bare number says as its answer, a column of a table such as arrival_ms. `apart`: its answer
    changes what may be done meanwhile and not the verdict (L29); it is asked last. `scopes`: the kinds of scope it
    makes sense for; empty for any.
    """

    text: str
    because: str
    cost: float
    answers: list[Answer]
    settled_by: list[FactTemplate]
    example: str = ""
    measure: str = ""
    apart: bool = False
    scopes: list[ScopeKind] = []
    clauses: list[str] = []


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One outcome class of an experiment, with the prediction of each cause that leads to it."""

    id: str
    text: str
    predicted_by: list[str]
    facts: list[FactTemplate] = []


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An experiment: one thing changes, the rest is held (L11). At most four outcomes. `cost` in minutes.

    `predictions`: for each live cause, the predicted result in words with `$ranks`, `$lateness_ms` filled.
    """

    title: str
    change: str
    hold: list[str]
    steps: int
    abort: str
    rollback: str
    cost: float
    outcomes: list[Outcome]
    predictions: dict[str, str]
    shows_not: str
    threshold: str
    clauses: list[str] = []


class Mitigation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to limit harm, apart from the diagnosis (L27-L29)."""

    text: str
    policies: list[Literal["exact_reproducibility", "approximate_continuation", "valid_progress"]]
    data_order: str
    record: str
    clauses: list[str] = []


class Misconception(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A belief users state, and the answer to it. `said`: patterns (see Symptom) that state it."""

    belief: str
    answer: str
    instead: str
    said: list[str]
    clauses: list[str] = []


class Symptom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something seen without a number, as people say it and as logs print it.

    `said`: patterns of words that stand in one sentence in any order; `a|b` are alternatives, `a_b` adjacent words,
    `a*` a beginning, `!a` must not stand there, `^a` first. `log`: regular expressions for one line; a group named
    `rank` names the rank it is about. It means the fact `symptom` and, if given, `facts` (`$ranks` is filled).
    """

    text: str
    said: list[str] = []
    log: list[str] = []
    facts: list[FactTemplate] = []
    clauses: list[str] = []


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything under knowledge/, validated. `priors[kind]` sums to 1 over causes and none_of_these."""

    facts: Mapping[str, FactKind]
    causes: Mapping[str, Cause]
    questions: Mapping[str, Question]
    experiments: Mapping[str, Experiment]
    mitigations: Mapping[str, Mitigation]
    misconceptions: Mapping[str, Misconception]
    symptoms: Mapping[str, Symptom]
    priors: Mapping[str, Mapping[str, float]]
    keys: Mapping[str, tuple[str, ...]] = field(init=False)
    """Key fields by fact kind."""

    def __post_init__(self) -> None:
        keys = {kind: tuple(entry.key) for kind, entry in self.facts.items()}
        object.__setattr__(self, "keys", keys)

    def check(self, item: Fact) -> Fact:
        """The fact, with numbers of the declared type. Raises KnowledgeError for an unknown kind or field, a
        missing field, a wrong type or a value outside the listed ones."""
        from .vocabulary import check_fact

        return check_fact(self.facts, item)

    def fill(self, template: FactTemplate, scope: Mapping[str, Scalar]) -> Fact:
        """The fact a template means for a scope; `$name` is replaced by `scope[name]`."""
        from .vocabulary import fill_template

        return fill_template(self.facts, template, scope)
