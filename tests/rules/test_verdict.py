"""Verdict arithmetic of DESIGN section 4, on findings made by hand."""

from itertools import permutations

import pytest
from latecomer.knowledge.facts import Fact
from latecomer.rules.model import Finding
from latecomer.rules.verdict import Judgement, judge, verdict_facts

from .judging import argues, found, gate, job, knowledge, scope

KNOWN = knowledge()
TWO_GROUPS = (argues("input_delay", "decisive", "stages"), argues("input_delay", "moderate", "transfer"))


def verdict_of(*findings: Finding, facts: tuple[Fact, ...] = (job(), gate(), scope())) -> Judgement:
    return judge(facts, found(*findings), KNOWN)


def probability(judgement: Judgement, cause: str) -> float:
    scoped = judgement.leading
    belief = scoped.belief(cause) if scoped else None
    assert belief is not None
    return belief.probability


def test_posterior_is_prior_times_ten_to_the_sum() -> None:
    got = verdict_of(
        argues("input_delay", "strong", "stages"), argues("host_stall", "moderate", "stages", side="against")
    )
    total = 10 + 1 + 1 + 1 + 10**-0.6
    assert probability(got, "input_delay") == pytest.approx(10 / total)
    assert probability(got, "host_stall") == pytest.approx(10**-0.6 / total)
    assert probability(got, "none_of_these") == pytest.approx(1 / total)


def test_of_a_group_only_the_strongest_counts_on_each_side() -> None:
    many = [argues("input_delay", level, "stages") for level in ("weak", "moderate", "strong")]
    against = argues("input_delay", "weak", "stages", side="against")
    belief = verdict_of(*many, against).scopes[0].belief("input_delay")
    assert belief is not None
    assert belief.weight_db == pytest.approx(10 - 3)
    assert [a.counted for a in belief.supporting] == [True, False, False]


def test_order_of_findings_does_not_matter() -> None:
    findings = (*TWO_GROUPS, argues("host_stall", "weak", "host"))
    results = {repr(verdict_of(*order)) for order in permutations(findings)}
    assert len(results) == 1


def test_two_groups_and_a_settled_gate_establish() -> None:
    got = verdict_of(*TWO_GROUPS)
    assert got.outcome == ("established", "input_delay", "2")
    assert got.scopes[0].groups == ("stages", "transfer")


def test_one_group_is_at_most_probable() -> None:
    got = verdict_of(argues("input_delay", "decisive", "stages"))
    assert got.verdict == "probable"
    assert "independent" in " ".join(got.reasons)


def test_an_argument_against_a_rival_is_a_second_group() -> None:
    rival = argues("host_stall", "strong", "host", side="against")
    assert verdict_of(argues("input_delay", "decisive", "stages"), rival).verdict == "established"


def test_margin_below_ten_db_is_not_established() -> None:
    close = argues("compute_imbalance", "strong", "batch")
    got = verdict_of(*TWO_GROUPS, argues("compute_imbalance", "moderate", "tokens"), close)
    assert got.scopes[0].margin_db == pytest.approx(10.0)
    nearer = argues("compute_imbalance", "weak", "more")
    assert (
        verdict_of(*TWO_GROUPS, close, argues("compute_imbalance", "moderate", "tokens"), nearer).verdict == "probable"
    )


@pytest.mark.parametrize(("state", "expected"), [("unknown", "probable"), ("matched_by_progress", "established")])
def test_L04_gate_comes_before_established(state: str, expected: str) -> None:
    assert verdict_of(*TWO_GROUPS, facts=(job(), gate(state), scope())).verdict == expected


def test_L04_mismatched_collectives_leave_a_performance_cause_open() -> None:
    got = verdict_of(*TWO_GROUPS, facts=(job(), gate("mismatched"), scope()))
    assert got.outcome == ("undetermined", None, "2")
    divergence = argues("collective_divergence", "decisive", "order")
    assert verdict_of(divergence, facts=(job(), gate("mismatched"), scope())).outcome[1] == "collective_divergence"


def test_L41_no_argument_leaves_the_rank_known_and_the_cause_open() -> None:
    got = verdict_of()
    assert got.outcome == ("undetermined", None, "2")
    assert [f["cause"] for f in verdict_facts(got) if f.kind == "verdict"] == ["open"]


def test_a_tie_is_undetermined() -> None:
    got = verdict_of(argues("input_delay", "strong", "a"), argues("host_stall", "strong", "b"))
    assert got.outcome == ("undetermined", None, "2")
    assert {b.cause for b in got.scopes[0].beliefs[:2]} == {"input_delay", "host_stall"}


def test_a_veto_excludes_a_cause_whatever_its_weight() -> None:
    ban = Finding("ban#1", "test.ban", (), ({"kind": "@veto", "cause": "input_delay", "scope": "rank:2"},), "cannot be")
    got = verdict_of(*TWO_GROUPS, ban)
    assert probability(got, "input_delay") == 0.0
    assert got.scopes[0].cause is None


@pytest.mark.parametrize(
    ("where", "expected"), [("rank:2", "probable"), ("job", "probable"), ("rank:7", "established")]
)
def test_a_limit_caps_its_scope(where: str, expected: str) -> None:
    item = {"kind": "@limit", "scope": where, "at_most": "probable"}
    got = verdict_of(*TWO_GROUPS, Finding("l#1", "test.limit", (), (item,), "one row a rank"))
    assert got.verdict == expected
    assert ("one row a rank" in got.reasons) is (expected == "probable")


def test_L18_a_mechanism_is_named_only_when_it_stands_out() -> None:
    source = argues("input_delay", "moderate", "source", mechanism="slow_source")
    decode = argues("input_delay", "weak", "decode", mechanism="decode_cost")
    assert verdict_of(*TWO_GROUPS, source).scopes[0].mechanism == "slow_source"
    assert verdict_of(*TWO_GROUPS, source, decode).scopes[0].mechanism is None


def test_an_argument_against_a_mechanism_leaves_the_cause_alone() -> None:
    ruled_out = argues("input_delay", "decisive", "source", side="against", mechanism="slow_source")
    assert verdict_of(*TWO_GROUPS, ruled_out).outcome == verdict_of(*TWO_GROUPS).outcome


def test_the_top_scope_is_the_one_with_the_largest_loss() -> None:
    small = scope("rank:0", loss_ms=10.0)
    got = verdict_of(*TWO_GROUPS, facts=(job(), gate(), small, scope()))
    assert [s.scope for s in got.scopes] == ["rank:2", "rank:0"]
    assert got.verdict == "established" and got.scopes[1].verdict == "undetermined"


def test_a_hang_comes_before_every_loss() -> None:
    hang = scope("hang", kind="hang", loss_ms=0.0)
    assert verdict_of(facts=(job(), gate(), scope(), hang)).scopes[0].scope == "hang"


def test_healthy_needs_a_known_lateness_enough_steps_and_a_settled_gate() -> None:
    assert verdict_of(facts=(job(), gate())).verdict == "healthy"
    for facts in (
        (job(lateness_known=False), gate()),
        (job(sampling="few"), gate()),
        (job(), gate("unknown")),
        (job(), gate(ranks="missing")),
        (job(),),
        (),
    ):
        got = verdict_of(facts=facts)
        assert got.verdict == "insufficient_evidence" and got.reasons


def test_pass_two_facts_fit_the_vocabulary() -> None:
    got = verdict_facts(verdict_of(*TWO_GROUPS))
    assert [KNOWN.check(f).kind for f in got] == ["verdict", "live_cause", "conclusion"]
    assert got[1]["leader"] is True
