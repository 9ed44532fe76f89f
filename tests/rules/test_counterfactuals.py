"""Next steps, revise_if and rests_on are what running the engine on hypothetical facts gives."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latecomer.knowledge.errors import UsageError
from latecomer.knowledge.facts import Fact, fact
from latecomer.knowledge.model import Answer, Experiment, Outcome, Question
from latecomer.rules.candidates import candidates, matches, suppose, with_facts
from latecomer.rules.counterfactuals import Counterfactuals, Reasoned, entropy, explore, reason
from latecomer.rules.explain import how, what_if, why, why_not
from latecomer.rules.model import Finding, Inference
from latecomer.rules.verdict import judge

from .judging import argues, found, gate, job, knowledge, scope

EXCESS = {"fact": "stage_excess", "scope": "$scope", "stage": "input_wait", "excess_ms": "$lateness_ms"}
STAGES = Question(
    text="How long is each part on rank $ranks?",
    because="it splits the causes",
    cost=10,
    answers=[
        Answer("input", "input by $lateness_ms ms", [EXCESS | {"part": "whole"}]),
        Answer("compute", "compute", [EXCESS | {"stage": "compute", "part": "whole"}]),
        Answer("alike", "alike", [EXCESS | {"stage": "host", "part": "none"}]),
        Answer("unknown", "do not know"),
    ],
    settled_by=[{"fact": "stage_excess", "scope": "$scope"}],
)
POLICY = Question(
    text="What must the run keep?",
    because="mitigation depends on it",
    cost=1,
    answers=[Answer("exact", "exact", [{"fact": "run_policy", "policy": "exact_reproducibility"}])],
    settled_by=[{"fact": "run_policy"}],
)
MATCHED = Question(
    text="Do collectives match?",
    because="settle it first",
    cost=5,
    answers=[
        Answer("yes", "yes", [{"fact": "gate", "collectives": "matched"}]),
        Answer("no", "no", [{"fact": "gate", "collectives": "mismatched"}]),
    ],
    settled_by=[{"fact": "gate", "collectives": state} for state in ("matched", "mismatched")],
)
REPLAY = Experiment(
    title="Replay batches of rank $ranks",
    change="source",
    hold=["shapes"],
    steps=20,
    abort="-",
    rollback="-",
    cost=30,
    outcomes=[Outcome("falls", "it falls", ["input_delay"]), Outcome("stays", "it stays", ["host_stall"])],
    predictions={"input_delay": "falls", "host_stall": "stays"},
    shows_not="the whole job",
    threshold="a fifth",
)
KNOWN = knowledge({"stages": STAGES, "policy": POLICY, "matched": MATCHED}, {"replay": REPLAY})
BASE = (job(), gate(), scope())


def one(facts: Sequence[Fact]) -> Inference:
    """A tiny rule book: stage excess and replay results argue; an undetermined scope asks for stages."""
    findings: list[Finding] = []
    for item in facts:
        premises = (("it", {"fact": item.kind, **dict(item.values)}),)
        if item.kind == "stage_excess" and item["part"] == "whole":
            cause = {"input_wait": "input_delay", "compute": "compute_imbalance"}[str(item["stage"])]
            findings.append(_with(argues(cause, "decisive", "stages"), premises))
        if item.kind == "experiment_outcome":
            cause = {"falls": "input_delay", "stays": "host_stall"}[str(item["outcome"])]
            findings.append(_with(argues(cause, "decisive", "experiment"), premises))
        if item.kind == "verdict":
            ask = {"kind": "@ask", "question": "stages", "scope": item["scope"]}
            first = {"kind": "@ask", "question": "matched", "scope": "job"}
            run = {"kind": "@propose", "experiment": "replay", "scope": item["scope"]}
            findings.append(Finding("ask#1", "test.ask", premises, (ask, first, run), "ask"))
    return found(*findings)


def _with(finding: Finding, premises: tuple[tuple[str, dict[str, str | int | float | bool]], ...]) -> Finding:
    return Finding(finding.id, finding.rule, premises, finding.consequences, finding.text)


def infer(batches: Sequence[Sequence[Fact]]) -> list[Inference]:
    return [one(facts) for facts in batches]


def explored(*facts: Fact) -> tuple[Reasoned, Counterfactuals]:
    now = reason(facts, KNOWN, infer)
    return now, explore(now, KNOWN, infer)


def whole(stage: str = "input_wait") -> Fact:
    return KNOWN.fill(EXCESS | {"stage": stage, "part": "whole"}, {"scope": "rank:2", "lateness_ms": 120.0})


def test_an_open_cause_asks_what_splits_it_and_never_what_cannot() -> None:
    _, found_next = explored(*BASE)
    assert [a.candidate.id for a in found_next.questions] == ["stages"]
    assert 0.3 < found_next.questions[0].bits < 2.33
    assert [a.candidate.id for a in found_next.experiments] == ["replay"]


def test_a_question_is_not_asked_when_settled_or_answered() -> None:
    answered = fact("answered", {"question": "stages", "scope": "rank:2"})
    for extra in (whole(), answered):
        _, found_next = explored(*BASE, extra)
        assert "stages" not in [a.candidate.id for a in found_next.questions]


def test_an_experiment_with_a_result_is_not_proposed_again() -> None:
    done = fact("experiment_outcome", {"experiment": "replay", "scope": "rank:2", "outcome": "falls"})
    assert explored(*BASE, done)[1].experiments == ()


def test_nothing_is_asked_when_no_answer_could_change_the_verdict() -> None:
    firm = [whole(), fact("experiment_outcome", {"experiment": "replay", "scope": "rank:2", "outcome": "falls"})]
    now, found_next = explored(*BASE, *firm)
    assert now.judgement.verdict == "established"
    assert found_next.questions == () and found_next.revisions == ()


def test_L04_an_unknown_gate_is_asked_for() -> None:
    firm = [whole(), fact("experiment_outcome", {"experiment": "replay", "scope": "rank:2", "outcome": "falls"})]
    now, found_next = explored(job(), gate("unknown"), scope(), *firm)
    assert now.judgement.verdict == "probable"
    assert [a.candidate.id for a in found_next.questions] == ["matched"]
    assert {c.outcome.id for _, c in found_next.revisions} == {"yes", "no"}


def test_probabilities_of_outcomes_sum_to_one_and_follow_the_leader() -> None:
    _, found_next = explored(*BASE, whole())
    chances = {c.outcome.id: c.probability for c in found_next.experiments[0].consequences}
    assert sum(chances.values()) == pytest.approx(1.0)
    assert chances["falls"] > chances["stays"]


def test_L37_revise_if_holds_the_result_that_turns_the_leader() -> None:
    _, found_next = explored(*BASE, whole())
    becomes = {f"{c.id}/{r.outcome.id}": r.judgement.outcome for c, r in found_next.revisions if r.judgement}
    assert becomes["replay/falls"] == ("established", "input_delay", "2")
    assert becomes["replay/stays"] == ("undetermined", None, "2")


facts_of_a_job = st.lists(
    st.sampled_from(
        [
            whole(),
            whole("compute"),
            gate("unknown"),
            gate(),
            scope(),
            scope("rank:0", loss_ms=30.0, lateness_ms=30.0),
            job(),
            fact("experiment_outcome", {"experiment": "replay", "scope": "rank:2", "outcome": "stays"}),
        ]
    ),
    unique_by=str,
)


@settings(max_examples=60, deadline=None)
@given(facts_of_a_job)
def test_every_revision_applied_does_what_it_says(facts: list[Fact]) -> None:
    merged = with_facts([], facts, KNOWN)
    now, found_next = explored(*merged)
    for _, consequence in found_next.revisions:
        after = with_facts(merged, consequence.outcome.added, KNOWN)
        assert consequence.judgement is not None
        assert judge(after, one(after), KNOWN).outcome == consequence.judgement.outcome != now.judgement.outcome


@settings(max_examples=60, deadline=None)
@given(facts_of_a_job)
def test_every_fact_it_rests_on_changes_the_verdict_when_removed(facts: list[Fact]) -> None:
    merged = with_facts([], facts, KNOWN)
    now, found_next = explored(*merged)
    for removed, judgement in found_next.rests_on:
        left = [f for f in merged if f != removed]
        assert judge(left, one(left), KNOWN).outcome == judgement.outcome != now.judgement.outcome


def test_the_verdict_rests_on_its_stage_times() -> None:
    rests = [f.kind for f, _ in explored(*BASE, whole())[1].rests_on]
    assert rests == ["stage_excess"]


def test_healthy_rests_on_job_and_gate() -> None:
    assert [f.kind for f, _ in explored(job(), gate())[1].rests_on] == ["gate", "job"]


def test_order_of_facts_does_not_matter() -> None:
    first, second = explored(*BASE, whole())[1], explored(whole(), *reversed(BASE))[1]
    assert [a.value for a in first.questions] == [a.value for a in second.questions]
    assert [c.outcome.id for _, c in first.revisions] == [c.outcome.id for _, c in second.revisions]


def test_a_budget_of_runs_is_reported() -> None:
    now = reason(BASE, KNOWN, infer)
    short = explore(now, KNOWN, infer, most_runs=2)
    assert short.ran == 2 < short.of


def test_a_template_keeps_what_is_known_and_not_named() -> None:
    held = suppose(BASE, [{"fact": "job", "lateness_known": False}], {}, KNOWN)[0]
    assert held["lateness_known"] is False and held["ranks"] == 4 and held["sampling"] == "sufficient"


@pytest.mark.parametrize(("test", "expected"), [({"gte": 100.0}, True), ({"lt": 100.0}, False), ({"ne": 1.0}, True)])
def test_a_pattern_may_hold_tests(test: dict[str, float], expected: bool) -> None:
    assert matches({"fact": "scope", "lateness_ms": test}, scope(), {}) is expected


def test_candidates_come_in_one_order_and_once() -> None:
    now = reason(BASE, KNOWN, infer)
    ids = [(c.proposed, c.kind, c.id) for c in candidates(now.facts, now.judgement, now.inference, KNOWN)]
    assert ids == [(True, "experiment", "replay"), (True, "question", "stages"), (False, "question", "policy")]


def test_why_says_what_each_answer_would_raise() -> None:
    now, found_next = explored(*BASE)
    splits = {s.outcome: s for s in why(found_next.questions[0], now.judgement)}
    assert [move[0] for move in splits["input"].raises] == ["input_delay"]
    assert splits["alike"].raises == ()


def test_how_and_why_not_show_the_weights() -> None:
    now, _ = explored(*BASE, whole())
    assert next((w.cause, w.weight_db) for w in how(now.judgement)) == ("input_delay", 20.0)
    turned = why_not(now.judgement, "host_stall")
    assert turned.leader == "input_delay" and turned.leader_support and not turned.vetoed
    with pytest.raises(UsageError, match="cannot apply"):
        why_not(now.judgement, "device_health")


def test_what_if_leaves_the_evidence_untouched() -> None:
    now, _ = explored(*BASE, whole())
    supposed = what_if(now, [gate("mismatched")], KNOWN, infer)
    assert supposed.judgement.verdict == "undetermined"
    assert now.judgement.outcome == ("probable", "input_delay", "2")


def test_entropy_is_in_bits() -> None:
    assert entropy([0.5, 0.5]) == pytest.approx(1.0) and entropy([1.0, 0.0]) == 0.0
