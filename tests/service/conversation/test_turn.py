"""A turn keeps what was there when what comes does not fit it."""

from __future__ import annotations

from ...conversations.talk import EXAMPLE_JOB, Talk, text_of

STRANGERS = "rank,input,compute,arrival\n7,20,180,200\n8,20,180,200\n9,140,180,320\n"


def test_a_table_of_another_job_is_refused_in_words_and_nothing_is_lost() -> None:
    talk = Talk()
    before = talk.attach([EXAMPLE_JOB])
    after = talk.say(STRANGERS)
    assert after.view.now.judgement.outcome == before.view.now.judgement.outcome
    assert talk.replayed() == talk.state
    assert text_of(after)


def test_facts_of_a_turn_are_those_of_that_turn_alone() -> None:
    talk = Talk()
    for number in range(12):
        talk.say(f"rank {number} input wait {100 + number} ms, the others 20")
    told = talk.say("hello")
    assert told.facts == ()


def test_a_table_that_counts_again_is_measured_again() -> None:
    table = "rank,input,compute,arrival\n0,20,180,200\n1,20,180,200\n2,140,180,320\n3,20,180,200\n"
    talk = Talk()
    first = talk.say(table)
    talk.say("/revise e1 rank 2 input wait 20 ms, the others 20")
    again = talk.say("/undo")
    assert "Counts again" in text_of(again)
    assert again.view.now.judgement.outcome == first.view.now.judgement.outcome
