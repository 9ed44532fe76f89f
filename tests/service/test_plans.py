"""Words and lists around the conclusion: ranks, mitigation by policy, corrections, limits."""

from __future__ import annotations

import pytest
from latecomer.knowledge.facts import fact
from latecomer.knowledge.loader import load
from latecomer.rules.model import Finding, Inference
from latecomer.rules.verdict import Judgement
from latecomer.service.diagnosis import documents, plans, statement

KNOWN = load()
NOBODY = Judgement("healthy", (), (), ())


def finding(kind: str, **item: str) -> Inference:
    return Inference(
        (Finding(f"{kind}#1", f"test.{kind}", (), ({"kind": f"@{kind}", **item},), f"{kind} text"),), (), 1
    )


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("2", (2,)), ("0-3,7", (0, 1, 2, 3, 7)), ("0, 2", (0, 2)), ("all", ()), ("", ())],
)
def test_ranks_are_read_as_people_write_them(text: str, ranks: tuple[int, ...]) -> None:
    assert documents.ranks_of(text) == ranks


@pytest.mark.parametrize(
    ("policy", "offered"), [("exact_reproducibility", 0), ("valid_progress", 1), ("unknown", 1), (None, 1)]
)
def test_L29_a_mitigation_is_offered_only_where_the_policy_allows_it(policy: str | None, offered: int) -> None:
    facts = [fact("run_policy", {"policy": policy})] if policy else []
    made = plans.mitigation(facts, finding("mitigate", mitigation="switch-source", scope="rank:2"), NOBODY, KNOWN)
    assert len(made) == offered
    assert all(m.data_order and m.record for m in made)


def test_L34_a_misconception_is_answered_once() -> None:
    seen = finding("correct", misconception="network_blame")
    twice = Inference(seen.findings * 2, (), 2)
    assert [c.id for c in plans.corrections(twice, KNOWN)] == ["network_blame"]


def test_strict_limits_come_first_and_texts_once() -> None:
    mild, strict = finding("limit", scope="job"), finding("limit", scope="job", at_most="probable")
    other = Finding("x#1", "test.x", (), strict.findings[0].consequences, "strict text")
    got = statement.limits(Inference((*mild.findings, *mild.findings, other), (), 3), NOBODY)
    assert [(n.text, n.at_most) for n in got] == [("strict text", "probable"), ("limit text", None)]


def test_what_is_missing_is_a_limit() -> None:
    short = Judgement("insufficient_evidence", (), (), ("no job was measured",))
    assert [n.text for n in statement.limits(Inference((), (), 0), short)] == ["no job was measured"]


def test_every_cause_ends_a_sentence_in_each_kind_of_scope() -> None:
    """`because its input is late`, never `because of input_delay`."""
    alike = {"set": "rank", "rotating": "rank"}
    for name, cause in KNOWN.causes.items():
        if name != "none_of_these":
            assert {alike.get(kind, kind) for kind in cause.priors} <= set(cause.because), name
