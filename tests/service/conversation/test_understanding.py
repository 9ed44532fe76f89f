"""Messages as engineers type them -> acts; any text at all; no message takes more than linear work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from latecomer.knowledge import load
from latecomer.service.conversation import acts
from latecomer.service.conversation.commands import COMMANDS
from latecomer.service.conversation.understanding import understand
from latecomer.traces.tables import STEP_COLUMNS
from latecomer.traces.told import COUNTS

from .acts_in_words import context, told, understood

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("understanding.yaml").read_text("utf-8"))
TRADE = [
    *("rank", "2", "5", "0-3", "410", "140ms", "1e999", "not", "no", "input", "arrival", "others", "rest", "waits for"),
    *(",", ";", ":", ".", "?", "|", "\n", "/", "{", "[", "\u202e", "data", "at", "and", "for", "/undo", "20/20/140/20"),
]
L36 = "every gpu shows time in all-reduce, should the network be upgraded?"


@pytest.mark.parametrize("case", CASES, ids=[f"{case.get('asked', '')}: {case['say'][:50]}" for case in CASES])
def test_what_a_message_means(case: dict[str, Any]) -> None:
    known = context(case.get("asked", ""), case.get("ranks"), case.get("contested", ""))
    found, said = understood(case["say"], known)
    assert found == case.get("acts", [])
    assert set(case.get("told", ())) <= said
    assert not set(case.get("not_told", ())) & said


def test_L34_L36_the_probe_states_a_belief_and_asks_about_a_cause() -> None:
    found, said = understood(L36, context())
    assert found == ["Asked is_it communication_limit"] and "claim network_blame" in said


@pytest.mark.parametrize(
    "denied", ["it is not the network", "the network is not slow", "i dont think we need a faster network"]
)
def test_what_is_denied_is_no_claim(denied: str) -> None:
    assert "claim network_blame" not in understood(denied, context())[1]


def test_what_was_told_is_repeated_in_words_and_beliefs_are_not() -> None:
    (found,) = [a for a in understand("8 gpus, ddp, 40% slower. nccl is slow", context()) if isinstance(a, acts.Told)]
    assert found.ranks == 8 and found.in_words == ("DDP", "step time +40 %")


def test_two_answers_alike_are_both_named() -> None:
    (found,) = understand("data or host", context("follows"))
    assert isinstance(found, acts.Unread) and "the data" in found.why and "the host" in found.why


def test_every_unread_number_says_what_is_missing() -> None:
    for text in (
        "rank 2 140 ms",
        "2 takes twice as long",
        "compute 320 vs 160 on rank 2 and rank 3",
        "0 20 180\n1 20 180",
    ):
        (found,) = understand(text, context())
        assert isinstance(found, acts.Unread) and found.why, text


@pytest.mark.parametrize("command", [c.name for c in COMMANDS if not c.here])
def test_every_command_is_an_act(command: str) -> None:
    words = {"whatif": " rank 2's input were normal", "revise": " e1 rank 2 input 140", "show": " 3", "undo": " e2"}
    (found,) = understand(f"/{command}{words.get(command, '')}", context("arrivals"))
    assert not isinstance(found, acts.Unread)


def test_an_unknown_command_names_the_nearest() -> None:
    (found,) = understand("/evidance", context())
    assert isinstance(found, acts.Unread) and "/evidence" in found.why


def test_a_log_is_told_by_its_symptoms() -> None:
    line = "[rank3]:[E ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective timeout: WorkNCCL(SeqNum=1)"
    assert any(item.startswith("symptom ") for item in told(understand(f"it stops:\n{line}", context())))


def test_measures_of_questions_are_columns_and_patterns_answer_one_question_each() -> None:
    for name, question in load().questions.items():
        assert question.measure in ("", *STEP_COLUMNS, *COUNTS), name


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["", "arrivals", "stage_times", "work_equality"]))
def test_any_text_gives_acts(text: str, asked: str) -> None:
    assert all(isinstance(act, acts.Act) for act in understand(text, context(asked)))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(TRADE),
        max_size=40,
    ),
    st.sampled_from(["", "arrivals", "follows"]),
)
def test_any_words_of_the_trade_give_acts(words: list[str], asked: str) -> None:
    assert isinstance(understand(" ".join(words), context(asked)), tuple)


HOSTILE: dict[str, Callable[[int], str]] = {
    "one word": lambda n: "a" * n,
    "sentences": lambda n: "rank 2 is slow. " * (n // 16),
    "numbers": lambda n: "1 " * (n // 2),
    "lines": lambda n: "rank 2 input 140 ms\n" * (n // 20),
    "log": lambda n: "2024-01-01 10:00:00 ERROR NCCL failed at rank 3\n" * (n // 48),
    "brackets": lambda n: "[" * n,
    "objects": lambda n: '{"a":' * (n // 5),
    "table": lambda n: "rank,input\n" + "0,1\n" * (n // 4),
    "bars": lambda n: "|a|b|\n" * (n // 6),
    "marks": lambda n: "\u202e\x00 " * (n // 3),
    "digits": lambda n: "9" * n + " ranks",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_twice_the_text_is_at_most_about_twice_the_work(text: Callable[[int], str]) -> None:
    known = context("arrivals", 8)
    understand(text(2_000), known)
    assert _calls(text(40_000), known) < 3 * _calls(text(20_000), known) + 20_000


@pytest.mark.slow
def test_a_megabyte_of_anything_is_answered() -> None:
    for text in HOSTILE.values():
        assert len(understand(text(1_000_000), context("arrivals", 8))) < 20


def _calls(text: str, known: acts.Context) -> int:
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        understand(text, known)
    finally:
        sys.setprofile(None)
    return count
