"""Symptoms are known by their words, and not where they are denied."""

from __future__ import annotations

import pytest
from latecomer.knowledge.model import Symptom
from latecomer.traces.symptoms import find_symptoms, one_typo

SYMPTOMS = {
    "timeout_in_validation": Symptom(text="t", said=["timeout|hang validation|eval*"]),
    "killed": Symptom(text="t", log=[r"exitcode: -9\) local_rank: (?P<rank>\d+)"]),
    "no_progress": Symptom(text="t", said=["no_progress"]),
    "slow": Symptom(text="t", said=["slow !fast"]),
}


def shown(text: str) -> list[tuple[str, str]]:
    return [(s.symptom, s.ranks) for s in find_symptoms(text, SYMPTOMS)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It hangs during evaluation", [("timeout_in_validation", "unknown")]),
        ("rank 3 timeouts in validaton", [("timeout_in_validation", "3")]),
        ("a timeout. then validation", []),
        ("it does not hang in validation", []),
        ("[ERROR] failed (exitcode: -9) local_rank: 1 (pid: 7)", [("killed", "1")]),
        ("there is no progress", [("no_progress", "unknown")]),
        ("slow, then fast", []),
        ("ranks 1 and 2 are slow", [("slow", "1,2")]),
        ("", []),
    ],
)
def test_L05_symptoms_by_their_words(text: str, found: list[tuple[str, str]]) -> None:
    assert shown(text) == found


def test_a_symptom_is_found_once_where_it_first_shows() -> None:
    seen = find_symptoms("fine\nslow here\nslow there", SYMPTOMS)
    assert [(s.line, s.text) for s in seen] == [(2, "slow here")]


@pytest.mark.parametrize("word", ["validation", "valdation", "vlaidation", "validationn", "valitation"])
def test_one_typo_is_forgiven(word: str) -> None:
    assert one_typo("validation", word)


def test_two_typos_are_not_forgiven() -> None:
    assert not one_typo("validation", "veladation")
