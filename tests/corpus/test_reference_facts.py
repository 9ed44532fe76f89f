"""The facts of lab 04 that docs/verdicts.md is written from are what its traces measure."""

from __future__ import annotations

from pathlib import Path

import msgspec
from latecomer.knowledge.facts import Fact
from latecomer.traces.job import read_job
from latecomer.traces.measure import measure

from .shared import TRACES, needs_traces

STORED = Path(__file__).resolve().parents[2] / "docs" / "lab_04_facts.json"


@needs_traces
def test_L42_the_stored_facts_of_lab_04_are_current() -> None:
    """Where not: python docs/verdicts.py --facts ../shared/traces/lab/04_mixed"""
    stored = msgspec.json.decode(STORED.read_bytes(), type=list[Fact])
    assert stored == list(measure(read_job([TRACES / "lab" / "04_mixed"])).facts)
