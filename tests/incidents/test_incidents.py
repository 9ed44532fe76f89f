"""Public incidents told in words: no forbidden claim ever, the verdict that the label allows, the right questions.

What is missed is listed with its reason, and an entry that is reached has to go.
"""

from __future__ import annotations

import pytest
from latecomer.knowledge import load

from .incident import incidents
from .judged import judged
from .labels import CLAIMS, QUESTIONS

MISSED_VERDICTS: dict[str, str] = {
    "C005": "two rows whose optimizer differs: work and a busy host are both possible, and nothing separates them",
}
"""Id -> why the verdict is another."""
MISSED_QUESTIONS: dict[str, str] = {
    "C004": "the input wait names the rank already; what the lateness follows decides more than the storage",
    "C005": "the open stages come first: the host, and more steps; operations and devices follow",
    "C154": "the transport line decides already, and no benchmark or topology changes the verdict",
    "C170": "data wait, configuration and benchmark bear on more causes than the storage",
}
"""Id -> why none of the questions that must be asked is among the first three."""
IDS = [incident.id for incident in incidents()]


@pytest.mark.parametrize("name", IDS)
def test_incident(name: str) -> None:
    found = judged(name)
    assert found.forbidden == ()
    assert found.ranks, [s.members for s in found.diagnosis.scopes]
    assert found.verdict != (name in MISSED_VERDICTS), (found.diagnosis.verdict, found.diagnosis.headline)
    assert found.ask != (name in MISSED_QUESTIONS), found.questions


def test_the_labels_are_read_and_what_is_missed_is_few() -> None:
    assert {text for i in incidents() for text in i.expected.must_not_claim} <= set(CLAIMS)
    assert {label for i in incidents() for label in i.expected.must_ask} <= set(QUESTIONS)
    assert set().union(*QUESTIONS.values()) <= set(load().questions)
    assert set(MISSED_VERDICTS) | set(MISSED_QUESTIONS) <= set(IDS)
    assert max(len(MISSED_VERDICTS), len(MISSED_QUESTIONS)) <= 0.15 * len(IDS)
