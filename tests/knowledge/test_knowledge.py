"""The knowledge is consistent, complete for every kind of scope, and refuses what is malformed."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import latecomer.knowledge
import pytest
from latecomer.knowledge import KnowledgeError, load
from latecomer.knowledge.loader import NONE_OF_THESE

SCOPE = {"scope": "rank:2", "ranks": "2", "lateness_ms": 120.0}
FILES = ("facts", "causes", "questions", "experiments", "mitigations", "misconceptions", "symptoms")
HERE = Path(latecomer.knowledge.__file__).parent


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copy(HERE / f"{name}.yaml", tmp_path)
    return tmp_path


def change(directory: Path, name: str, old: str, new: str) -> int:
    """Replace text in a file; returns the line of the first replacement."""
    path = directory / f"{name}.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_priors_sum_to_one_and_keep_room_for_what_is_not_listed() -> None:
    for kind, priors in load().priors.items():
        assert sum(priors.values()) == pytest.approx(1.0), kind
        assert priors[NONE_OF_THESE] >= 0.1


def test_L06_L23_causes_and_mechanisms_of_the_lesson() -> None:
    causes = load().causes
    assert set(causes["input_delay"].mechanisms) == {
        "slow_source", "decode_cost", "batch_shape", "slow_host_cpu", "loader_threads",
    }  # fmt: skip
    assert set(causes["compute_imbalance"].mechanisms) == {"sequence_length", "expert_load", "extra_work"}
    assert "collective_divergence" not in load().priors["rank"]


def test_L11_experiments_change_one_thing_and_predict_for_each_cause_of_an_outcome() -> None:
    for name, experiment in load().experiments.items():
        assert experiment.hold and experiment.abort and experiment.rollback, name
        predicted = {cause for outcome in experiment.outcomes for cause in outcome.predicted_by}
        assert predicted <= set(experiment.predictions), name


def test_templates_fill_for_a_scope() -> None:
    knowledge = load()
    templates = [t for q in knowledge.questions.values() for a in q.answers for t in a.facts]
    templates += [t for e in knowledge.experiments.values() for o in e.outcomes for t in o.facts]
    filled = [knowledge.fill(template, SCOPE) for template in templates]
    assert {item["scope"] for item in filled if item.kind == "experiment_outcome"} == {"rank:2"}


def test_outcomes_of_one_experiment_differ_in_their_facts() -> None:
    for name, experiment in load().experiments.items():
        seen = [str(outcome.facts) for outcome in experiment.outcomes]
        assert len(set(seen)) == len(seen), name


def test_L29_every_policy_has_a_mitigation() -> None:
    offered = {policy for mitigation in load().mitigations.values() for policy in mitigation.policies}
    assert offered == {"exact_reproducibility", "approximate_continuation", "valid_progress"}


def test_L34_L35_L38_L43_misconceptions_have_words_and_answers() -> None:
    found = load().misconceptions
    assert {"network_blame", "equal_batch_count", "stack_frame", "unaligned_clocks", "averages"} <= set(found)
    assert all(entry.said and entry.answer and entry.instead for entry in found.values())


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("questions", "fact: work_equality, scope: $scope, state", "fact: work, scope: $scope, state", "no fact kind"),
        ("questions", "state: late_has_more", "state: more", "not one of"),
        ("questions", "state: late_has_more", "stat: late_has_more", "no field"),
        ("experiments", "predicted_by: [input_delay]", "predicted_by: [input_dela]", "no cause"),
        ("experiments", "outcome: delay_stays", "outcome: delay_stay", "another outcome"),
        ("causes", "priors: {rank: 4, set: 8}", "priors: {rank: 0, set: 8}", "not positive"),
        ("causes", "clauses: [L14]", "clauses: [L99]", "not a clause"),
        ("mitigations", "record: The step", "recorded: The step", "unknown field"),
    ],
)
def test_errors_name_file_and_entry_line(copied: Path, name: str, old: str, new: str, message: str) -> None:
    line = change(copied, name, old, new)
    with pytest.raises(KnowledgeError, match=message) as caught:
        load(copied)
    file, _, entry_line = caught.value.where.rpartition(":")
    assert file.endswith(f"{name}.yaml")
    assert 0 < int(entry_line) <= line


def test_a_name_defined_twice_is_refused(copied: Path) -> None:
    path = copied / "mitigations.yaml"
    path.write_text(path.read_text("utf-8") + "\nmove-rank:\n  text: again\n", "utf-8")
    with pytest.raises(KnowledgeError, match="already defined on line"):
        load(copied)


def test_broken_yaml_names_its_line(copied: Path) -> None:
    (copied / "causes.yaml").write_text("a: 1\nb: [\n", "utf-8")
    with pytest.raises(KnowledgeError, match="not YAML") as caught:
        load(copied)
    assert ":" in caught.value.where


def test_loading_is_fast_and_cached(copied: Path) -> None:
    start = time.perf_counter()
    first = load(copied)
    assert time.perf_counter() - start < 1.0
    assert load(copied) is first
