"""diagnose(facts) -> the document. Pure but for `infer`: same evidence and rule book, same document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...knowledge.facts import Fact
from ...rules.counterfactuals import Reasoned, explore, reason
from ...traces.measure import Extras
from . import documents, plans, statement
from .reasoner import Reasoner
from .schemas import Diagnosis, FactDocument, Measures, ReadReport

NOTHING_READ = ReadReport(sources=(), notes=())
NO_EXTRAS = Extras()


def diagnose(
    facts: Sequence[Fact],
    read_report: ReadReport = NOTHING_READ,
    extras: Extras = NO_EXTRAS,
    *,
    reasoner: Reasoner,
    created_at: str | None = None,
    now: Reasoned | None = None,
    first_look: bool = False,
) -> Diagnosis:
    """The diagnosis of one job from its facts.

    `extras` are figures that are not facts; `created_at` is ISO 8601 and left out where equal evidence has to give
    an equal document; `now` is the reasoning over the same facts where it is at hand; `first_look` leaves out
    what no rule put forward, and what the verdict rests on. Raises KnowledgeError for a fact
    outside the vocabulary and EngineError from `infer`.
    """
    knowledge, infer = reasoner.knowledge, reasoner.infer
    evidence = documents.canonical(facts, knowledge)
    now = now or reason(evidence, knowledge, infer)
    cf = explore(now, knowledge, infer, proposed_only=first_look)
    judgement, inference = now.judgement, now.inference
    rivals = statement.alternatives(judgement, knowledge)
    steps = plans.next_steps(cf, judgement, knowledge)
    published = tuple(documents.fact_document(f) for f in evidence)
    rules_hash, evidence_hash = reasoner.rulebook, _hash_of(published)
    figures = documents.measures(evidence, extras)
    gains = documents.recoverables(extras)
    lead = documents.leading(judgement)
    return Diagnosis(
        id=_identity(rules_hash, evidence_hash, figures, read_report),
        created_at=created_at,
        rulebook=rules_hash,
        evidence=evidence_hash,
        verdict=judgement.verdict,
        headline=statement.headline(judgement, evidence, knowledge),
        statement=statement.statement(judgement, evidence, knowledge, rivals, steps, cf.revisions),
        leading=lead,
        scopes=documents.scopes(judgement, knowledge),
        gate=documents.gate(evidence),
        measures=figures,
        recoverable=next((g for g in gains if lead is not None and g.scope == lead.scope), None),
        recoverables=gains,
        why=statement.reasons(judgement),
        limits=statement.limits(inference, judgement),
        alternatives=rivals,
        next=steps,
        mitigation=plans.mitigation(evidence, inference, judgement, knowledge),
        corrections=plans.corrections(inference, knowledge),
        revise_if=plans.revisions(cf.revisions),
        counterfactuals=statement.counted(cf),
        rests_on=plans.support(cf),
        facts=published,
        findings=tuple(documents.finding_document(f) for f in inference.findings),
        read_report=read_report,
    )


@dataclass(frozen=True, slots=True)
class Identity:
    """The hashes of a document: its own id, its evidence and its rule book."""

    id: str
    evidence: str
    rulebook: str


def identify(evidence: Sequence[Fact], read_report: ReadReport, extras: Extras, *, reasoner: Reasoner) -> Identity:
    """The hashes that `diagnose` would give for canonical evidence, without its work."""
    rules_hash = reasoner.rulebook
    evidence_hash = _hash_of(documents.fact_document(f) for f in evidence)
    figures = documents.measures(evidence, extras)
    return Identity(_identity(rules_hash, evidence_hash, figures, read_report), evidence_hash, rules_hash)


def _identity(rules_hash: str, evidence_hash: str, figures: Measures, read_report: ReadReport) -> str:
    return _digest(rules_hash, evidence_hash, figures.model_dump_json(), read_report.model_dump_json())


def _hash_of(facts: Iterable[FactDocument]) -> str:
    lines = sorted(f.model_dump_json(exclude={"source"}) for f in facts)
    return _digest(*lines)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
