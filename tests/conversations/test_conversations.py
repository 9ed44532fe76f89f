"""Conversations from the first message to the verdict, and what holds for every one of them."""

from __future__ import annotations

from typing import Any

import pytest
from latecomer.rules.counterfactuals import ask

from .talk import EXAMPLE_JOB, Talk, check, documents, mind, text_of

DOCUMENTS = documents()


def play(document: dict[str, Any]) -> tuple[Talk, list[str]]:
    talk, wrong = Talk(), []
    for number, turn in enumerate(document["turns"], 1):
        outcome = talk.attach([EXAMPLE_JOB]) if turn.get("attach") else talk.say(turn["say"])
        wrong += check(outcome, turn, f"turn {number} ({str(turn.get('say', 'attach'))[:40]!r})")
    return talk, wrong


@pytest.mark.parametrize("name", DOCUMENTS)
def test_conversation(name: str) -> None:
    talk, wrong = play(DOCUMENTS[name])
    assert not wrong, "\n".join(wrong)
    assert len(set(talk.asked)) == len(talk.asked), f"asked twice: {talk.asked}"
    assert talk.replayed() == talk.state
    for outcome in talk.outcomes:
        assert outcome.said and all(s.text.strip() for s in outcome.said)
        assert "$" not in text_of(outcome) and "unknown ms" not in text_of(outcome)
        open_now = outcome.question
        if open_now is not None:
            known = {(f.kind, f.get("question")) for f in outcome.view.now.facts}
            assert ("answered", open_now.id) not in known, f"{open_now.id} was not known and is asked again"


def test_there_are_enough_and_every_cause_is_reached() -> None:
    causes = {t["cause"] for d in DOCUMENTS.values() for t in d["turns"] if isinstance(t.get("cause"), str)}
    wanted = {
        "input_delay", "uniform_input_bound", "compute_imbalance", "pipeline_imbalance", "communication_limit",
        "host_stall", "device_health", "collective_divergence", "failed_worker", "measurement_artifact",
    }  # fmt: skip
    assert len(DOCUMENTS) >= 30
    assert wanted <= causes, wanted - causes


def test_every_conversation_names_its_clauses() -> None:
    assert all(d["clauses"] and d["title"] for d in DOCUMENTS.values())


@pytest.mark.parametrize(
    "name", ["the-exercise", "a-late-rank-of-unknown-cause", "the-network-is-blamed", "all-starve"]
)
def test_the_first_question_is_found_without_assessing_all(name: str) -> None:
    talk, _ = play(DOCUMENTS[name])
    reasoner = mind().reasoner
    for outcome in talk.outcomes:
        now = outcome.view.now
        every = ask(now, reasoner.knowledge, reasoner.infer)
        first = ask(now, reasoner.knowledge, reasoner.infer, first=1)
        assert first[:1] == every[:1]
