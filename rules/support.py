"""The evidence a verdict could rest on: what lies behind the arguments for the leader. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..knowledge.facts import Fact, fact_key
from .model import FactDict, Finding, Inference
from .verdict import Judgement
from .weigh import kind_of


def support_of(
    facts: Sequence[Fact], inference: Inference, judgement: Judgement, keys: Mapping[str, tuple[str, ...]]
) -> list[Fact]:
    """Premises of the arguments for the leader, through derived facts, and the gate and the job, which the verdict
    itself looks at; in one order."""
    evidence = {fact_key(f, keys): f for f in facts}
    makers = _makers(inference, keys)
    top = judgement.leading
    start = [a.finding for b in top.beliefs if b.cause == top.cause for a in b.supporting] if top else []
    found: dict[tuple[object, ...], Fact] = {}
    seen: set[str] = set()
    while start:
        finding = start.pop()
        if finding.id in seen:
            continue
        seen.add(finding.id)
        for _, premise in finding.premises:
            key = _key(premise, keys)
            if key in evidence:
                found[key] = evidence[key]
            start.extend(makers.get(key, ()))
    for kind in ("gate", "job"):
        found.update({k: f for k, f in evidence.items() if f.kind == kind})
    return sorted(found.values(), key=str)


def _makers(inference: Inference, keys: Mapping[str, tuple[str, ...]]) -> dict[tuple[object, ...], list[Finding]]:
    made: dict[tuple[object, ...], list[Finding]] = {}
    for finding in inference.findings:
        for item in finding.consequences:
            if kind_of(item) in keys:
                made.setdefault(_key(item, keys), []).append(finding)
    return made


def _key(item: FactDict, keys: Mapping[str, tuple[str, ...]]) -> tuple[object, ...]:
    kind = kind_of(item)
    return (kind, *(item.get(name) for name in keys.get(kind, ())))
