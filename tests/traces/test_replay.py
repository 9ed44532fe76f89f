"""The what-if replay against jobs whose gain is known."""

from __future__ import annotations

import numpy as np
import pytest
from latecomer.traces.measure import measure
from latecomer.traces.replay import bootstrap

from .made import meet, noisy, rows


def test_gain_is_bounded_by_the_next_late_rank() -> None:
    stages = {"input_wait": noisy(4, 14, 1, 0.1), "forward": noisy(4, 14, 20, 0.1)}
    stages["input_wait"][1] += 120
    stages["forward"][3] += 80
    gains = {g.scope: g for g in measure(meet(stages)).extras.recoverable}
    assert gains["rank:1"].ms_per_step == pytest.approx(40, abs=1)
    assert gains["rank:3"].ms_per_step == pytest.approx(0, abs=1)
    assert gains["rank:1"].low_ms <= gains["rank:1"].ms_per_step <= gains["rank:1"].high_ms


def test_the_unmodified_replay_meets_the_record() -> None:
    stages = {"input_wait": noisy(4, 14, 1, 0.1), "forward": noisy(4, 14, 20, 2.0)}
    stages["input_wait"][2] += 50
    (gain,) = measure(meet(stages)).extras.recoverable
    assert gain.replay_error < 0.01


def test_a_table_whose_arrivals_do_not_make_its_steps_gets_no_number() -> None:
    told = rows(input_wait=[20, 20, 140, 20], arrival=[200, 200, 320, 200], step=[700.0] * 4)
    assert measure(told).extras.recoverable == ()


def test_the_bootstrap_is_deterministic_and_holds_the_mean() -> None:
    values = np.random.default_rng(1).normal(10, 1, 30)
    low, high = bootstrap(values)
    assert (low, high) == bootstrap(values) and low < values.mean() < high
