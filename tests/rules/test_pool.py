"""Inference in worker processes: same results, and a crash costs one retry."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from latecomer.knowledge import EngineError, Fact, KnowledgeError, fact, load
from latecomer.rules.loader import load_book
from latecomer.rules.pool import InferencePool, Inferring, LocalInference


def facts(rank: int = 2) -> list[Fact]:
    return [load().fill({"fact": "scope", "scope": f"rank:{rank}", "kind": "rank", "ranks": str(rank)}, {})]


@pytest.fixture(scope="module")
def pool() -> Iterator[InferencePool]:
    made = InferencePool(2)
    yield made
    made.close()


@pytest.fixture(scope="module")
def local() -> Inferring:
    return LocalInference(load_book())


def test_a_batch_comes_back_in_order_and_as_in_process(pool: InferencePool, local: Inferring) -> None:
    batch = [facts(rank) for rank in range(21)]
    assert pool.infer_batch(batch) == local.infer_batch(batch)
    assert pool.infer_batch([]) == []


def test_a_killed_worker_costs_one_retry(pool: InferencePool, local: Inferring) -> None:
    before = pool.process_ids
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert pool.infer_batch([facts(r) for r in range(8)]) == local.infer_batch([facts(r) for r in range(8)])
    assert not set(pool.process_ids) & set(before)


def test_a_worker_that_hangs_is_replaced_and_the_caller_told() -> None:
    pool = InferencePool(1, timeout_s=0.5)
    try:
        os.kill(pool.process_ids[0], signal.SIGSTOP)
        start = time.monotonic()
        assert pool.infer(facts()).findings
        assert 0.5 <= time.monotonic() - start < 30
    finally:
        pool.close()


def test_an_error_of_the_inference_reaches_the_caller(pool: InferencePool) -> None:
    before = sorted(pool.process_ids)
    with pytest.raises(EngineError, match="nan"):
        pool.infer([fact("transfer", {"transfer_ms": float("nan")})])
    assert sorted(pool.process_ids) == before


def test_it_can_be_awaited(pool: InferencePool, local: Inferring) -> None:
    async def both() -> list[object]:
        return list(await asyncio.gather(pool.infer_async(facts(1)), pool.infer_batch_async([facts(2)])))

    assert asyncio.run(both()) == [local.infer(facts(1)), [local.infer(facts(2))]]


def test_a_broken_pack_is_said_when_the_pool_starts(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("id: [", "utf-8")
    with pytest.raises(KnowledgeError, match=r"x\.yaml:2"):
        InferencePool(1, [tmp_path])


def test_a_closed_pool_refuses_work_and_leaves_no_process() -> None:
    pool = InferencePool(1)
    pid = pool.process_ids[0]
    pool.close()
    pool.close()
    with pytest.raises(EngineError, match="closed"):
        pool.infer(facts())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
