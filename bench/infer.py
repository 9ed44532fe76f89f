"""Speed of inference with the built-in rule book: `python bench/infer.py`. Prints a table of milliseconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from latecomer.knowledge import Fact, Knowledge, load
from latecomer.rules.infer import infer
from latecomer.rules.loader import load_book

STAGES = ("input_wait", "compute", "host", "optimizer")


def job_facts(knowledge: Knowledge, count: int) -> list[Fact]:
    """About `count` facts of a job: a job and a gate, and for each late rank a scope, its stages and its wait."""
    templates: list[dict[str, object]] = [
        {"fact": "job", "ranks": 64, "steps": 50, "lateness_known": True, "stages_known": True, "sampling": "ample"},
        {"fact": "gate", "collectives": "matched", "ranks": "complete"},
        {"fact": "transfer", "transfer_ms": 20.0, "wait_ms": 120.0, "size": "short", "steady": True},
    ]
    rank = 0
    while len(templates) < count:
        name = f"rank:{rank}"
        late = {"scope": name, "kind": "rank", "ranks": str(rank), "lateness_ms": 120.0, "sampling": "ample"}
        templates.append({"fact": "scope", "pattern": "persistent", **late})
        for stage in STAGES:
            part = "whole" if stage == STAGES[rank % 4] else "none"
            coverage = 1.0 if part == "whole" else 0.01
            shared = {"scope": name, "stage": stage, "part": part, "coverage": coverage}
            templates.append({"fact": "stage_excess", "excess_ms": 120 * coverage, **shared})
        templates.append({"fact": "wait", "rank": rank, "wait_ms": 3.0})
        rank += 1
    return [knowledge.fill(template, {}) for template in templates[:count]]


def median_ms(action: Callable[[], object], times: int) -> float:
    """Median wall time of an action, ms."""
    spent: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        spent.append((time.perf_counter() - start) * 1000)
    return statistics.median(spent)


def main() -> None:
    """Print load and inference times."""
    knowledge = load()
    loading = median_ms(load_book, 5)
    book = load_book()
    print(f"load of {len(book.rules)} rules        {loading:8.1f} ms   target 150")
    start = time.perf_counter()
    infer([], book)
    print(f"first inference (compiles) {(time.perf_counter() - start) * 1000:8.1f} ms")
    for count in (20, 50, 200, 1000):
        facts = job_facts(knowledge, count)
        spent = median_ms(lambda facts=facts: infer(facts, book), 30 if count <= 200 else 5)
        found = len(infer(facts, book).findings)
        target = "   target 10" if count == 200 else ""
        print(f"infer {count:5} facts          {spent:8.1f} ms   {found} findings{target}")


if __name__ == "__main__":
    main()
