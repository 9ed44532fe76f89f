"""Random walks over messages: the log replayed is the live state; facts in another order are the same diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from latecomer.service.conversation.events import (
    EvidenceAttached,
    EvidenceWithdrawn,
    QuestionAsked,
    RankCorrected,
    decode_event,
    encode_event,
)
from latecomer.service.conversation.mind import Mind
from latecomer.service.conversation.state import fold
from latecomer.service.conversation.turn import Outcome
from latecomer.service.diagnosis.local import local_reasoner
from latecomer.traces.readers.table import read_text

from ...conversations.talk import Talk

TABLE = "rank  input  compute  arrival\n0  20  180  200\n1  20  180  200\n2  140  180  320\n3  20  180  200"
STEPS = "rank,step,input_wait_ms,step_ms\n" + "\n".join(
    f"{rank},{step},{20 + 90 * (rank == 1) + (rank * step) % 3},{310 + step % 2}"
    for step in range(12)
    for rank in (0, 1, 2)
)
STORIES = (
    "the job got 40 % slower since this morning, 4 gpus, plain ddp",
    "8 gpus, rank 5 gets there at 410, everybody else 250-252",
    "rank 2 input wait 140 ms, the others 20",
    "rank 3 computes 160 ms longer than the others",
    "input wait is 300 ms on every rank, the step 320 ms",
    "4 ranks, 40 steps",
    "it has twice the padded tokens, 8192 against 4096",
    "all ranks run the same collectives in the same order",
    "the ranks enter different collectives: rank 0 is in all_gather, the others in all_reduce",
    "rank 1 died with an out of memory error and the others hang in all_reduce",
    "the lateness followed the data when we swapped shards",
    "clocks of the two hosts are 30 ms apart",
    "all of it is the network, surely",
    TABLE,
    STEPS,
)
ANSWERS = ("1", "2", "3", "the second one", "yes", "no", "yes, in most of 50 steps", "9", "rank 2")
UNKNOWN = ("dont know", "/unknown", "/skip", "no idea, we dont measure that")
BACK = (
    "undo",
    "/undo e1",
    "/undo e99",
    "actually it was rank 3 not 2",
    "actually it was rank 2 not 5",
    "sorry, 20 ms, not 140",
    "/revise e1 rank 1 input wait 90 ms, the others 20",
    "/revise e2 " + TABLE,
    "trust the trace",
    "trust what I said",
    "the input wait of rank 2 is 20 ms",
)
ASIDE = (
    "why?",
    "/how",
    "should we upgrade the network?",
    "why not compute?",
    "what if rank 2's input were normal?",
    "/causes",
    "/show",
    "the quick brown fox",
    "1e999 ms ,,, ;;; \x00 \u202e",
    "/nonsense",
)
POOL = (*STORIES, *ANSWERS, *UNKNOWN, *BACK, *ASIDE)


def holds(talk: Talk, fresh: Mind) -> None:
    """What is true after every turn."""
    outcome = talk.outcomes[-1]
    stored = [(turn, decode_event(encode_event(event))) for turn, event in talk.log]
    replayed = fold(stored)
    assert replayed == talk.state
    recordings = {
        e.id: read_text(e.text, name=f"turn {turn}", world_size=e.ranks)
        for turn, e in stored
        if isinstance(e, EvidenceAttached) and e.form == "text"
    }
    view = fresh.view(replayed, recordings)
    assert view.identity == outcome.view.identity
    assert replayed.diagnosis is not None and replayed.diagnosis.id == view.identity.id
    assert len({h.given.id for h in replayed.evidence}) == len(replayed.evidence)
    assert outcome.said and all(s.text.strip() for s in outcome.said)
    if outcome.question is not None:
        assert outcome.status == "asking"
        assert (outcome.question.id, outcome.question.scope) in replayed.asked
    assert not asked_again(talk)


def asked_again(talk: Talk) -> list[tuple[str, str]]:
    """Questions asked twice though no answer to them was taken back and no other rank turned out to be meant."""
    held: dict[str, EvidenceAttached] = {}
    asked: set[tuple[str, str]] = set()
    again: list[tuple[str, str]] = []
    for _, event in talk.log:
        match event:
            case EvidenceAttached():
                held[event.id] = event
            case EvidenceWithdrawn() if event.id in held:
                asked -= {(question, scope) for question, scope, _ in held[event.id].answers}
            case RankCorrected():
                swap = {f"rank:{event.old}": f"rank:{event.new}", f"rank:{event.new}": f"rank:{event.old}"}
                asked = {(question, swap.get(scope, scope)) for question, scope in asked}
            case QuestionAsked():
                again += [(event.question, event.scope)] if (event.question, event.scope) in asked else []
                asked.add((event.question, event.scope))
            case _:
                pass
    return again


def walk(messages: Sequence[str]) -> None:
    talk, fresh = Talk(), Mind(local_reasoner())
    for text in messages:
        talk.say(text)
        holds(talk, fresh)


WALKS = st.lists(st.sampled_from(POOL), min_size=1, max_size=9)


@settings(max_examples=18, deadline=None, derandomize=True)
@example([TABLE, "undo", TABLE, "1", "undo", "undo", "undo"])
@example([STORIES[1], "dont know", "actually it was rank 6 not 5", "undo", "1", "/undo e1"])
@given(WALKS)
def test_the_log_replayed_is_the_live_session(messages: list[str]) -> None:
    walk(messages)


@pytest.mark.slow
@settings(max_examples=180, deadline=None)
@given(st.lists(st.sampled_from(POOL), min_size=5, max_size=20))
def test_the_log_replayed_is_the_live_session_after_long_walks(messages: list[str]) -> None:
    walk(messages)


# ---- order -----------------------------------------------------------------------------------------------

TOLD = {
    "a late rank": (
        "arrivals are 250/252/251/410 ms",
        "rank 3 computes 160 ms longer than the others",
        "rank 3 has twice the padded tokens, 8192 against 4096",
    ),
    "a dead worker": ("rank 1 died with an out of memory error", "the others hang in all_reduce", "8 ranks"),
    "an experiment told before the rank is known": (
        "rank 5 arrives at 410 ms, the others at 250",
        "rank 5 input wait 180 ms, the others 20",
        "the lateness followed the data when we swapped shards",
    ),
    "a late rank, and all agree": (
        "rank 2 input wait 140 ms, the others 20",
        "compute is 180 ms on every rank",
        "all ranks run the same collectives in the same order",
    ),
}


def judged(outcome: Outcome) -> Any:
    """The diagnosis apart from turns and sources."""
    now = outcome.view.now
    scopes = [(s.scope, s.verdict, tuple((b.cause, b.probability) for b in s.beliefs)) for s in now.judgement.scopes]
    findings = sorted((f.rule, f.text) for f in now.inference.findings)
    return now.judgement.verdict, scopes, findings, outcome.view.identity.evidence


@pytest.mark.parametrize("messages", TOLD.values(), ids=TOLD)
def test_the_same_statements_in_another_order_are_the_same_diagnosis(messages: Sequence[str]) -> None:
    found: dict[str, list[Sequence[str]]] = {}
    for order in permutations(messages):
        talk = Talk()
        for text in order:
            talk.say(text)
        found.setdefault(repr(judged(talk.outcomes[-1])), []).append(order)
    assert len(found) == 1, "\n\n".join(f"{orders[0]}:\n  {result}" for result, orders in found.items())
