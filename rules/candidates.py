"""What could be asked or run next: the open questions and experiments with the facts each outcome would mean. Pure."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..knowledge.facts import Fact, Scalar, fact, fact_key, replace_by_key
from ..knowledge.model import Experiment, FactTemplate, Knowledge, Question
from .model import Inference
from .verdict import Judgement
from .weigh import kind_of

JOB = "job"
"""Scope of a candidate whose outcomes mean the same for every scope."""
ABOUT_RANKS = ("rank", "set", "rotating")
"""Kinds of scope for which a question about its ranks makes sense."""

_TESTS = {"gte": operator.ge, "gt": operator.gt, "lte": operator.le, "lt": operator.lt, "ne": operator.ne}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome class: the facts it would add, and for an experiment the causes that predict it."""

    id: str
    text: str
    added: tuple[Fact, ...]
    predicted_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question or an experiment for a scope. `proposed`: a rule of pass 2 put it forward. Cost in minutes."""

    kind: Literal["question", "experiment"]
    id: str
    scope: str
    text: str
    cost: float
    proposed: bool
    outcomes: tuple[Outcome, ...]


def candidates(
    facts: Sequence[Fact], judgement: Judgement, inference: Inference, knowledge: Knowledge
) -> tuple[Candidate, ...]:
    """Every open question and experiment, those that rules put forward first, then by kind, id and scope.

    `inference` is that of pass 2. A question is closed by a fact that matches its `settled_by` or by an answer
    "don't know"; an experiment by a recorded outcome.
    """
    found: dict[tuple[str, str, str], Candidate] = {}
    known = by_key(facts, knowledge)
    for kind, name, scope, proposed in (*_proposed(inference), *_open(judgement, knowledge)):
        values = scope_values(judgement, scope)
        if kind == "question" and not _fits_kind(knowledge.questions[name], judgement, scope):
            continue
        made = (_question if kind == "question" else _experiment)(name, values, proposed, known, knowledge)
        if made is not None:
            found.setdefault((made.kind, made.id, made.scope), made)
    return tuple(sorted(found.values(), key=lambda c: (not c.proposed, c.kind, c.id, c.scope)))


def _fits_kind(question: Question, judgement: Judgement, scope: str) -> bool:
    """Whether a question makes sense for the kind of its scope, or of the leading one."""
    own = next((s for s in judgement.scopes if s.scope == scope), None) if is_bound(question) else None
    about = own or judgement.leading
    return not question.scopes or about is None or about.fact["kind"] in question.scopes


def scope_values(judgement: Judgement, scope: str) -> dict[str, Scalar]:
    """What `$scope`, `$ranks` and `$lateness_ms` stand for; a scope that is not there has no ranks."""
    judged = next((s for s in judgement.scopes if s.scope == scope), None)
    if judged is None:
        return {"scope": scope, "ranks": "", "lateness_ms": 0.0}
    return {"scope": scope, "ranks": judged.ranks, "lateness_ms": judged.fact["lateness_ms"]}


def suppose(
    facts: Sequence[Fact], templates: Iterable[FactTemplate], values: Mapping[str, Scalar], knowledge: Knowledge
) -> tuple[Fact, ...]:
    """The facts that templates mean beside the evidence: what a template leaves out keeps its known value."""
    return _suppose(by_key(facts, knowledge), templates, values, knowledge)


Known = Mapping[tuple[object, ...], Fact]
"""Facts by their keys."""


def by_key(facts: Iterable[Fact], knowledge: Knowledge) -> Known:
    """Facts by their keys; of two with one key the later."""
    return {fact_key(f, knowledge.keys): f for f in facts}


def _suppose(
    known: Known, templates: Iterable[FactTemplate], values: Mapping[str, Scalar], knowledge: Knowledge
) -> tuple[Fact, ...]:
    made: list[Fact] = []
    for template in templates:
        filled = knowledge.fill(template, values)
        older = known.get(fact_key(filled, knowledge.keys))
        kept = {name: value for name, value in older.values if name not in template} if older else {}
        made.append(fact(filled.kind, {**dict(filled.values), **kept}, quality="supposed", source=filled.source))
    return tuple(made)


def with_facts(facts: Sequence[Fact], added: Iterable[Fact], knowledge: Knowledge) -> list[Fact]:
    """The evidence in which the added facts replace those with the same key."""
    return replace_by_key(facts, added, knowledge.keys)


def in_words(text: str, values: Mapping[str, Scalar]) -> str:
    """Text with `$ranks`, `$lateness_ms` and `$scope` filled in; `rank $ranks` becomes what its number asks for."""
    ranks = str(values.get("ranks", ""))
    text = text.replace("rank $ranks", _named(ranks)).replace("Rank $ranks", _named(ranks).capitalize())
    for name in sorted(values, key=len, reverse=True):
        value = values[name]
        text = text.replace(f"${name}", f"{value:.0f}" if isinstance(value, float) else str(value))
    return text


def is_settled(question: str, scope: str, facts: Iterable[Fact], knowledge: Knowledge) -> bool:
    """Whether the evidence answers a question for a scope."""
    values: dict[str, Scalar] = {"scope": scope, "ranks": "", "lateness_ms": 0.0}
    patterns = knowledge.questions[question].settled_by
    return any(matches(pattern, item, values) for pattern in patterns for item in facts)


def _named(ranks: str) -> str:
    """`rank 2`, `ranks 0-3`, `every rank`, `the late rank`."""
    if ranks == "all":
        return "every rank"
    if not ranks[:1].isdecimal():
        return "the late rank"
    return f"rank {ranks}" if ranks.isdecimal() else f"ranks {ranks}"


def matches(pattern: FactTemplate, item: Fact, values: Mapping[str, Scalar]) -> bool:
    """Whether a fact has the pattern's kind and fulfils each of its fields (a value, `$name` or a test)."""
    if pattern["fact"] != item.kind:
        return False
    return all(_fits(want, item.get(name), values) for name, want in pattern.items() if name != "fact")


def _fits(want: Any, value: Scalar | None, values: Mapping[str, Scalar]) -> bool:
    if value is None:
        return False
    if isinstance(want, dict):
        return all(_TESTS[test](value, limit) for test, limit in want.items())
    return value == (values[want[1:]] if isinstance(want, str) and want.startswith("$") else want)


def _proposed(inference: Inference) -> Iterator[tuple[str, str, str, bool]]:
    for finding in inference.findings:
        for item in finding.consequences:
            if kind_of(item) == "@ask":
                yield "question", str(item["question"]), str(item["scope"]), True
            elif kind_of(item) == "@propose":
                yield "experiment", str(item["experiment"]), str(item["scope"]), True


def _open(judgement: Judgement, knowledge: Knowledge) -> Iterator[tuple[str, str, str, bool]]:
    """What no rule put forward: questions of the job, and for the leading scope, which alone can change the verdict,
    questions about its ranks and experiments that a live cause speaks of."""
    top = judgement.leading
    late = top is not None and top.fact["kind"] in ABOUT_RANKS
    for name, question in knowledge.questions.items():
        if not is_bound(question):
            yield "question", name, JOB, False
        elif top is not None and late:
            yield "question", name, top.scope, False
    if top is not None:
        live = {b.cause for b in top.live}
        for name, experiment in knowledge.experiments.items():
            if live & experiment.predictions.keys():
                yield "experiment", name, top.scope, False


def is_bound(question: Question) -> bool:
    """Whether its answers speak of one scope."""
    templates = [*question.settled_by, *(t for answer in question.answers for t in answer.facts)]
    return any(str(value).startswith("$") for template in templates for value in template.values())


def _question(
    name: str, values: Mapping[str, Scalar], proposed: bool, known: Known, knowledge: Knowledge
) -> Candidate | None:
    question = knowledge.questions[name]
    bound = is_bound(question)
    answered = [f for f in known.values() if f.kind == "answered" and f["question"] == name]
    if any(not bound or f["scope"] == values["scope"] for f in answered):
        return None
    if any(matches(pattern, item, values) for pattern in question.settled_by for item in known.values()):
        return None
    outcomes = tuple(
        Outcome(a.id, in_words(a.text, values), _suppose(known, a.facts, values, knowledge))
        for a in question.answers
        if a.facts
    )
    scope = str(values["scope"]) if bound else JOB
    return Candidate("question", name, scope, in_words(question.text, values), question.cost, proposed, outcomes)


def _experiment(
    name: str, values: Mapping[str, Scalar], proposed: bool, known: Known, knowledge: Knowledge
) -> Candidate | None:
    experiment = knowledge.experiments[name]
    scope = str(values["scope"])
    done = [f for f in known.values() if f.kind == "experiment_outcome" and f["experiment"] == name]
    if any(f["scope"] == scope for f in done):
        return None
    outcomes = tuple(
        _result(name, experiment, values, index, known, knowledge) for index in range(len(experiment.outcomes))
    )
    title = in_words(experiment.title, values)
    return Candidate("experiment", name, scope, title, experiment.cost, proposed, outcomes)


def _result(
    name: str,
    experiment: Experiment,
    values: Mapping[str, Scalar],
    index: int,
    known: Known,
    knowledge: Knowledge,
) -> Outcome:
    outcome = experiment.outcomes[index]
    itself = {"fact": "experiment_outcome", "experiment": name, "scope": "$scope", "outcome": outcome.id}
    templates = [itself, *(t for t in outcome.facts if t["fact"] != "experiment_outcome")]
    added = _suppose(known, templates, values, knowledge)
    return Outcome(outcome.id, in_words(outcome.text, values), added, tuple(outcome.predicted_by))
