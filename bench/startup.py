"""Time of `latecomer --help` from a cold interpreter: the best and the median of twenty runs.

python bench/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 20
TARGET_S = 0.3


def main() -> int:
    """Print the table; 1 where the median misses the target."""
    times = sorted(_seconds("-m", "latecomer.cli.main", "--help") for _ in range(RUNS))
    bare = sorted(_seconds("-c", "pass") for _ in range(RUNS))
    median = statistics.median(times)
    print(f"{'':24}{'best':>8}{'median':>8}")
    print(f"{'latecomer --help':24}{times[0]:>7.3f}s{median:>7.3f}s   target {TARGET_S} s")
    print(f"{'python -c pass':24}{bare[0]:>7.3f}s{statistics.median(bare):>7.3f}s")
    return 0 if median < TARGET_S else 1


def _seconds(*args: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *args], check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
