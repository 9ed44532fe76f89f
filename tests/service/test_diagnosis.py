"""The document of the lesson's observations, with the real rule book."""

from collections.abc import Callable

import pytest
from latecomer.knowledge.facts import Fact, fact, fact_key, replace_by_key
from latecomer.rules.verdict import judge
from latecomer.service.diagnosis.documents import becomes
from latecomer.service.diagnosis.reasoner import local_reasoner
from latecomer.service.diagnosis.schemas import Becomes, Diagnosis
from latecomer.service.diagnosis.service import diagnose

from .evidence import (
    checkpoint_L41,
    equalised_backward,
    example_L31,
    exercise_L32,
    gate,
    healthy_job,
    job,
    observation_L17,
    two_faults,
)

ALL = (observation_L17, example_L31, exercise_L32, checkpoint_L41, two_faults, healthy_job, equalised_backward)


def diagnose_facts(facts: list[Fact]) -> Diagnosis:
    return diagnose(facts, reasoner=local_reasoner())


def leads(document: Diagnosis) -> tuple[str, str | None, tuple[int, ...]]:
    top = document.leading
    return (document.verdict, top.cause if top else None, top.ranks if top else ())


def words(document: Diagnosis) -> str:
    return " ".join(n.text for n in document.limits)


def test_L17_remote_shard_is_an_input_delay_of_rank_2() -> None:
    got = diagnose_facts(observation_L17())
    assert leads(got) in [("probable", "input_delay", (2,)), ("established", "input_delay", (2,))]
    assert got.measures.transfer_ms == 20.0
    assert got.headline.startswith("Rank 2 arrives about 120 ms late in 10 of 10 steps")


def test_L18_the_source_label_is_a_comparison_and_mechanisms_stay_open() -> None:
    got = diagnose_facts(observation_L17())
    assert "source-label-is-a-comparison" in " ".join(n.rule for n in got.limits)
    opened = {a.cause for a in got.alternatives}
    assert {f"input_delay/{m}" for m in ("decode_cost", "batch_shape", "slow_host_cpu")} <= opened


def test_L31_worked_example_is_probable_and_replays_the_batches() -> None:
    got = diagnose_facts(example_L31())
    assert leads(got) == ("probable", "input_delay", (2,))
    assert got.measures.wait_ms == {0: 120.0, 1: 120.0, 2: 0.0, 3: 120.0}
    plan = got.next.experiment
    assert plan is not None and plan.id == "replay-decoded-batches"
    assert plan.predictions[0].cause == "input_delay" and len(plan.predictions) >= 2


def test_L20_L31_revise_if_holds_compute_moving_and_the_delay_staying() -> None:
    conditions = {r.id for r in diagnose_facts(example_L31()).revise_if}
    assert {f"replay-decoded-batches/{o}@rank:2" for o in ("compute_moved", "delay_stays")} <= conditions


def test_L32_exercise_is_unequal_work_on_rank_3() -> None:
    got = diagnose_facts(exercise_L32())
    assert leads(got) == ("probable", "compute_imbalance", (3,))
    assert got.next.experiment is not None
    assert got.next.experiment.id in ("equalise-lengths", "identical-work")
    assert got.measures.wait_ms[3] == 0.0


def test_L39_L41_arrivals_alone_name_the_rank_and_ask_for_stage_times() -> None:
    got = diagnose_facts(checkpoint_L41())
    assert leads(got) == ("undetermined", None, (3,))
    assert got.measures.wait_ms[0] == 160.0
    assert got.next.questions[0].id == "stage_times"
    assert "cause is open" in got.headline


def test_two_faults_are_two_scopes_named_with_their_shares() -> None:
    got = diagnose_facts(two_faults())
    assert [(s.id, s.causes[0].cause, s.share) for s in got.scopes] == [
        ("rank:3", "compute_imbalance", 0.6),
        ("rank:2", "input_delay", 0.4),
    ]
    assert "60 % of the loss" in got.headline and "40 % of the loss" in got.headline


def test_healthy_names_nobody() -> None:
    got = diagnose_facts(healthy_job())
    assert got.verdict == "healthy" and got.leading is None
    assert {s.fact.kind for s in got.rests_on} >= {"gate", "job"}


def test_L15_equalised_backward_is_not_enough_and_asks_for_arrivals() -> None:
    got = diagnose_facts(equalised_backward())
    assert got.verdict == "insufficient_evidence" and got.leading is None
    assert got.next.questions[0].id == "arrivals"


def test_L04_a_mismatch_comes_before_every_performance_cause() -> None:
    facts = [f for f in observation_L17() if f.kind != "gate"]
    got = diagnose_facts([*facts, gate("mismatched")])
    assert got.leading is None or got.leading.cause not in ("input_delay", "compute_imbalance")


def test_L30_the_statement_names_rank_rival_test_and_disproof() -> None:
    text = diagnose_facts(example_L31()).statement
    for part in ("ank 2", "120 ms", "its input is late", "is weaker:", "Next:", "Compare:", "It is disproved if"):
        assert part in text


def test_L27_L29_mitigation_follows_the_policy_of_the_run() -> None:
    exact = fact("run_policy", {"policy": "exact_reproducibility"})
    for item in diagnose_facts([*observation_L17(), exact]).mitigation:
        assert "exact_reproducibility" in item.policies


@pytest.mark.parametrize("evidence", ALL)
def test_same_evidence_gives_the_same_document_in_any_order(evidence: Callable[[], list[Fact]]) -> None:
    facts = evidence()
    first = diagnose_facts(facts)
    assert diagnose_facts(facts[::-1]).model_dump_json() == first.model_dump_json()


def judged(facts: list[Fact]) -> Becomes:
    mind = local_reasoner()
    merged = replace_by_key([], facts, mind.knowledge.keys)
    return becomes(judge(merged, mind.infer([merged])[0], mind.knowledge))


@pytest.mark.parametrize("evidence", ALL)
def test_every_revision_applied_does_what_it_says(evidence: Callable[[], list[Fact]]) -> None:
    facts = evidence()
    for entry in diagnose_facts(facts).revise_if:
        added = [fact(f.kind, f.values, quality=f.quality) for f in entry.evidence]
        assert judged([*facts, *added]) == entry.becomes != judged(facts), entry.id


@pytest.mark.parametrize("evidence", ALL)
def test_every_support_removed_does_what_it_says(evidence: Callable[[], list[Fact]]) -> None:
    facts = evidence()
    keys = local_reasoner().knowledge.keys
    for entry in diagnose_facts(facts).rests_on:
        gone = fact_key(fact(entry.fact.kind, entry.fact.values), keys)
        assert judged([f for f in facts if fact_key(f, keys) != gone]) == entry.becomes != judged(facts)


@pytest.mark.parametrize("evidence", ALL)
def test_a_document_survives_its_own_json(evidence: Callable[[], list[Fact]]) -> None:
    got = diagnose_facts(evidence())
    assert Diagnosis.model_validate_json(got.model_dump_json()) == got
    assert got.counterfactuals == "complete"


def test_another_fact_is_another_document() -> None:
    first, second = diagnose_facts(healthy_job()), diagnose_facts([*healthy_job(), job(steps=60, sampling="ample")])
    assert (first.id, first.evidence) != (second.id, second.evidence) and first.rulebook == second.rulebook
