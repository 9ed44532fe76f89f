"""Facts of the lesson's observations, by hand, as the measures state them."""

from collections.abc import Mapping

from latecomer.knowledge.facts import Fact, Scalar, fact

COMPUTE = "compute"
INPUT = "input_wait"


def job(**values: Scalar) -> Fact:
    given: dict[str, Scalar | None] = {
        "ranks": 4,
        "steps": 10,
        "step_ms": 340.0,
        "evidence": "table",
        "lateness_known": True,
        "stages_known": True,
        "sampling": "sufficient",
    }
    return fact("job", {**given, **values})


def gate(collectives: str = "matched", ranks: str = "complete") -> Fact:
    values = {"collectives": collectives, "ranks": ranks, "method": "launch_order", "paired": 20, "unpaired": 0}
    return fact("gate", values)


def scope(rank: int, ms: float, **values: Scalar) -> Fact:
    given: dict[str, Scalar | None] = {
        "scope": f"rank:{rank}",
        "kind": "rank",
        "ranks": str(rank),
        "lateness_ms": ms,
        "loss_ms": ms,
        "loss_share": ms / 340,
        "pattern": "persistent",
        "late_steps": 10,
        "steps": 10,
        "noise_ms": 4.0,
        "sampling": "sufficient",
        "split": "clear",
        "excess_in": "own_time",
    }
    return fact("scope", {**given, **values})


def excess(rank: int, stage: str, late: float, on_time: float, lateness: float) -> Fact:
    over = late - on_time
    share = over / lateness
    part = "whole" if share >= 0.8 else "large" if share >= 0.5 else "some" if share >= 0.2 else "none"
    values = {"scope": f"rank:{rank}", "stage": stage, "excess_ms": over, "coverage": share, "part": part}
    return fact("stage_excess", {**values, "late_ms": late, "on_time_ms": on_time})


def transfer(ms: float, wait: float, **values: Scalar) -> Fact:
    given: dict[str, Scalar | None] = {
        "transfer_ms": ms,
        "low_ms": ms - 2,
        "high_ms": ms + 2,
        "share": ms / 340,
        "wait_ms": wait,
        "size": "short" if ms < wait / 3 else "comparable",
        "steady": True,
        "reference": "none",
        "excess": False,
    }
    return fact("transfer", {**given, **values})


def waits(by_rank: Mapping[int, float]) -> list[Fact]:
    return [fact("wait", {"rank": rank, "wait_ms": ms}) for rank, ms in by_rank.items()]


def clock() -> Fact:
    return fact("clock", {"state": "not_needed", "method": "durations"})


def observation_L17() -> list[Fact]:
    contrast = fact("source_contrast", {"scope": "rank:2", "late": "S9", "on_time": "local"})
    stages = [excess(2, INPUT, 140.0, 20.0, 120.0), excess(2, COMPUTE, 180.0, 180.0, 120.0)]
    return [job(), gate("matched_by_progress"), clock(), scope(2, 120.0), *stages, transfer(20.0, 120.0), contrast]


def example_L31() -> list[Fact]:
    one_row = {"pattern": "summary", "sampling": "summary", "late_steps": 0, "steps": 0, "noise_ms": 0.0}
    stages = [excess(2, INPUT, 140.0, 20.0, 120.0), excess(2, COMPUTE, 180.0, 180.0, 120.0)]
    seen = job(steps=0, evidence="summary", sampling="summary")
    return [seen, gate("unknown"), clock(), scope(2, 120.0, **one_row), *stages, *waits({0: 120, 1: 120, 2: 0, 3: 120})]


def exercise_L32() -> list[Fact]:
    one_row = {"pattern": "summary", "sampling": "summary", "late_steps": 0, "steps": 0, "noise_ms": 0.0}
    seen = job(steps=0, evidence="summary", sampling="summary")
    stage = excess(3, COMPUTE, 340.0, 180.0, 159.0)
    return [seen, gate("unknown"), clock(), scope(3, 159.0, **one_row), stage, *waits({0: 160, 1: 158, 2: 159, 3: 0})]


def checkpoint_L41() -> list[Fact]:
    one_row = {"pattern": "summary", "sampling": "summary", "late_steps": 0, "steps": 0, "excess_in": "arrival"}
    seen = job(steps=0, evidence="summary", sampling="summary", stages_known=False)
    unknown = fact("stages_unknown", {"scope": "rank:3"})
    return [seen, gate("unknown"), clock(), scope(3, 155.0, **one_row), unknown, *waits({0: 160, 1: 150, 2: 155, 3: 0})]


def two_faults() -> list[Fact]:
    """Input on rank 2 and compute on rank 3, as in lab 04."""
    first = [scope(3, 60.0), excess(3, COMPUTE, 240.0, 180.0, 60.0), excess(3, INPUT, 20.0, 20.0, 60.0)]
    second = [scope(2, 40.0), excess(2, INPUT, 60.0, 20.0, 40.0), excess(2, COMPUTE, 180.0, 180.0, 40.0)]
    return [job(), gate(), clock(), *first, *second, transfer(9.0, 60.0)]


def healthy_job() -> list[Fact]:
    return [job(), gate(), clock(), transfer(9.0, 12.0)]


def equalised_backward() -> list[Fact]:
    """Backward times 293.0/292.2/293.0/293.1 ms and nothing else."""
    seen = job(steps=0, evidence="summary", sampling="summary", lateness_known=False)
    alike = fact("equalised", {"stage": "backward", "spread_ms": 0.9, "value_ms": 293.0})
    return [seen, gate("unknown", "unknown"), alike]
