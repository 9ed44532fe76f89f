"""Made-up sets of profiler traces, one file a rank, with the faults that tests and measurements ask for.

    python bench/generate_kineto.py FOLDER --ranks 4 --steps 12 --mb 50

Deterministic: the same Job gives the same bytes. Each step: loader, forward, backward, one all-reduce, optimizer;
the all-reduce ends for everybody `transfer_ms` after the last rank arrived.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODERN = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
OLD = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"
BASE_NS = 1_790_857_026_000_000_000
DEFECTS = (
    "truncated",
    "nan",
    "inf",
    "na",
    "control",
    "quotes",
    "utf8",
    "comma",
    "bare_list",
    "zero_ts",
    "negative",
    "absurd",
    "double",
)
"""Defects that a trace can be given (Job.defects); each damages or adds one event in the middle of the file."""
Event = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What to make up. Times in ms. `loader_ms`, `compute_ms`, `host_ms` override the default for one rank;
    `clock_ms` shifts a rank's clock; `skip_steps` leaves out a rank's first steps; `absent` lists ranks without
    a file; `operations` is how many small operations (with launch and kernel) fill a step."""

    ranks: int = 4
    steps: int = 12
    operations: int = 20
    kernel: str = MODERN
    loader_ms: Mapping[int, float] = field(default_factory=dict)
    compute_ms: Mapping[int, float] = field(default_factory=dict)
    host_ms: Mapping[int, float] = field(default_factory=dict)
    clock_ms: Mapping[int, float] = field(default_factory=dict)
    skip_steps: Mapping[int, int] = field(default_factory=dict)
    absent: tuple[int, ...] = ()
    transfer_ms: float = 10.0
    compact: bool = False
    metadata: bool = True
    described: bool = True
    gz: bool = False
    name: str = "rank{rank}.pt.trace.json"
    defects: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    job_name: str = "made-up"
    seed: int = 0


@dataclass(frozen=True)
class Moment:
    """Times of one rank and step in us from the start of the job."""

    start: float
    loader: float
    forward: float
    arrival: float
    sync_end: float
    end: float


def schedule(job: Job) -> list[list[Moment]]:
    """Moments[rank][step] of a job whose ranks wait for each other in the all-reduce of each step."""
    noise = random.Random(job.seed)
    begin = [0.0] * job.ranks
    plan: list[list[Moment]] = [[] for _ in range(job.ranks)]
    for _ in range(job.steps):
        parts: list[tuple[float, float, float]] = []
        for rank in range(job.ranks):
            loader = job.loader_ms.get(rank, 1.0) * 1e3 + noise.uniform(0, 100)
            forward = loader + job.compute_ms.get(rank, 20.0) * 400 + noise.uniform(0, 200)
            arrival = forward + job.compute_ms.get(rank, 20.0) * 600 + noise.uniform(0, 200)
            parts.append((loader, forward, arrival))
        done = max(begin[r] + parts[r][2] for r in range(job.ranks)) + job.transfer_ms * 1e3
        for rank, (loader, forward, arrival) in enumerate(parts):
            at = begin[rank]
            end = done + job.host_ms.get(rank, 0.5) * 1e3 + 1000 + noise.uniform(0, 50)
            plan[rank].append(Moment(at, at + loader, at + forward, at + arrival, done, end))
            begin[rank] = end
    return plan


def write(job: Job, folder: Path) -> list[Path]:
    """Write the job's traces into a folder; the files written, by rank."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = schedule(job)
    paths: list[Path] = []
    for rank in range(job.ranks):
        if rank in job.absent:
            continue
        path = folder / (job.name.format(rank=rank) + (".gz" if job.gz else ""))
        with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) if job.gz else path.open("wb") as file:
            for text in trace(job, rank, plan[rank]):
                file.write(text)
        paths.append(path)
    return paths


def trace(job: Job, rank: int, plan: list[Moment]) -> Iterator[bytes]:
    """The text of one rank's trace, step by step."""
    defects = job.defects.get(rank, ())
    dump = (lambda e: json.dumps(e, separators=(",", ":"))) if job.compact else _pretty
    separator = "," if job.compact else ",\n  "
    yield b"[" if "bare_list" in defects else _header(job, rank).encode()
    skip = job.skip_steps.get(rank, 0)
    kept = list(enumerate(plan))[skip:]
    texts: list[str] = []
    for index, (step, moment) in enumerate(kept):
        texts = [dump(event) for event in _step(job, rank, step, moment)]
        if index == len(kept) // 2:
            texts += _damaged(defects, dump, job, rank, moment)
        text = separator.join(texts) + (separator if index < len(kept) - 1 else "")
        if "truncated" in defects and index == len(kept) - 1:
            yield text[: len(text) // 2].encode()
            return
        yield text.encode().replace(b"<bad utf8>", b"\xff\xfe")
    yield (separator if "comma" in defects else "").encode()
    yield b"]" if "bare_list" in defects else b'], "traceName": "/made/up/trace.json"}'


def _pretty(event: Event) -> str:
    """An event laid out as the profiler does."""
    args = json.dumps(event.get("args", {}))[1:-1]
    lines = [f'    "{key}": {json.dumps(value)}' for key, value in event.items() if key != "args"]
    return "{\n" + ",\n".join(lines) + ',\n    "args": {\n      ' + args + "\n    }\n  }"


def _header(job: Job, rank: int) -> str:
    everyone = list(range(job.ranks))
    group = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": job.ranks, "ranks": everyone}
    about: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": [{"id": rank, "name": "Made-up GPU"}]}
    if job.metadata:
        about["PT_PROFILER_JOB_NAME"] = job.job_name
        about["distributedInfo"] = {
            "backend": "nccl",
            "rank": rank,
            "world_size": job.ranks,
            "pg_count": 1,
            "pg_config": [group],
        }
    about |= {"host_name": f"host{rank // 8}", "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
    text = json.dumps(about, separators=(",", ":") if job.compact else (", ", ": "))
    return text[:-1] + (',"traceEvents":[' if job.compact else ', "traceEvents": [\n  ')


def _step(job: Job, rank: int, step: int, moment: Moment) -> Iterator[Event]:
    shift = 5e12 + job.clock_ms.get(rank, 0.0) * 1e3
    main, device = {"pid": 1000 + rank, "tid": 1000 + rank}, {"pid": rank, "tid": 7}

    def event(category: str, name: str, start: float, end: float, where: Event, args: Event) -> Event:
        times = {"ts": round(start + shift, 3), "dur": round(end - start, 3)}
        return {"ph": "X", "cat": category, "name": name, **where, **times, "args": args}

    number = step * (job.operations + 10) * 4
    yield event("user_annotation", f"ProfilerStep#{step}", moment.start, moment.end, main, {"External id": number})
    loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    yield event("user_annotation", loader, moment.start + 2, moment.loader, main, {"External id": number + 1})
    ddp = "DistributedDataParallel.forward"
    yield event("user_annotation", ddp, moment.loader + 5, moment.forward, main, {"External id": number + 2})
    width = (moment.arrival - moment.loader - 200) / max(job.operations, 1)
    for index in range(job.operations):
        at, link = moment.loader + 20 + index * width, number + 10 + index * 3
        shape = {"Input Dims": [[32, 512, 768], [768, 768]], "Input type": ["float", "float"], "Ev Idx": link}
        name = "aten::mm" if index < 0.4 * job.operations else "autograd::engine::evaluate_function: MmBackward0"
        yield event("cpu_op", name, at, at + width * 0.6, main, {"External id": link, **shape})
        launch = {"External id": link, "cbid": 211, "correlation": link}
        yield event("cuda_runtime", "cudaLaunchKernel", at + 1, at + 3, main, launch)
        block = {"device": rank, "stream": 7, "correlation": link, "grid": [8, 1, 1], "block": [256, 1, 1]}
        kernel = f"void gemm_{index % 40}<float, 128, 64>(float*, float const*, int)"
        yield event("kernel", kernel, at + 5, at + width * 0.9, device, block)
    link, call = number + 7, moment.arrival - 60
    about = _collective(job, step) if job.described else {}
    yield event("cpu_op", "c10d::allreduce_", call, call + 40, main, {"External id": link})
    yield event("cpu_op", "record_param_comms", call + 5, call + 35, main, {"External id": link, **about})
    launch = {"External id": link, "cbid": 430, "correlation": link}
    yield event("cuda_runtime", "cudaLaunchKernelExC", call + 10, call + 14, main, launch)
    nccl = {"device": rank, "stream": 20, "correlation": link, **about}
    yield event("kernel", job.kernel, moment.arrival, moment.sync_end, {**device, "tid": 20}, nccl)
    optimizer = "Optimizer.step#AdamW.step"
    yield event("user_annotation", optimizer, moment.sync_end + 10, moment.sync_end + 900, main, {"External id": link})


def _collective(job: Job, step: int) -> Event:
    return {
        "Collective name": "allreduce",
        "dtype": "Float",
        "In msg nelems": 1_000_000,
        "Out msg nelems": 1_000_000,
        "Group size": job.ranks,
        "Process Group Name": "0",
        "Process Group Ranks": str(list(range(job.ranks))),
        "Seq": step + 1,
    }


def _damaged(defects: tuple[str, ...], dump: Any, job: Job, rank: int, moment: Moment) -> list[str]:
    """Events with the defects asked for, as text."""
    plain: Event = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::odd",
        "pid": 1,
        "tid": 1,
        "ts": 5e12,
        "dur": 2.0,
        "args": {"x": 1},
    }
    loader: Event = {**plain, "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}
    loader |= {"pid": 1000 + rank, "tid": 1000 + rank, "ts": moment.end + 5e12}
    step = next(_step(job, rank, 10_000, moment))
    made = {
        "nan": dump(plain).replace("2.0", "NaN"),
        "inf": dump(plain).replace('"x": 1', '"x": -inf').replace('"x":1', '"x":inf'),
        "na": dump(plain).replace('"x": 1', '"x": N/A').replace('"x":1', '"x":N/A'),
        "control": dump(plain).replace("aten::odd", "aten::o\x01\ndd"),
        "quotes": dump(plain).replace("aten::odd", 'aten::"odd" one'),
        "utf8": dump(plain).replace("aten::odd", "aten::<bad utf8>"),
        "zero_ts": dump({**loader, "ts": 0}),
        "negative": dump({**loader, "dur": -5.0}),
        "absurd": dump({**loader, "dur": 7.4e15}),
        "double": ",".join([dump(step)] * 2),
    }
    return [made[defect] for defect in defects if defect in made]


def sized(megabytes: float, ranks: int, steps: int, **other: Any) -> Job:
    """A job whose files together have about so many MB of text."""
    one = Job(ranks=ranks, steps=1, operations=100, **other)
    size = sum(len(text) for text in trace(one, 0, schedule(one)[0])) / 100
    return Job(ranks=ranks, steps=steps, operations=max(int(megabytes * 1e6 / ranks / steps / size), 1), **other)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--mb", type=float, default=20, help="size of the whole set, uncompressed")
    parser.add_argument("--gz", action="store_true")
    options = parser.parse_args()
    for path in write(sized(options.mb, options.ranks, options.steps, gz=options.gz), options.folder):
        print(path)


if __name__ == "__main__":
    main()
