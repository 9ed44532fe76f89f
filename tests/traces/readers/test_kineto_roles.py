"""Pipeline stage of a rank from the descriptions of its process groups."""

from __future__ import annotations

import pytest
from latecomer.traces.readers.kineto.identity import pipeline_stage


@pytest.mark.parametrize(
    ("description", "stage"),
    [("mesh_pp", 1), ("PIPELINE_MODEL_PARALLEL_GROUP", 1), ("mesh_dp_shard", None), ("default_pg", None), ("", None)],
)
def test_a_group_that_names_a_pipeline_gives_the_stage(description: str, stage: int | None) -> None:
    config = [
        {"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1, 2, 3]},
        {"pg_desc": description, "ranks": "[1, 3]"},
    ]
    assert pipeline_stage(config, 3, 4) == stage


def test_a_group_of_one_is_no_pipeline() -> None:
    assert pipeline_stage([{"pg_desc": "mesh_pp", "ranks": [3]}], 3, 4) is None
