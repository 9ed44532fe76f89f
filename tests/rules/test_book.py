"""The rule book as data: numbers are named thresholds, families are folders, sentences have units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from latecomer.knowledge import load

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("gte", "gt", "lte", "lt")
FAMILIES = {
    "evidence-quality", "gate", "lateness", "input-delay", "compute", "communication", "host", "device", "measurement",
    "healthy", "experiments", "mitigations", "misconceptions", "symptoms",
}  # fmt: skip


def documents() -> Iterator[Mapping[str, Any]]:
    """Every rule document of the built-in book."""
    for path in sorted((ROOT / "rules" / "book").glob("*/*.yaml")):
        yield yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)


def patterns(rule: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*rule["when"].values(), *rule.get("unless", [])]


def test_every_family_of_the_design_has_rules() -> None:
    assert {rule["id"].partition(".")[0] for rule in documents()} == FAMILIES


def test_numbers_in_patterns_are_named_thresholds() -> None:
    thresholds = yaml.safe_load((ROOT / "knowledge" / "thresholds.yaml").read_text("utf-8"))
    named = {entry["value"] for entry in thresholds.values()}
    for rule in documents():
        for pattern in patterns(rule):
            tested = [v[name] for v in pattern.values() if isinstance(v, dict) for name in TESTS if name in v]
            assert {n for n in tested if n not in (0, 1)} <= named, rule["id"]


def test_milliseconds_and_shares_are_written_with_their_units() -> None:
    for rule in documents():
        for field, form in re.findall(r"\{\w+\.(\w+)(:\w+)?\}", rule["says"]):
            if field.endswith("_ms"):
                assert form in (":ms", ":than"), (rule["id"], field)
            elif field in ("share", "coverage", "cv"):
                assert form == ":percent", (rule["id"], field)


def test_optional_fields_are_said_only_where_the_pattern_needs_them() -> None:
    facts = load().facts
    for rule in documents():
        for alias, field in re.findall(r"\{(\w+)\.(\w+)(?::\w+)?\}", rule["says"]):
            pattern = rule["when"][alias]
            assert not facts[pattern["fact"]].fields[field].optional or field in pattern, (rule["id"], field)


def test_L04_no_performance_rule_argues_for_a_cause_on_a_mismatch() -> None:
    for rule in documents():
        mismatch = any(p["fact"] == "gate" and p.get("collectives") == "mismatched" for p in patterns(rule))
        argued = rule.get("argue") or []
        for item in [argued] if isinstance(argued, dict) else argued:
            assert not mismatch or item.get("side") == "against" or item["cause"] == "collective_divergence", rule["id"]


def test_L08_L38_no_rule_argues_from_a_wait_or_an_average() -> None:
    for rule in documents():
        kinds = {pattern["fact"] for pattern in patterns(rule)}
        assert not (rule.get("argue") and "wait" in kinds), rule["id"]


def test_every_experiment_outcome_and_every_misconception_has_its_rule() -> None:
    knowledge, rules = load(), list(documents())
    seen = {(p.get("experiment"), p.get("outcome")) for rule in rules for p in patterns(rule)}
    for name, experiment in knowledge.experiments.items():
        for outcome in experiment.outcomes:
            own = [t for t in outcome.facts if t["fact"] == "experiment_outcome"]
            assert all((name, outcome.id) in seen for _ in own), (name, outcome.id)
    corrected = {rule["correct"]["misconception"] for rule in rules if rule.get("correct")}
    assert corrected == set(knowledge.misconceptions)


def test_every_experiment_and_mitigation_is_reached() -> None:
    knowledge, rules = load(), list(documents())
    reached: dict[str, set[str]] = {"propose": set(), "mitigate": set(), "ask": set()}
    names = {"propose": "experiment", "mitigate": "mitigation", "ask": "question"}
    for rule in rules:
        for kind, name in names.items():
            given = rule.get(kind) or []
            reached[kind] |= {item[name] for item in ([given] if isinstance(given, dict) else given)}
    assert reached["propose"] == set(knowledge.experiments)
    assert reached["mitigate"] == set(knowledge.mitigations)
    assert reached["ask"] == set(knowledge.questions)
