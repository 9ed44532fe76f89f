"""Other words than those of the incidents: what they name, and sentences that tell of no hang."""

from __future__ import annotations

import pytest

from .labels import named_causes
from .told import tell


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("It deadlocks at the end of each epoch. Rank 3 gets one batch less than the others.", "collective_divergence"),
        ("One of the experts got no tokens on rank 6 and the all-to-all never returned.", "collective_divergence"),
        ("Early stopping triggers on one rank only and then everything is stuck.", "collective_divergence"),
        ("Ranks 0 and 1 have different tensor shapes in the all_gather, it hangs.", "collective_divergence"),
        ("We added `if rank == 0: evaluate(model)` and since then it hangs.", "collective_divergence"),
        ("The training freezes. py-spy shows ranks 0-6 in all_reduce and rank 7 in the dataloader.", "host_stall"),
        ("Rank 0 tokenizes the dataset for 40 minutes and the others time out in the barrier.", "host_stall"),
        ("Autotuning takes 25 minutes on one node and the other node times out.", "host_stall"),
        ("Process on rank 5 crashed, then the rest got connection reset by peer.", "failed_worker"),
        ("kernel: Memory cgroup out of memory: Killed process 812 (python)", "failed_worker"),
        ("exitcode  : -15 (pid: 812)\n  rank      : 3 (local_rank: 3)", "failed_worker"),
        ("After three days the job hung. NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "device_health"),
        ("mlx5_0 link went down at 10:12, job stuck since then", "device_health"),
        ("All ranks are in the same allreduce and nobody leaves it.", None),
        ("It only hangs on one cluster, on the other cluster the same script works.", None),
        ("NCCL WARN Net : Connection closed by remote peer 10.0.0.4<33433>", None),
        ("[rank3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5112, OpType=ALLREDUCE)", None),
        ("It hangs.", None),
    ],
)  # fmt: skip
def test_L05_L22_other_words(text: str, cause: str | None) -> None:
    found = tell([text])
    assert [s.id for s in found.scopes] == ["hang"]
    assert named_causes(found) == ({cause} if cause else set())


@pytest.mark.parametrize(
    "text",
    [
        "We set the NCCL timeout to 30 minutes and use torch.compile.",
        "No rank crashed and there were no errors in the logs.",
        "We save a checkpoint every 1000 steps and validate every epoch on all ranks.",
        "Throughput drops after 10 hours of training.",
        "We killed the job and restarted it with fewer workers.",
        "The gradients are stuck at zero on layer 3.",
        "We are hanging on to the old data loader for now.",
        "The model has SyncBatchNorm and dynamic shapes.",
        "The first step takes 30 seconds, later steps take 200 ms.",
    ],
)
def test_sentences_that_tell_of_no_hang(text: str) -> None:
    assert not [f for f in tell([text]).facts if f.kind in ("stall", "suspect") and f.values.get("ranks") != "unknown"]


def test_L05_the_rank_that_reports_waits() -> None:
    found = tell(["[rank3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5112)"])
    assert found.scopes[0].ranks == () and any("reports the timeout, so it waits" in n.text for n in found.limits)


def test_L22_two_suspects_name_nobody() -> None:
    found = tell(["The job hangs. Rank 0 downloads the data.", "Rank 4 crashed."])
    assert found.scopes[0].members == "unknown" and {"0", "4"} <= {str(f.values.get("ranks")) for f in found.facts}
