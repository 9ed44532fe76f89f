"""How fast and in how much memory traces are read, as ratios; one command, one table.

    python bench/read.py [--mb 200] [--ranks 4] [--hta-python PYTHON] [--big 5] [--markdown]

Floor: decompress and decode the same bytes with msgspec into typed events, nothing else. Every measurement runs
in a fresh process, files in the cache, best of `--repeat`. `--hta-python` is a Python with HolisticTraceAnalysis
0.5 (and pandas before 3). `--big N` adds one file of N GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parent))

import generate_kineto as made

PREAMBLE = "import json, resource, sys, time\nfiles = sys.argv[1:]\n"
CLOSING = """
peak_kib = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps([seconds, peak_kib * 1024]))
"""
WORK = {
    "ours": """
from pathlib import Path
from latecomer.traces.readers import kineto
begin = time.perf_counter()
for file in files:
    kineto.read(Path(file))
seconds = time.perf_counter() - begin
""",
    "two processes": """
from pathlib import Path
from latecomer.traces.readers.parallel import read_all
if __name__ == "__main__":
    begin = time.perf_counter()
    read_all([Path(file) for file in files], workers=2)
    seconds = time.perf_counter() - begin
""",
    "floor": """
import msgspec
from isal import igzip
from latecomer.traces.readers.kineto.event import Event
class Trace(msgspec.Struct):
    traceEvents: list[Event]
decoder = msgspec.json.Decoder(Trace)
begin = time.perf_counter()
for file in files:
    with (igzip.open(file) if file.endswith(".gz") else open(file, "rb")) as stream:
        trace = decoder.decode(stream.read())
    del trace
seconds = time.perf_counter() - begin
""",
    "json.loads": """
import gzip
begin = time.perf_counter()
for file in files:
    with (gzip.open(file) if file.endswith(".gz") else open(file, "rb")) as stream:
        trace = json.loads(stream.read())
    del trace
seconds = time.perf_counter() - begin
""",
    "HolisticTraceAnalysis": """
from hta.trace_analysis import TraceAnalysis
from pathlib import Path
if __name__ == "__main__":
    begin = time.perf_counter()
    TraceAnalysis(trace_dir=str(Path(files[0]).parent))
    seconds = time.perf_counter() - begin
""",
}


@dataclass(frozen=True)
class Result:
    """Best wall time, and peak memory in bytes of the largest process (the measuring one or a worker of it)."""

    seconds: float
    peak_bytes: int


def measure(what: str, files: list[Path], python: str, repeat: int) -> Result | None:
    """Run one kind of work in fresh processes; None where it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        body = WORK[what]
        closing = CLOSING
        if "__main__" in body:
            closing = '\nif __name__ == "__main__":\n    ' + CLOSING.strip().replace("\n", "\n    ") + "\n"
        script.write(PREAMBLE + body + closing)
        script.flush()
        runs: list[Result] = []
        for _ in range(repeat):
            done = subprocess.run([python, script.name, *map(str, files)], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{what} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                return None
            runs.append(Result(*json.loads(done.stdout.splitlines()[-1])))
    return min(runs, key=lambda run: run.seconds)


def big_file(gigabytes: float, folder: Path) -> Path:
    """One plain trace of about so many GB: a made-up trace over and over, each time 1,000 s later."""
    job = made.sized(40, 1, 20)
    pieces = list(made.trace(job, 0, made.schedule(job)[0]))
    body = b"".join(pieces[1:-2])
    path = folder / "rank0.pt.trace.json"
    with path.open("wb") as file:
        file.write(pieces[0])
        for copy in range(int(gigabytes * 1e9 / len(body)) + 1):
            file.write((b"" if copy == 0 else b",\n  ") + body.replace(b'"ts": 5000', b'"ts": 5%03d' % copy))
        file.write(pieces[-1])
    return path


def table(folder: Path, options: argparse.Namespace) -> list[tuple[str, str, Result, Result]]:
    """Rows (set, work, its result, the floor's result)."""
    rows: list[tuple[str, str, Result, Result]] = []
    kinds = ["floor", "ours", "two processes", "json.loads"] + ["HolisticTraceAnalysis"] * bool(options.hta_python)
    for gz in (False, True):
        label = f"{options.mb:g} MB, {options.ranks} ranks" + (", gzip" if gz else "")
        job = made.sized(options.mb, options.ranks, 20, gz=gz)
        files = made.write(job, folder / ("gz" if gz else "plain"))
        floor = None
        for kind in kinds:
            python = options.hta_python if kind == "HolisticTraceAnalysis" else sys.executable
            result = measure(kind, files, python, 1 if kind == "HolisticTraceAnalysis" else options.repeat)
            floor = floor or result
            if result and floor:
                rows.append((label, kind, result, floor))
    return rows


def show(rows: list[tuple[str, str, Result, Result]], write: Callable[[str], None] = print) -> None:
    """Print the table."""
    write("| set | work | s | time / floor | peak MB |")
    write("|---|---|---|---|---|")
    for label, kind, result, floor in rows:
        ratio = f"{result.seconds / floor.seconds:.2f}"
        write(f"| {label} | {kind} | {result.seconds:.2f} | {ratio} | {result.peak_bytes / 1e6:.0f} |")


def show_big(gigabytes: float, folder: Path) -> None:
    """Read one large file; print seconds and peak memory."""
    path = big_file(gigabytes, folder)
    size = path.stat().st_size
    result = measure("ours", [path], sys.executable, 1)
    path.unlink()
    if result:
        print(f"\none file of {size / 1e9:.2f} GB: {result.seconds:.1f} s, peak {result.peak_bytes / 1e6:.0f} MB")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=200)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--hta-python", default="")
    parser.add_argument("--big", type=float, default=0, metavar="GB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        show(table(Path(name), options))
        if options.big:
            show_big(options.big, Path(name))


if __name__ == "__main__":
    main()
