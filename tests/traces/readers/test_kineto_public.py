"""Other people's traces, read in place: GPU, old and new, without metadata, and not one job."""

from __future__ import annotations

import numpy as np
import pytest
from latecomer.traces.readers import kineto
from latecomer.traces.tables import STAGES, SUMMARY

from .helpers import shared


@pytest.mark.parametrize(
    ("folder", "files", "steps", "kernels"),
    [
        ("torchrec_balanced", 2, 3, {12}),
        ("torchrec_host_sleep_1s", 4, 3, {12, 13}),
        ("torchrec_host_sleep_20ms", 4, 3, {30}),
        ("param_dlrm_8ranks", 8, 1, {8}),
        ("hta_sampled_pair", 2, 2, {10}),
    ],
)
def test_one_row_a_kernel(folder: str, files: int, steps: int, kernels: set[int]) -> None:
    found = [kineto.read(path) for path in sorted(shared("public", folder).glob("*.json.gz"))]
    assert [tables.ranks[0].rank for tables in found] == list(range(files))
    assert {tables.ranks[0].clock for tables in found} == {"device"}
    assert {len(tables.steps.step) for tables in found if tables.steps} == {steps}
    assert {len(tables.collectives.op) for tables in found if tables.collectives} == kernels
    assert len({tables.ranks[0].job for tables in found}) == 1


def test_a_send_recv_kernel_is_the_all_to_all_that_launched_it() -> None:
    """Also the one that was launched before the trace began: it belongs to no step."""
    for path in sorted(shared("public", "torchrec_host_sleep_1s").glob("*.json.gz")):
        calls = kineto.read(path).collectives
        assert calls and calls.ops == ("all_to_all",)
        assert {int(step): int((calls.step == step).sum()) for step in (4, 5, 6)} == {4: 4, 5: 4, 6: 4}
        assert bool(np.all(np.isnan(calls.host_entry_us) == (calls.step == SUMMARY)))


def test_L02_long_kernels_on_the_ranks_that_wait() -> None:
    """Ranks 0, 1 and 3 show 3 s of communication in three steps; rank 2 sleeps and shows little."""
    total = []
    for path in sorted(shared("public", "torchrec_host_sleep_1s").glob("*.json.gz")):
        calls = kineto.read(path).collectives
        assert calls
        inside = calls.step != SUMMARY
        total.append(float((calls.end_us - calls.arrival_us)[inside].sum()) / 1e6)
    assert all(total[rank] > 2.8 for rank in (0, 1, 3)) and total[2] < 0.2


def test_old_capitalised_categories_and_input_wait() -> None:
    """Six steps of 1,049 ms together, 416 ms of them in the DataLoader; the rank comes from the file name."""
    tables = kineto.read(next(shared("public", "kineto_resnet50_workers0").glob("*.gz")))
    assert tables.steps and tables.spans
    loader = tables.spans.stage == STAGES.index("input_wait")
    assert (tables.spans.end_us - tables.spans.start_us)[loader].sum() / 1e3 == pytest.approx(416, abs=1)
    assert tables.steps.columns["step_ms"].sum() == pytest.approx(1049, abs=1)
    assert tables.ranks[0].rank == 0 and "rank-from-name" in [note.code for note in tables.report]
    assert tables.spans.device.any() and tables.collectives is None


def test_oddities_are_different_jobs_or_unknown() -> None:
    folder = shared("public", "kineto_oddities")
    found = {path.name.partition(".")[0]: kineto.read(path) for path in sorted(folder.glob("*.gz"))}
    assert {found["rank-0"].ranks[0].job, found["rank-34"].ranks[0].job, found["rank0"].ranks[0].job} == {
        "backend=nccl;world=1",
        "backend=gloo;world=300",
        "backend=nccl;world=16",
    }
    assert found["distributed_info_not_found"].ranks[0].rank == -1
    assert found["rank_non_gpu"].ranks[0].rank == 0 and found["rank-70"].ranks[0].rank == 70


def test_base_is_added_and_display_unit_changes_nothing() -> None:
    folder = shared("public", "kineto_oddities")
    based = kineto.read(next(folder.glob("rank-34*"))).steps
    absolute = kineto.read(next(folder.glob("rank-0*"))).steps
    assert based and absolute
    assert based.start_us[0] == pytest.approx(1.719853884e15 + 1.212e12, rel=1e-5)
    assert absolute.start_us[0] == pytest.approx(1.7121954955e15, rel=1e-9)


def test_host_calls_without_kernels_have_no_arrival() -> None:
    tables = kineto.read(next(shared("public", "kineto_oddities").glob("rank-0*")))
    calls = tables.collectives
    assert calls and len(calls.op) == 35
    assert bool(np.isnan(calls.arrival_us).all()) and not np.isnan(calls.host_entry_us).any()
    assert "collectives-host-only" in [note.code for note in tables.report]
