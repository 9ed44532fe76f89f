"""Other people's traces: their truth, or an honest abstention."""

from __future__ import annotations

import pytest
from latecomer.knowledge.errors import InputError

from .shared import causes, diagnosed, named, needs_traces

pytestmark = needs_traces


def test_a_host_sleep_of_a_second() -> None:
    found = diagnosed("public/torchrec_host_sleep_1s")
    assert causes(found) == {"rank:2": "host_stall"} and found.verdict == "probable"


def test_a_host_sleep_of_20_ms_names_nobody_or_rank_2() -> None:
    assert named(diagnosed("public/torchrec_host_sleep_20ms")) <= {2}


@pytest.mark.parametrize(
    ("folder", "verdicts"),
    [
        ("torchrec_balanced", {"healthy", "undetermined", "insufficient_evidence"}),
        ("param_dlrm_8ranks", {"healthy", "undetermined", "insufficient_evidence"}),
        ("hta_sampled_pair", {"insufficient_evidence"}),
    ],
)
def test_no_culprit_is_named(folder: str, verdicts: set[str]) -> None:
    found = diagnosed(f"public/{folder}")
    assert found.verdict in verdicts and not named(found)


def test_a_single_rank_that_waits_for_input() -> None:
    found = diagnosed("public/kineto_resnet50_workers0")
    assert causes(found) == {"common": "uniform_input_bound"}


def test_summary_tables_name_the_late_rank_and_leave_its_cause_open() -> None:
    found = diagnosed("public/tracelens_llama70b_tables")
    assert named(found) == {4} and causes(found) == {"rank:4": None}


def test_unrelated_files_are_refused_as_one_job() -> None:
    with pytest.raises(InputError, match="different jobs"):
        diagnosed("public/kineto_oddities")
