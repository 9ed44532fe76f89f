"""Slowness as people tell it: each symptom by several wordings, and none of them where nothing of the kind is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from latecomer.knowledge import load
from latecomer.traces.symptoms import find_symptoms

TOLD = {
    "slower_over_time": ["training gets slower and slower", "It starts fast but throughput decays over the day"],
    "slow_everywhere": ["On every node the job is slow", "all GPUs show low utilization"],
    "slower_after_a_change": ["Since we upgraded the driver it is 30% slower"],
    "one_rank_is_slow": ["One GPU is consistently slower than the rest", "Rank 5 is always the slowest"],
    "slow_rank_rotates": ["A different rank is late every time", "The slow rank changes from run to run"],
    "data_wait_everywhere": ["GPUs are starving for data", "The data loader can't keep up", "we are input bound"],
    "data_wait_on_one_rank": ["only rank 3 waits for data"],
    "gone_with_synthetic_data": ["With dummy data it runs at full speed"],
    "slow_with_synthetic_data": ["it's just as slow with fake data", "synthetic inputs make no difference"],
    "faster_from_local_storage": ["copying the data to local NVMe fixed it", "Second epoch is fast"],
    "same_from_local_storage": ["Reading from tmpfs is just as slow"],
    "few_cores": ["#SBATCH --cpus-per-task=1", "the pod is limited to 2 cpus", "Slurm gives each task only 1 CPU"],
    "idle_between_epochs": ["GPU utilization drops to zero after each epoch", "long pause between epochs"],
    "some_batches_load_slowly": ["every now and then data loading takes 20 seconds"],
    "garbage_collection": ["gc.collect() takes 1.2 s", "we suspect python garbage collection"],
    "timers_do_not_add_up": ["the phases only explain 30% of the step"],
    "kernel_gaps": ["the GPU is idle between kernel launches"],
    "tiny_kernels": ["thousands of tiny kernels per step", "we are launch bound"],
    "affinity_without_effect": ["numactl binding had no effect"],
    "overlap_without_effect": ["turning on overlap made no difference"],
    "no_overlap": ["the all-reduce does not overlap with backward"],
    "allocator_retries": ["12 pytorch allocator cache flushes since last step", "I see cudaMalloc retries"],
    "follows_the_device": ["whatever job we put on that GPU is slow"],
    "device_is_hot": ["GPU 3 is overheating", "HW Slowdown : Active", "GPU temperature is 92C"],
    "node_pairs_differ": ["Some node pairs get half the busbw of the others"],
    "slower_across_nodes": ["Multi-node training is 3x slower than a single node"],
    "slower_with_more_devices": ["with 2 GPUs a step takes longer than on a single GPU"],
    "host_path_between_devices": ["GPU0     X      PHB     PHB     PHB", "topo -m shows SYS between the GPUs"],
    "small_collective_is_long": ["a scalar all-reduce takes 5 ms"],
    "metric_is_exactly_zero": ["h2d time is always zero"],
    "traces_do_not_line_up": ["the timelines of the two nodes are shifted against each other"],
    "longer_with_the_profiler": ["the step takes 300 ms under the profiler and 120 ms without"],
    "asks_for_a_faster_link": ["Would InfiniBand help?"],
}
INNOCENT = (
    "Training runs fine on 8 GPUs",
    "The job hangs in the first all-reduce",
    "rank 2 input wait 140 ms, others 20 ms",
    "Rank 3 arrives 150 ms after its peers and the collective then takes 20 ms",
    "The loss is exactly zero after step 10",
    "After 30 minutes the job dies with a timeout",
    "We train on two nodes with 8 GPUs each",
    "Each node has 8 A100 with NVLink",
    "rank 2 reads remote shard S9, the others local cached shards",
    "There is no CPU contention",
    "It does not overheat, no GPU is throttled",
    "How do I read this trace?",
    "Is rank 2 slow because of its data?",
    "don't know",
)


@pytest.mark.parametrize(("symptom", "text"), [(name, text) for name, some in TOLD.items() for text in some])
def test_a_symptom_is_known_by_its_words(symptom: str, text: str) -> None:
    assert symptom in {seen.symptom for seen in find_symptoms(text, load().symptoms)}


@pytest.mark.parametrize("text", INNOCENT)
def test_L38_an_innocent_sentence_shows_none(text: str) -> None:
    assert not {seen.symptom for seen in find_symptoms(text, load().symptoms)} & slowness()


def slowness() -> set[str]:
    """The symptoms of this page: those under its heading in symptoms.yaml that a rule of slowness argues over."""
    book = Path(__file__).resolve().parents[2] / "rules" / "book" / "symptoms"
    named = (re.findall(r"symptom: (\w+)", path.read_text("utf-8")) for path in book.glob("*.yaml"))
    told = {name for path, names in zip(book.glob("*.yaml"), named, strict=True) if _mine(path) for name in names}
    return told & set(load().symptoms)


def _mine(path: Path) -> bool:
    return path.stem.split("-")[0] in ("slow", "measure", "link", "device", "work")
