"""Reading many traces, in worker processes where there is enough to read."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Protocol

from ...knowledge.errors import InputError
from ..limits import DEFAULT_LIMITS, Limits
from ..tables import Tables
from . import kineto
from .source import Source

WORTH_A_PROCESS_BYTES = 400_000_000
"""Text from which starting processes (about 0.8 s on two cores) pays: two seconds of reading."""
GZIP_RATIO = 15
"""Text of a profiler trace over its gzip size, roughly (10 to 30)."""

FileProgress = Callable[[Path, int], None]
"""Called with a file and how many of its stored bytes were read since the last call."""


class Reader(Protocol):
    """A reader of one file, such as `kineto.read`; it must be importable by name in a worker."""

    def __call__(self, where: Path, *, limits: Limits) -> Tables:
        """Tables of one file; raises InputError."""
        ...


def read_all(
    paths: Sequence[Path],
    *,
    workers: int,
    limits: Limits = DEFAULT_LIMITS,
    progress: FileProgress | None = None,
    reader: Reader = kineto.read,
) -> list[Tables | InputError]:
    """Tables, or the error, of each file, in the order of `paths`.

    Uses up to `workers` spawned processes where the files are large; `progress` is then called once a file.
    """
    sizes = [Source.of(path).size() for path in paths]
    count = min(workers, len(paths))
    text = sum(size * (GZIP_RATIO if path.suffix == ".gz" else 1) for path, size in zip(paths, sizes, strict=True))
    if count < 2 or text < WORTH_A_PROCESS_BYTES:
        return [_here(path, size, limits, progress, reader) for path, size in zip(paths, sizes, strict=True)]
    return _in_processes(paths, sizes, count, limits, progress, reader)


def _here(path: Path, size: int, limits: Limits, progress: FileProgress | None, reader: Reader) -> Tables | InputError:
    try:
        return reader(path, limits=limits)
    except InputError as error:
        return error
    finally:
        if progress:
            progress(path, size)


def _worker(path: Path, limits: Limits, reader: Reader) -> Tables | tuple[str, str, str]:
    """Tables, or the parts of the error (an exception of three arguments does not survive pickling)."""
    try:
        return reader(path, limits=limits)
    except InputError as error:
        return error.what, error.where, error.remedy


def _in_processes(
    paths: Sequence[Path],
    sizes: Sequence[int],
    count: int,
    limits: Limits,
    progress: FileProgress | None,
    reader: Reader,
) -> list[Tables | InputError]:
    """Largest first, so that no process is left alone with the longest file."""
    found: dict[int, Tables | InputError] = {}
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        order = sorted(range(len(paths)), key=lambda index: -sizes[index])
        jobs = {pool.submit(_worker, paths[index], limits, reader): index for index in order}
        for job in as_completed(jobs):
            index = jobs[job]
            found[index] = _outcome(job, paths[index])
            if progress:
                progress(paths[index], sizes[index])
    return [found[index] for index in range(len(paths))]


def _outcome(job: Future[Tables | tuple[str, str, str]], path: Path) -> Tables | InputError:
    try:
        outcome = job.result()
    except BrokenProcessPool:
        return InputError(
            "could not be read: the reading process was killed",
            where=str(path),
            remedy="Free memory, or read fewer files at once.",
        )
    if isinstance(outcome, Tables):
        return outcome
    what, where, remedy = outcome
    return InputError(what, where=where, remedy=remedy)
