"""Inference in worker processes, since the engine is C code that can crash: that costs one retry, never the caller."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from ..knowledge.errors import EngineError, LatecomerError
from ..knowledge.facts import Fact
from .book_model import RuleBook
from .infer import infer
from .loader import load_book
from .model import Inference

Batch = Sequence[Sequence[Fact]]
START_TIMEOUT_S = 60.0
CHUNKS_PER_WORKER = 4
_SPAWN = multiprocessing.get_context("spawn")


class Inferring(Protocol):
    """Runs inference on one or several sets of facts."""

    def infer(self, facts: Sequence[Fact]) -> Inference:
        """Findings of one set of facts."""
        ...

    def infer_batch(self, batch: Batch) -> list[Inference]:
        """Findings of each set of facts, in order."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class LocalInference:
    """Inference in this process."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book

    def infer(self, facts: Sequence[Fact]) -> Inference:
        """See Inferring."""
        return infer(facts, self._book)

    def infer_batch(self, batch: Batch) -> list[Inference]:
        """See Inferring."""
        return [infer(facts, self._book) for facts in batch]

    def close(self) -> None:
        """See Inferring."""


class InferencePool:
    """Warm, spawned workers, each with the rule book loaded. May be called from any thread.

    A worker that dies or does not answer within `timeout_s` is replaced and its work done once more; the second
    time it raises EngineError. Errors that inference raises come back unchanged.
    """

    def __init__(self, workers: int = 1, book_directories: Sequence[Path] = (), *, timeout_s: float = 60.0) -> None:
        self._directories, self._timeout_s = tuple(book_directories), timeout_s
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers = max(1, workers)
        self._threads = ThreadPoolExecutor(self._workers, thread_name_prefix="inference")
        self._closed = threading.Event()
        started = [_Worker(self._directories) for _ in range(self._workers)]
        for worker in started:
            self._idle.put(worker)
        try:
            for worker in started:
                worker.wait_until_warm()
        except LatecomerError:
            self.close()
            raise

    def infer(self, facts: Sequence[Fact]) -> Inference:
        """See Inferring."""
        return self.infer_batch([facts])[0]

    def infer_batch(self, batch: Batch) -> list[Inference]:
        """See Inferring. The sets are spread over the workers."""
        return [inference for part in self._submit(batch) for inference in part.result()]

    async def infer_async(self, facts: Sequence[Fact]) -> Inference:
        """As `infer`, without blocking the event loop."""
        return (await self.infer_batch_async([facts]))[0]

    async def infer_batch_async(self, batch: Batch) -> list[Inference]:
        """As `infer_batch`, without blocking the event loop."""
        parts = await asyncio.gather(*(asyncio.wrap_future(part) for part in self._submit(batch)))
        return [inference for part in parts for inference in part]

    @property
    def process_ids(self) -> list[int]:
        """Processes of the workers that are idle now."""
        idle = [self._idle.get() for _ in range(self._idle.qsize())]
        for worker in idle:
            self._idle.put(worker)
        return [worker.pid for worker in idle]

    def close(self) -> None:
        """Stop the workers once running work is done. Further calls raise EngineError."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().stop()

    def _submit(self, batch: Batch) -> list[Future[list[Inference]]]:
        if self._closed.is_set():
            raise EngineError("the inference pool is closed")
        size = max(1, -(-len(batch) // (self._workers * CHUNKS_PER_WORKER)))
        parts = [batch[start : start + size] for start in range(0, len(batch), size)]
        return [self._threads.submit(self._work, part) for part in parts]

    def _work(self, batch: Batch) -> list[Inference]:
        worker = self._idle.get()
        try:
            for _ in range(2):
                with contextlib.suppress(_WorkerLost):
                    return worker.call(batch, self._timeout_s)
                worker.stop()
                worker = _Worker(self._directories)
                worker.wait_until_warm()
        finally:
            self._idle.put(worker)
        raise EngineError("the engine failed twice on these facts", remedy="Report them with `latecomer export`.")


class _WorkerLost(Exception):
    """A worker died or did not answer."""


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs, directories), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def wait_until_warm(self) -> None:
        """Raises the error of loading the book, or EngineError where the process does not come up."""
        try:
            self._answer(START_TIMEOUT_S)
        except _WorkerLost as error:
            raise EngineError("an inference worker does not start") from error

    def call(self, batch: Batch, timeout_s: float) -> list[Inference]:
        """Raises _WorkerLost where the process is gone or too slow, and whatever inference raised."""
        try:
            self._pipe.send([list(facts) for facts in batch])
        except (BrokenPipeError, ConnectionError) as error:
            raise _WorkerLost from error
        return self._answer(timeout_s)

    def stop(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.join()

    def _answer(self, timeout_s: float) -> list[Inference]:
        try:
            if not self._pipe.poll(timeout_s):
                raise _WorkerLost
            found = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise _WorkerLost from error
        if isinstance(found, Exception):
            raise found
        return found


def _serve(pipe: Connection, directories: Sequence[Path]) -> None:
    """The worker: load and compile the book, then answer batches until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def attempt(action: Callable[[], list[Inference]]) -> None:
        try:
            pipe.send(action())
        except LatecomerError as error:
            pipe.send(error)
        except Exception as error:  # whatever it is, the caller has to hear of it
            pipe.send(EngineError(f"inference failed: {error!r}"))

    books: list[RuleBook] = []

    def warm() -> list[Inference]:
        books.append(load_book(directories))
        infer([], books[0], pass_=1)
        infer([], books[0], pass_=2)
        return []

    attempt(warm)
    with contextlib.suppress(EOFError, OSError):
        while books:
            batch = pipe.recv()
            attempt(lambda batch=batch: [infer(facts, books[0]) for facts in batch])
