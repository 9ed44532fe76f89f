"""Merging files: one job, one run, one file a rank; contradictions are said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from latecomer.knowledge.errors import InputError
from latecomer.traces.merge import merge
from latecomer.traces.tables import RankInfo, Tables

from .made import meet, noisy, rows


def trace(rank: int, **info: object) -> Tables:
    whole = meet({"input_wait": noisy(4, 6, 5, 0.1), "forward": noisy(4, 6, 20, 0.5)})
    assert whole.steps and whole.spans and whole.collectives
    known = replace(RankInfo(rank, 4, "host0", "gloo", "host", "job-a"), **info)  # pyright: ignore[reportArgumentType]
    keep = whole.collectives.rank == rank
    fields = ("rank", "step", "group", "sequence", "op", "bytes", "dtype", "arrival_us", "end_us", "host_entry_us")
    mine = whole.spans.rank == rank
    return Tables(
        steps=replace(
            whole.steps,
            **{
                n: getattr(whole.steps, n)[whole.steps.rank == rank]
                for n in ("rank", "step", "start_us", "origin", "line")
            },
            columns={n: v[whole.steps.rank == rank] for n, v in whole.steps.columns.items()},
        ),
        spans=replace(
            whole.spans, **{n: getattr(whole.spans, n)[mine] for n in ("rank", "stage", "start_us", "end_us", "device")}
        ),
        collectives=replace(whole.collectives, **{n: getattr(whole.collectives, n)[keep] for n in fields}),
        ranks=(known,),
        sources=(f"rank{rank}.json",),
    )


def test_files_of_one_job_become_one() -> None:
    merged = merge([trace(r) for r in range(4)])
    assert merged.collectives is not None and len(merged.collectives.rank) == 24
    assert [i.rank for i in merged.ranks] == [0, 1, 2, 3]


def test_two_jobs_are_refused() -> None:
    with pytest.raises(InputError, match="different jobs"):
        merge([trace(0), trace(1, job="job-b")])


def test_two_runs_are_refused() -> None:
    with pytest.raises(InputError, match="two traces"):
        merge([trace(0), trace(0)])


def test_an_unknown_rank_takes_a_free_number_and_is_reported() -> None:
    unknown = replace(trace(2), ranks=(RankInfo(-1, 4, "host0", "gloo", "host", "job-a"),))
    merged = merge([trace(0), unknown])
    assert [n.code for n in merged.report] == ["rank-unknown"]


def test_sources_that_contradict_each_other_are_reported() -> None:
    told = rows(input_wait=[5, 90, 5, 5], arrival=[30, 115, 30, 30])
    merged = merge([*(trace(r) for r in range(4)), told])
    assert [n.code for n in merged.report] == ["contradiction-input wait of rank 1"]
    assert np.unique(merged.steps.rank).tolist() == [0, 1, 2, 3] if merged.steps else False
