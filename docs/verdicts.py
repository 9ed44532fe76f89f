"""The page of verdicts: what the lesson's observations and two real jobs come to, computed when it is written.

python docs/verdicts.py --facts FOLDER    rewrite lab_04_facts.json from the traces of lab 04
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from latecomer.knowledge.facts import Fact
from latecomer.service.diagnosis.local import diagnose_paths, diagnose_text, read_job
from latecomer.service.diagnosis.reasoner import local_reasoner
from latecomer.service.diagnosis.schemas import Diagnosis, Scope
from latecomer.service.diagnosis.service import diagnose
from latecomer.service.example import JOB
from latecomer.traces.measure import measure

LAB_04 = Path(__file__).with_name("lab_04_facts.json")
L17 = (
    "4 ranks, ten slow steps: rank 2 input wait 130-150 ms, others 15-25 ms; compute on all ranks 175-185 ms; "
    "rank 2 reads remote shard S9, the others local cached shards; the collective completes 18-22 ms after the last "
    "arrival."
)
OBSERVATIONS = (
    ("L17", L17),
    ("L31", "input 20/20/140/20 ms, compute 180 ms on every rank, arrival 200/200/320/200 ms"),
    ("L32", "arrivals 250/252/251/410 ms, the last rank's compute is 160 ms longer"),
    ("L41", "arrivals 200/210/205/360 ms"),
)


def ten_steps() -> str:
    """L17 as a table, a row a rank and step: values inside the lesson's ranges, made without chance."""
    lines = ["rank,step,input_wait_ms,compute_ms,transfer_ms,source"]
    for step in range(10):
        for rank in range(4):
            wait = (130 if rank == 2 else 15) + (step * 7 + rank * 3) % (21 if rank == 2 else 11)
            source = "remote shard S9" if rank == 2 else "local cached shards"
            lines.append(f"{rank},{step},{wait},{175 + (step * 3 + rank * 5) % 11},{18 + step % 5},{source}")
    return "\n".join(lines)


def cases() -> Iterator[tuple[str, Diagnosis]]:
    """Name and diagnosis of each case."""
    for name, text in OBSERVATIONS:
        yield name, diagnose_text(text)
    yield "L17, ten steps as a table", diagnose_text(ten_steps())
    yield "lab 02 (the bundled example)", diagnose_paths([JOB])
    yield "lab 04 (its facts)", diagnose(lab_04(), reasoner=local_reasoner())


def lab_04() -> list[Fact]:
    """What the measures say of lab 04."""
    return msgspec.json.decode(LAB_04.read_bytes(), type=list[Fact])


def measured(folder: Path) -> list[Fact]:
    """Facts of a folder of traces."""
    return list(measure(read_job([folder])).facts)


def verdicts_page(generated: str) -> Iterator[str]:
    """The page, line by line. `generated` says that it is."""
    yield f"# Verdicts of the reference cases\n\n{generated}"
    yield (
        "Weight: the sum of the arguments for and against a cause, in dB against none of these. Margin: dB over the"
        "\nnext cause or none of these, priors included. Established needs a probability of 0.85, a margin of 10 dB,"
        "\ntwo independent groups of evidence and a settled correctness gate; probable needs 0.6.\n"
    )
    yield "| case | verdict | scope | cause | probability | weight, dB | margin, dB | gate |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, found in cases():
        if not found.scopes:
            yield f"| {name} | {found.verdict} | - | - | - | - | - | {found.gate.collectives} |"
        for scope in found.scopes:
            yield f"| {name} | {scope.verdict} | {scope.id} | {figures(scope)} | {found.gate.collectives} |"
    yield "\nInputs:\n"
    yield from (f"- {name}: {text}" for name, text in OBSERVATIONS)
    yield "- L17, ten steps as a table: `ten_steps()` of [verdicts.py](verdicts.py), a row a rank and step."
    yield "- lab 02: the traces under `service/example/job`; lab 04: [lab_04_facts.json](lab_04_facts.json).\n"


def figures(scope: Scope) -> str:
    """Cells of cause, probability, weight and margin of the most probable cause."""
    if not scope.causes:
        return "open | - | - | -"
    top = scope.causes[0]
    cause = top.cause if scope.verdict in ("established", "probable") else f"open ({top.cause} first)"
    return f"{cause} | {top.probability:.2f} | {top.weight_db:+.0f} | {margin_db(scope):+.1f}"


def margin_db(scope: Scope) -> float:
    """Odds of the most probable cause against the next, dB (none of these counts as one)."""
    first, second = (cause.probability for cause in scope.causes[:2])
    return 10.0 * math.log10(first / second)


if __name__ == "__main__":
    option, folder = sys.argv[1:]
    if option != "--facts":
        sys.exit(__doc__)
    LAB_04.write_bytes(msgspec.json.format(msgspec.json.encode(measured(Path(folder))), indent=1) + b"\n")
