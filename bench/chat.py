"""Speed of conversations, embedded and over HTTP, and what 2,000 of them leave behind: `python bench/chat.py`.

Prints tables. Each part runs in a fresh process. Wall-clock figures stand beside the load average of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from latecomer.knowledge.errors import LatecomerError
from latecomer.service.client import AsyncClient
from latecomer.service.conversation import turn
from latecomer.service.conversation.mind import Mind, View
from latecomer.service.conversation.state import SessionState
from latecomer.service.sessions.engine import open_mind
from latecomer.service.sessions.schemas import Reply
from latecomer.service.sessions.service import SessionService

PARTS = ("embedded", "http-sqlite", "http-postgresql", "growth")
POSTGRES = os.environ.get("LATECOMER_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/test")
SERVE = """
import sys
from latecomer.service.api.serve import serve
serve(port=0, database_url=sys.argv[1], workers=int(sys.argv[2]), on_ready=lambda url: print(url, flush=True))
"""
MEDIAN_MS, COMPLETE_MS, P95_MS = 150, 1000, 500
GROWTH_MESSAGES = 2
"""Messages of each story that the part `growth` plays."""
PAGE_BYTES, TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


# ---- stories: the same kinds of job, never the same numbers ------------------------------------------------


def late_input(dice: random.Random) -> list[str]:
    """A table, then what decides."""
    ranks, late, more = dice.choice((4, 6, 8)), dice.randrange(4), dice.randint(60, 300)
    rows = [(r, dice.randint(18, 24) + more * (r == late), dice.randint(176, 184)) for r in range(ranks)]
    table = "rank  input  compute  arrival\n" + "\n".join(f"{r}  {i}  {c}  {i + c}" for r, i, c in rows)
    return [
        f"the job got {dice.randint(20, 60)} % slower since this morning, {ranks} gpus, plain ddp",
        table,
        "which evidence would turn you away from that?",
        "the lateness followed the data when we swapped shards",
        f"yes, in most of {dice.randint(40, 90)} steps",
        "all ranks run the same collectives in the same order",
        "approximately the same data is fine",
    ]


def late_compute(dice: random.Random) -> list[str]:
    """Arrivals in a sentence, a correction, a belief."""
    more, early = dice.randint(80, 220), dice.randint(230, 270)
    return [
        f"arrivals are {early}/{early + 2}/{early + 1}/{early + more} ms",
        f"the last rank's compute is {more} ms longer",
        f"it has twice the padded tokens, {2 * more * 20} against {more * 20}",
        "would faster links help?",
        f"sorry, {more + 30} ms, not {more}",
        "why not the input?",
        "yes",
    ]


def many_steps(dice: random.Random) -> list[str]:
    """A CSV of ranks and steps."""
    late, more = dice.randrange(4), dice.randint(50, 150)
    rows = [
        f"{r},{s},{dice.gauss(20, 2) + more * (r == late):.1f},{dice.gauss(150, 4):.1f},{200 + more}"
        for s in range(24)
        for r in range(4)
    ]
    return [
        "rank,step,input_wait_ms,compute_ms,step_ms\n" + "\n".join(rows),
        "how",
        "should we upgrade the network?",
        "1",
        f"what if rank {late}'s input were normal?",
        "don't know",
    ]


def nothing_known(dice: random.Random) -> list[str]:
    """One number, and nothing more."""
    return [
        f"{dice.choice((8, 16, 32))} gpus, rank {dice.randrange(8)} gets there at {dice.randint(350, 450)}, "
        f"everybody else {dice.randint(240, 260)}",
        *["don't know"] * 4,
        "so what should I capture?",
    ]


def hang(dice: random.Random) -> list[str]:
    """A hang, a log, and a choice."""
    ranks, dead = dice.choice((4, 8, 16)), dice.randrange(4)
    return [
        f"the job hangs since {dice.randint(10, 90)} minutes, {ranks} ranks",
        f"rank {dead} died with an out of memory error, the others wait in all_reduce",
        "is it NCCL?",
        "1",
        "undo",
    ]


def all_starve(dice: random.Random) -> list[str]:
    """All ranks alike."""
    wait = dice.randint(200, 400)
    return [
        f"{dice.choice((4, 8))} ranks, {dice.randint(30, 60)} steps: input wait is {wait} ms on every rank, the step "
        f"{wait + dice.randint(15, 40)} ms",
        "one core per rank for 16 loader workers",
        "is it the storage?",
        "2",
        "don't know",
    ]


STORIES = (late_input, late_compute, many_steps, nothing_known, hang, all_starve)


# ---- figures -----------------------------------------------------------------------------------------------


@dataclass
class Figures:
    """Times, ms."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def of(self, action: Awaitable[Reply | object]) -> object:
        """Time an action; processor time is that of this process."""
        wall, cpu = time.perf_counter(), time.process_time()
        found = await action
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)
        return found


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def row(name: str, values: Sequence[float], target: str = "") -> None:
    """A line of a table."""
    middle, high = statistics.median(values), quantile(values, 0.95)
    print(f"| {name} | {len(values)} | {middle:.0f} | {high:.0f} | {max(values):.0f} | {target} |", flush=True)


def head(first: str) -> None:
    """The head of a table of times."""
    print(f"| {first} | n | median ms | p95 ms | longest ms | target |\n|---|---|---|---|---|---|")


def load() -> str:
    """How busy the machine is."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def processor_s(pid: int) -> float:
    """Processor time of a process and of its children, seconds."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == pid or int(fields[1]) == pid:
            total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


# ---- embedded ----------------------------------------------------------------------------------------------


async def embedded(sessions: int, folder: Path) -> None:
    """Stories one after another in this process, each diagnosis completed before the next message."""
    service = await SessionService.open(f"sqlite:///{folder / 'chat.db'}")
    replies, complete = Figures(), Figures()
    by_story = {story.__name__: Figures() for story in STORIES}
    for number in range(sessions):
        story = STORIES[number % len(STORIES)]
        session, last = (await service.create()).id, ""
        for text in story(random.Random(number)):
            times = by_story[story.__name__]
            reply = await times.of(service.say(session, text))
            assert isinstance(reply, Reply)
            if reply.diagnosis.id != last:
                last = reply.diagnosis.id
                await complete.of(service.diagnosis(session))
    for times in by_story.values():
        replies.wall += times.wall
        replies.cpu += times.cpu
    await service.close()
    print(f"\nEmbedded, SQLite, {sessions} sessions, {load()}\n")
    head("what")
    row("reply, wall", replies.wall, f"median {MEDIAN_MS}")
    row("reply, processor", replies.cpu, f"median {MEDIAN_MS}")
    row("then until complete, wall", complete.wall, f"{COMPLETE_MS}")
    row("then until complete, processor", complete.cpu, f"{COMPLETE_MS}")
    for name, times in by_story.items():
        row(f"{name.replace('_', ' ')}, processor", times.cpu)


# ---- over HTTP ---------------------------------------------------------------------------------------------


@contextmanager
def postgres_schema() -> Iterator[str]:
    """URL of a schema of its own, dropped after."""
    import psycopg

    name = f"bench_{uuid4().hex}"
    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # pyright: ignore[reportArgumentType,reportCallIssue]
        try:
            yield f"{POSTGRES}{'&' if '?' in POSTGRES else '?'}options=-csearch_path%3D{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")  # pyright: ignore[reportArgumentType,reportCallIssue]


@contextmanager
def server(database_url: str, workers: int) -> Iterator[tuple[str, int]]:
    """Address and process id of a server process."""
    command = [sys.executable, "-c", SERVE, database_url, str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


async def users(url: str, sessions: int, think_s: float) -> tuple[Figures, list[str]]:
    """As many users at once, each with a story and time to think before each message."""
    times, errors = Figures(), list[str]()

    async def user(number: int) -> None:
        dice = random.Random(1000 + number)
        async with AsyncClient(url) as client:
            await asyncio.sleep(dice.uniform(0, think_s))
            try:
                session = (await client.create_session()).id
                for text in STORIES[number % len(STORIES)](dice):
                    await times.of(client.say(session, text))
                    await asyncio.sleep(think_s * dice.uniform(0.5, 1.5))
            except LatecomerError as error:
                errors.append(f"{type(error).__name__}: {error}")

    await asyncio.gather(*map(user, range(sessions)))
    return times, errors


def over_http(name: str, database_url: str, sessions: int, workers: int, think_s: float) -> None:
    """Many users of one server process."""
    with server(database_url, workers) as (url, pid):
        before, began = processor_s(pid), time.perf_counter()
        times, errors = asyncio.run(users(url, sessions, think_s))
        seconds, spent = time.perf_counter() - began, processor_s(pid) - before
    print(f"\nHTTP, {name}, {sessions} sessions at once, {workers} engine workers, {think_s:g} s to think, {load()}\n")
    head("what")
    row("reply, wall", times.wall, f"p95 {P95_MS}")
    share = spent / seconds
    print(f"\n{len(errors)} errors; {len(times.wall) / seconds:.1f} replies/s; server used {share:.2f} processors,")
    print(f"{spent / max(len(times.wall), 1) * 1000:.0f} ms a reply, completion of diagnoses included")
    for error in errors[:5]:
        print(f"  {error}")


# ---- growth ------------------------------------------------------------------------------------------------


async def growth(sessions: int, folder: Path) -> None:
    """Sessions one after another in one process: what each leaves on disk and in memory."""
    file = folder / "chat.db"
    service = await SessionService.open(f"sqlite:///{file}")
    print(f"\nGrowth, embedded, SQLite, {GROWTH_MESSAGES} messages a session, {load()}\n")
    print(
        "| sessions | events a session | log kB a session | database kB a session | memory MB |\n|---|---|---|---|---|"
    )
    events, logged = 0, 0
    marks = {max(1, sessions * n // 4) for n in range(1, 5)}
    for number in range(1, sessions + 1):
        session = (await service.create()).id
        dice = random.Random(number)
        for text in STORIES[number % len(STORIES)](dice)[:GROWTH_MESSAGES]:
            await service.say(session, text)
        for event in await service._store.events(session):
            events, logged = events + 1, logged + len(event.data.encode())
        if number in marks:
            memory = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES / MIB
            disk = sum(p.stat().st_size for p in folder.iterdir()) / number / 1024
            print(f"| {number} | {events / number:.1f} | {logged / number / 1024:.1f} | {disk:.1f} | {memory:.0f} |")
            sys.stdout.flush()
    await service.close()


# ---- command -----------------------------------------------------------------------------------------------


def run_part(part: str, options: argparse.Namespace) -> None:
    """One part, in this process."""
    sessions: int = options.sessions or {"embedded": 24, "growth": 2000}.get(part, 50)
    if options.quick:
        sessions = min(sessions, 6)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if part == "embedded":
            asyncio.run(embedded(sessions, folder))
        elif part == "growth":
            asyncio.run(growth(sessions, folder))
        else:
            name = part.removeprefix("http-")
            where = nullcontext(f"sqlite:///{folder / 'chat.db'}") if name == "sqlite" else postgres_schema()
            with where as url:
                over_http(name, url, sessions, options.workers, options.think)


def profile(sessions: int) -> None:
    """Where the processor time of turns and of complete diagnoses goes: the pure turn, in one thread."""
    mind, _ = open_mind(0, ())

    def replies() -> list[View]:
        return [view for number in range(sessions) for view in played(number, mind)]

    def documents(views: Sequence[View]) -> None:
        for view in views:
            mind.diagnosis(view)

    recorded = cProfile.Profile(time.process_time)
    views = recorded.runcall(replies)
    shown(recorded, f"{len(views)} replies")
    recorded = cProfile.Profile(time.process_time)
    distinct = list({view.key: view for view in views}.values())
    recorded.runcall(documents, distinct)
    shown(recorded, f"{len(distinct)} complete diagnoses")


def played(number: int, mind: Mind) -> Iterator[View]:
    """A story without a store."""
    state, recordings = SessionState(), {}
    for text in STORIES[number % len(STORIES)](random.Random(number)):
        outcome = turn.message(text, state, recordings, mind)
        state, recordings = outcome.state, outcome.recordings
        yield outcome.view


def shown(recorded: cProfile.Profile, what: str) -> None:
    """The fifteen functions that take most."""
    print(f"\n{what}")
    for order in ("cumulative", "tottime"):
        pstats.Stats(recorded).strip_dirs().sort_stats(order).print_stats(15)


def main() -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all, each in a process of its own")
    parser.add_argument("--sessions", type=int, help="default: 24 embedded, 50 over HTTP, 2000 for growth")
    parser.add_argument("--quick", action="store_true", help="6 sessions, to see that it works")
    parser.add_argument("--workers", type=int, default=2, help="engine processes of the server")
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds between a reply and the next message")
    parser.add_argument("--profile", action="store_true", help="where the time goes, and nothing else")
    options = parser.parse_args()
    if options.profile:
        profile(options.sessions or 12)
        return 0
    if options.part and len(options.part) == 1:
        run_part(options.part[0], options)
        return 0
    failed = 0
    for part in options.part or PARTS:
        failed += subprocess.run([sys.executable, __file__, *sys.argv[1:], "--part", part]).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
