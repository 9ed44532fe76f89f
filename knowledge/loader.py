"""Reads knowledge/*.yaml into Knowledge: typed, cross-referenced, with errors that name file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
import yaml

from .errors import KnowledgeError
from .facts import Scalar
from .model import Cause, Experiment, FactKind, Knowledge, Misconception, Mitigation, Question, ScopeKind, Symptom
from .vocabulary import check_value, fill_template

_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NONE_OF_THESE = "none_of_these"
MOST_OUTCOMES = 4
SAMPLE_SCOPE: Mapping[str, Scalar] = {"scope": "rank:0", "ranks": "0", "lateness_ms": 1.0}
_CLAUSE = re.compile(r"L(0[1-9]|[1-3]\d|4[0-5])")
_TOP_KEY = re.compile(r"^([A-Za-z_][\w-]*):")
_Entry = TypeVar("_Entry")


def load(directory: Path | None = None) -> Knowledge:
    """Knowledge of a directory with facts, causes, questions, experiments, mitigations, misconceptions and symptoms as
    YAML; the built-in one without an argument. Raises KnowledgeError (file:line) for anything malformed or dangling."""
    return _load(directory or Path(__file__).parent)


class _Document(dict[str, _Entry]):
    """Entries of one file; `where(name)` is file:line of an entry."""

    def __init__(self, path: Path, entries: dict[str, _Entry], lines: Mapping[str, int]) -> None:
        super().__init__(entries)
        self._path, self._lines = path, lines

    def where(self, name: str) -> str:
        return f"{self._path}:{self._lines.get(name, 1)}"


@cache
def _load(directory: Path) -> Knowledge:
    facts = _read(directory / "facts.yaml", FactKind)
    causes = _read(directory / "causes.yaml", Cause)
    questions = _read(directory / "questions.yaml", Question)
    experiments = _read(directory / "experiments.yaml", Experiment)
    mitigations = _read(directory / "mitigations.yaml", Mitigation)
    misconceptions = _read(directory / "misconceptions.yaml", Misconception)
    symptoms = _read(directory / "symptoms.yaml", Symptom)
    _check_facts(facts)
    for document in (causes, questions, experiments, mitigations, misconceptions, symptoms):
        _check_clauses(document)
    _check_questions(questions, facts)
    _check_experiments(experiments, facts, causes)
    _check_symptoms(symptoms, facts)
    return Knowledge(facts, causes, questions, experiments, mitigations, misconceptions, symptoms, _priors(causes))


def _read(path: Path, entry: type[_Entry]) -> _Document[_Entry]:
    try:
        text = path.read_text("utf-8")
        raw = yaml.load(text, Loader=_SAFE_LOADER)  # noqa: S506 (a safe loader, the fast one where it exists)
    except OSError as error:
        raise KnowledgeError(f"cannot read it: {error.strerror}", where=str(path)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise KnowledgeError(f"not YAML: {getattr(error, 'problem', error)}", where=f"{path}:{line}") from error
    if not isinstance(raw, dict):
        raise KnowledgeError("expected a mapping from name to entry", where=f"{path}:1")
    lines = _lines(path, text)
    document: _Document[_Entry] = _Document(path, {}, lines)
    for name, value in raw.items():
        try:
            document[str(name)] = msgspec.convert(value, entry)
        except msgspec.ValidationError as error:
            raise KnowledgeError(f"{name}: {error}", where=document.where(str(name))) from error
    return document


def _lines(path: Path, text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _TOP_KEY.match(line)
        if match is None:
            continue
        if match[1] in lines:
            raise KnowledgeError(f"{match[1]} is already defined on line {lines[match[1]]}", where=f"{path}:{number}")
        lines[match[1]] = number
    return lines


def _check_facts(facts: _Document[FactKind]) -> None:
    for name, kind in facts.items():
        dangling = [key for key in kind.key if key not in kind.fields or kind.fields[key].optional]
        if dangling:
            what = f"{name}: key {dangling[0]} is not a field that is always there"
            raise KnowledgeError(what, where=facts.where(name))


def _check_clauses(document: _Document[Any]) -> None:
    for name, entry in document.items():
        for clause in getattr(entry, "clauses", ()):
            if not _CLAUSE.fullmatch(clause):
                raise KnowledgeError(f"{name}: {clause} is not a clause of the lesson", where=document.where(name))


def _check_questions(questions: _Document[Question], facts: Mapping[str, FactKind]) -> None:
    for name, question in questions.items():
        where = questions.where(name)
        _check_outcomes(name, [answer.id for answer in question.answers], where)
        for answer in question.answers:
            _check_templates(f"{name}.{answer.id}", answer.facts, facts, where)
        for pattern in question.settled_by:
            _check_pattern(f"{name}.settled_by", pattern, facts, where)


def _check_experiments(
    experiments: _Document[Experiment], facts: Mapping[str, FactKind], causes: Mapping[str, Cause]
) -> None:
    for name, experiment in experiments.items():
        where = experiments.where(name)
        _check_outcomes(name, [outcome.id for outcome in experiment.outcomes], where)
        named = [*experiment.predictions, *(cause for outcome in experiment.outcomes for cause in outcome.predicted_by)]
        for cause in named:
            if cause not in causes:
                raise KnowledgeError(f"{name}: no cause is named {cause}", where=where)
        for outcome in experiment.outcomes:
            _check_templates(f"{name}.{outcome.id}", outcome.facts, facts, where)
            _check_own_outcome(name, outcome.id, outcome.facts, where)


def _check_symptoms(symptoms: _Document[Symptom], facts: Mapping[str, FactKind]) -> None:
    for name, symptom in symptoms.items():
        where = symptoms.where(name)
        if not symptom.said and not symptom.log:
            raise KnowledgeError(f"{name}: has neither words nor a log line to know it by", where=where)
        for pattern in symptom.log:
            try:
                re.compile(pattern)
            except re.error as error:
                raise KnowledgeError(f"{name}: {pattern!r} is no regular expression ({error})", where=where) from error
        _check_templates(name, symptom.facts, facts, where)


def _check_own_outcome(name: str, outcome: str, templates: Iterable[Mapping[str, object]], where: str) -> None:
    for template in templates:
        if template.get("fact") != "experiment_outcome":
            continue
        if (template.get("experiment"), template.get("outcome")) != (name, outcome):
            raise KnowledgeError(f"{name}.{outcome}: its experiment_outcome names another outcome", where=where)


def _check_outcomes(name: str, ids: list[str], where: str) -> None:
    if not 1 <= len(ids) <= MOST_OUTCOMES:
        raise KnowledgeError(f"{name}: has {len(ids)} outcome classes, 1 to {MOST_OUTCOMES} are allowed", where=where)
    if len(set(ids)) != len(ids):
        raise KnowledgeError(f"{name}: two outcome classes have one id", where=where)


def _check_templates(
    name: str, templates: Iterable[dict[str, object]], facts: Mapping[str, FactKind], where: str
) -> None:
    for template in templates:
        _check_pattern(name, template, facts, where)
        try:
            fill_template(facts, template, SAMPLE_SCOPE)
        except KeyError as error:
            raise KnowledgeError(f"{name}: ${error.args[0]} is not a value of a scope", where=where) from error
        except KnowledgeError as error:
            raise KnowledgeError(f"{name}: {error}", where=where) from error


def _check_pattern(name: str, pattern: Mapping[str, object], facts: Mapping[str, FactKind], where: str) -> None:
    kind = facts.get(str(pattern.get("fact")))
    if kind is None:
        raise KnowledgeError(f"{name}: no fact kind is named {pattern.get('fact')}", where=where)
    for field, value in pattern.items():
        if field == "fact":
            continue
        if field not in kind.fields:
            raise KnowledgeError(f"{name}: {pattern['fact']} has no field {field}", where=where)
        if isinstance(value, (str, int, float)) and not str(value).startswith("$"):
            _check_listed(name, field, value, kind, where)


def _check_listed(name: str, field: str, value: Scalar, kind: FactKind, where: str) -> None:
    try:
        check_value(kind.fields[field], value, field)
    except KnowledgeError as error:
        raise KnowledgeError(f"{name}: {error}", where=where) from error


def _priors(causes: _Document[Cause]) -> dict[str, dict[str, float]]:
    if NONE_OF_THESE not in causes:
        raise KnowledgeError(f"{NONE_OF_THESE} is missing", where=causes.where(""))
    priors: dict[str, dict[str, float]] = {}
    for kind in get_args(ScopeKind):
        weights = {name: cause.priors[kind] for name, cause in causes.items() if kind in cause.priors}
        negative = [name for name, weight in weights.items() if weight <= 0]
        if negative:
            raise KnowledgeError(f"{negative[0]}: prior of {kind} is not positive", where=causes.where(negative[0]))
        if NONE_OF_THESE not in weights:
            raise KnowledgeError(f"{NONE_OF_THESE}: no prior of {kind}", where=causes.where(NONE_OF_THESE))
        total = sum(weights.values())
        priors[kind] = {name: weight / total for name, weight in weights.items()}
    return priors
