"""Verdicts on the labelled traces, against their truth: `python bench/accuracy.py [TRACES]`.

TRACES (default: ../shared/traces beside the project, or LATECOMER_SHARED_TRACES) holds lab/ and public/, a folder a
case with its truth.json. What each case counts as right is in TRUTH, written from those files; folders that are not
listed there are shown and not counted. A margin is the odds of the first cause over the next (or none of these). An
innocent is a rank that a scope names and no fault was injected on.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from latecomer.knowledge.errors import LatecomerError
from latecomer.service.diagnosis.local import diagnose_paths
from latecomer.service.diagnosis.schemas import Diagnosis, Scope

TRACES = Path(__file__).resolve().parents[1] / ".." / "shared" / "traces"
COMMON = "common"
NOBODY: Mapping[str, str] = {}
TRUTH: Mapping[str, Mapping[str, str]] = {
    "lab/01_healthy": NOBODY,
    "lab/02_input_stall_rank2": {"2": "input_delay"},
    "lab/02b_input_stall_rank2_workers1": {"2": "input_delay"},
    "lab/03_compute_skew_rank3": {"3": "compute_imbalance"},
    "lab/03b_compute_skew_sleep_rank3": {"3": "compute_imbalance"},
    "lab/04_mixed": {"1": "input_delay", "3": "compute_imbalance"},
    "lab/05_tail_input": {"2": "input_delay"},
    "lab/06_comm_limited": {COMMON: "communication_limit"},
    "lab/06b_comm_bigmodel": {COMMON: "communication_limit"},
    "lab/06c_comm_slow_link_rank1": {COMMON: "communication_limit"},
    "lab/07_divergent_order": {"1": "collective_divergence"},
    "lab/07b_skipped_collective": {"1": "collective_divergence"},
    "lab/07c_skipped_last_collective": {"1": "collective_divergence"},
    "lab/08_exhausted_iterator": {"3": "collective_divergence"},
    "lab/08b_exhausted_barrier": {"3": "collective_divergence"},
    "lab/08c_exhausted_exit": {"3": "collective_divergence"},
    "lab/09_worker_exception": {"0": "failed_worker"},
    "lab/09b_worker_exception_exit": {"0": "failed_worker"},
    "lab/10_slow_host_rank0": {"0": "host_stall"},
    "lab/10b_slow_host_rank0_every": {"0": "host_stall"},
    "lab/11_clock_skew": {"2": "input_delay"},
    "lab/12_replay_local": NOBODY,
    "lab/13_replay_local_on_mixed": {"3": "compute_imbalance"},
    "lab/14_all_ranks_input_bound": {COMMON: "uniform_input_bound"},
    "lab/15_first_step_warmup": NOBODY,
    "public/torchrec_host_sleep_1s": {"2": "host_stall"},
    "public/torchrec_host_sleep_20ms": {"2": "host_stall"},
    "public/torchrec_balanced": NOBODY,
    "public/param_dlrm_8ranks": NOBODY,
    "public/kineto_resnet50_workers0": {COMMON: "uniform_input_bound"},
    "public/tracelens_llama70b_tables": {"4": "?"},
}
"""What is wrong in each case: ranks (or COMMON) and cause; `?` where the truth names a rank and no cause."""


@dataclass(frozen=True)
class Row:
    """One case: the verdict, what was named, the truth and the mark."""

    folder: str
    verdict: str
    named: Mapping[str, str]
    told: str
    truth: str
    mark: str
    innocents: tuple[str, ...]
    seconds: float


def decided(found: Diagnosis) -> dict[str, str]:
    """Cause (or `?`) by ranks, of each scope whose cause or late rank the diagnosis stands for."""
    named = {}
    for scope in found.scopes:
        settled = scope.verdict in ("established", "probable")
        if settled or (scope.verdict == "undetermined" and scope.kind in ("rank", "set")):
            named[_place(scope)] = scope.causes[0].cause if settled else "?"
    return named


def _place(scope: Scope) -> str:
    return COMMON if scope.kind == "common" else ",".join(map(str, scope.ranks))


def mark(named: Mapping[str, str], truth: Mapping[str, str] | None) -> str:
    """`right`: all that is wrong and nothing else. `abstained`: nothing, or the right rank with its cause open.
    `part`: some of it and nothing wrong. `wrong`: a place or cause that is not in the truth."""
    if truth is None:
        return "-"
    false = [p for p, cause in named.items() if p not in truth or cause not in ("?", truth[p]) and truth[p] != "?"]
    if false:
        return "wrong"
    hits = [p for p, cause in truth.items() if p in named and (named[p] != "?" or cause == "?")]
    if len(hits) == len(truth):
        return "right"
    return "part" if hits else "abstained"


def innocent(named: Mapping[str, str], truth: Mapping[str, str] | None) -> tuple[str, ...]:
    """Ranks that are named and that nothing was injected on."""
    guilty = {r for place in truth or () for r in place.split(",")}
    ranks = {r for place in named if place != COMMON for r in place.split(",")}
    return () if truth is None else tuple(sorted(ranks - guilty))


def judge(root: Path, folder: str) -> Row:
    """Diagnose one folder."""
    truth = TRUTH.get(folder)
    began = time.perf_counter()
    try:
        found = diagnose_paths([root / folder])
    except LatecomerError as error:
        took = time.perf_counter() - began
        return Row(folder, f"error: {error.what}", {}, "", _expected(root / folder), mark({}, truth), (), took)
    named = decided(found)
    took = time.perf_counter() - began
    told = "; ".join(_told(scope) for scope in found.scopes)
    expected = _expected(root / folder)
    return Row(folder, found.verdict, named, told, expected, mark(named, truth), innocent(named, truth), took)


def _told(scope: Scope) -> str:
    if not scope.causes:
        return f"{scope.id} ?"
    first, second = scope.causes[:2]
    margin_db = 10 * math.log10(first.probability / second.probability)
    figures = f"p {first.probability:.2f}, {first.weight_db:+.0f} dB, margin {margin_db:.0f} dB"
    return f"{scope.id} {scope.verdict} {first.cause} ({figures})"


def _expected(folder: Path) -> str:
    path = folder / "truth.json"
    truth = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return str(truth.get("expected_diagnosis") or truth.get("leading") or "-") if isinstance(truth, dict) else "-"


def main() -> int:
    """Print the table; 1 where anything is wrong or an innocent named, 0 also where there are no traces."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("LATECOMER_SHARED_TRACES", TRACES))
    parser.add_argument("traces", nargs="?", type=Path, default=default)
    root = parser.parse_args().traces
    if not root.is_dir():
        print(f"skipped: no labelled traces at {root}")
        return 0
    folders = sorted(str(p.relative_to(root)) for group in ("lab", "public") for p in (root / group).glob("*/"))
    rows = [show(judge(root, folder)) for folder in folders]
    marks = [row.mark for row in rows]
    counts = ", ".join(f"{marks.count(m)} {m}" for m in ("right", "part", "abstained", "wrong"))
    innocents = sum(len(row.innocents) for row in rows)
    print(f"\n{len(rows) - marks.count('-')} cases counted of {len(rows)}: {counts}; {innocents} innocents named")
    return int("wrong" in marks or innocents > 0)


def show(row: Row) -> Row:
    """Print a row; the first one with the head of the table before it."""
    if row.folder.endswith("01_healthy"):
        print("| folder | mark | verdict | scopes | truth | innocents | s |\n|---|---|---|---|---|---|---|")
    cells = (row.folder, row.mark, row.verdict, row.told or "-", row.truth, ", ".join(row.innocents) or "-")
    print(f"| {' | '.join(cells)} | {row.seconds:.1f} |", flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
