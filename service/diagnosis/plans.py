"""What to ask, run and guard against next, and what would change the verdict, as parts of the document. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...knowledge.facts import Fact, Scalar
from ...knowledge.model import Knowledge
from ...rules.candidates import Candidate, in_words, scope_values
from ...rules.counterfactuals import Assessment, Consequence, Counterfactuals
from ...rules.model import FactDict, Inference
from ...rules.verdict import Judgement
from ...rules.weigh import kind_of
from .documents import becomes, fact_document
from .schemas import (
    Choice,
    Correction,
    ExperimentDocument,
    MitigationDocument,
    Next,
    Prediction,
    QuestionDocument,
    Revision,
    Support,
)

MOST_QUESTIONS = 5


def next_steps(cf: Counterfactuals, judgement: Judgement, knowledge: Knowledge) -> Next:
    """The best questions and the best experiment."""
    return Next(
        questions=tuple(question_document(a, judgement, knowledge) for a in cf.questions[:MOST_QUESTIONS]),
        experiment=_experiment(cf.experiments[0], judgement, knowledge) if cf.experiments else None,
    )


def question_document(found: Assessment, judgement: Judgement, knowledge: Knowledge) -> QuestionDocument:
    """A question with its answers and where each would lead."""
    chosen = found.candidate
    entry = knowledge.questions[chosen.id]
    values = scope_values(judgement, chosen.scope)
    return QuestionDocument(
        id=chosen.id,
        scope=chosen.scope,
        text=chosen.text,
        because=in_words(entry.because, values),
        example=entry.example,
        answers=tuple(_choice(c) for c in found.consequences),
        cost_minutes=entry.cost,
        expected_bits=round(found.bits, 4),
    )


def _experiment(found: Assessment, judgement: Judgement, knowledge: Knowledge) -> ExperimentDocument:
    chosen = found.candidate
    entry = knowledge.experiments[chosen.id]
    values = scope_values(judgement, chosen.scope)
    return ExperimentDocument(
        id=chosen.id,
        scope=chosen.scope,
        title=chosen.text,
        change=in_words(entry.change, values),
        hold=tuple(in_words(text, values) for text in entry.hold),
        steps=entry.steps,
        abort=in_words(entry.abort, values),
        rollback=in_words(entry.rollback, values),
        threshold=in_words(entry.threshold, values),
        predictions=_predictions(chosen, judgement, entry.predictions, values),
        outcomes=tuple(_choice(c) for c in found.consequences),
        shows_not=in_words(entry.shows_not, values),
        cost_minutes=entry.cost,
        expected_bits=round(found.bits, 4),
    )


def _predictions(
    chosen: Candidate, judgement: Judgement, texts: Mapping[str, str], values: Mapping[str, Scalar]
) -> tuple[Prediction, ...]:
    """What each live cause of the scope predicts, most probable first, and none of these last."""
    scope = next((s for s in judgement.scopes if s.scope == chosen.scope), judgement.leading)
    live = [b.cause for b in scope.live] if scope else []
    order = [*live, "none_of_these"]
    return tuple(Prediction(cause=c, text=in_words(texts[c], values)) for c in order if c in texts)


def _choice(item: Consequence) -> Choice:
    after = becomes(item.judgement) if item.judgement else None
    return Choice(id=item.outcome.id, text=item.outcome.text, probability=round(item.probability, 4), becomes=after)


# ---- what would change the verdict -----------------------------------------------------------------------


def revisions(found: Sequence[tuple[Candidate, Consequence]]) -> tuple[Revision, ...]:
    """Every verified condition under which the leader or the verdict would change."""
    return tuple(
        Revision(
            id=f"{candidate.id}/{item.outcome.id}@{candidate.scope}",
            text=_condition(candidate, item),
            subject=candidate.text,
            outcome=item.outcome.text,
            evidence=tuple(fact_document(f) for f in item.outcome.added),
            becomes=becomes(item.judgement),
        )
        for candidate, item in found
        if item.judgement is not None
    )


def _condition(candidate: Candidate, item: Consequence) -> str:
    if candidate.kind == "experiment":
        return f"{candidate.text}: {item.outcome.text}"
    return f"{candidate.text} {item.outcome.text[:1].upper()}{item.outcome.text[1:]}."


def support(cf: Counterfactuals) -> tuple[Support, ...]:
    """The facts whose removal changes the verdict."""
    return tuple(Support(fact=fact_document(f), becomes=becomes(j)) for f, j in cf.rests_on)


# ---- apart from the diagnosis ----------------------------------------------------------------------------


def mitigation(
    facts: Sequence[Fact], inference: Inference, judgement: Judgement, knowledge: Knowledge
) -> tuple[MitigationDocument, ...]:
    """Ways to limit harm that rules offer; only those fit for the run's policy where it is stated (L27-L29)."""
    policy = next((f["policy"] for f in facts if f.kind == "run_policy"), "unknown")
    found: dict[tuple[str, str], MitigationDocument] = {}
    for item in _items(inference, "@mitigate"):
        name = str(item["mitigation"])
        entry = knowledge.mitigations[name]
        if policy != "unknown" and policy not in entry.policies:
            continue
        text = in_words(entry.text, scope_values(judgement, str(item["scope"])))
        made = MitigationDocument(
            id=name, text=text, policies=tuple(entry.policies), data_order=entry.data_order, record=entry.record
        )
        found.setdefault((name, text), made)
    return tuple(found.values())


def corrections(inference: Inference, knowledge: Knowledge) -> tuple[Correction, ...]:
    """Answers to misconceptions that were stated."""
    asked = dict.fromkeys(str(item["misconception"]) for item in _items(inference, "@correct"))
    entries = ((name, knowledge.misconceptions[name]) for name in asked)
    return tuple(Correction(id=name, answer=entry.answer, instead=entry.instead) for name, entry in entries)


def _items(inference: Inference, kind: str) -> Iterator[FactDict]:
    for finding in inference.findings:
        yield from (item for item in finding.consequences if kind_of(item) == kind)
