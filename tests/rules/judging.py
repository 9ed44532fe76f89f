"""Builders shared by the tests of the verdict: a small knowledge, findings and scopes made by hand."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from latecomer.knowledge.facts import Fact, Scalar, fact
from latecomer.knowledge.model import Experiment, FactKind, Knowledge, Question
from latecomer.rules.model import Finding, Inference

VOCABULARY = Path(__file__).resolve().parents[2] / "knowledge" / "facts.yaml"
CAUSES: tuple[str, ...] = ("input_delay", "compute_imbalance", "host_stall", "collective_divergence")


def vocabulary() -> dict[str, FactKind]:
    return msgspec.yaml.decode(VOCABULARY.read_bytes(), type=dict[str, FactKind])


def knowledge(
    questions: Mapping[str, Question] | None = None, experiments: Mapping[str, Experiment] | None = None
) -> Knowledge:
    """Three performance causes and a correctness cause, all as likely as none of these (0.2 each)."""
    even = dict.fromkeys((*CAUSES, "none_of_these"), 0.2)
    priors: dict[str, dict[str, float]] = dict.fromkeys(("rank", "set", "common", "rotating", "hang"), even)
    return Knowledge(vocabulary(), {}, questions or {}, experiments or {}, {}, {}, {}, priors)


def scope(name: str = "rank:2", **values: Scalar) -> Fact:
    given: dict[str, Scalar | None] = {
        "scope": name,
        "kind": "rank",
        "ranks": name.split(":")[-1],
        "lateness_ms": 120.0,
        "loss_ms": 120.0,
        "loss_share": 0.3,
        "pattern": "persistent",
        "late_steps": 10,
        "steps": 10,
        "sampling": "sufficient",
        "split": "clear",
        "excess_in": "own_time",
    }
    return fact("scope", {**given, **values})


def job(**values: Scalar) -> Fact:
    given: dict[str, Scalar | None] = {
        "ranks": 4,
        "steps": 10,
        "evidence": "table",
        "lateness_known": True,
        "stages_known": True,
        "sampling": "sufficient",
    }
    return fact("job", {**given, **values})


def gate(collectives: str = "matched", ranks: str = "complete") -> Fact:
    values = {"collectives": collectives, "ranks": ranks, "method": "sequence", "paired": 20, "unpaired": 0}
    return fact("gate", values)


def argues(cause: str, level: str, group: str, *, side: str = "for", mechanism: str = "", rule: str = "") -> Finding:
    """A finding that argues about a cause of rank:2."""
    item: dict[str, Scalar] = {"kind": "@argue", "cause": cause, "scope": "rank:2", "level": level, "group": group}
    item |= {"side": side}
    if mechanism:
        item["mechanism"] = mechanism
    name = rule or f"test.{cause}-{group}-{level}-{side}-{mechanism}"
    return Finding(f"{name}#1", name, (), (item,), f"{cause} {side}")


def found(*findings: Finding) -> Inference:
    return Inference(tuple(findings), (), len(findings))
