"""Opens the reasoning of a service: in this process, or in worker processes that may crash without harm."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from ...knowledge.facts import Fact, Scalar
from ...knowledge.loader import load
from ...rules.counterfactuals import Infer
from ...rules.infer import infer
from ...rules.loader import load_book
from ...rules.model import Inference
from ...rules.pool import InferencePool
from ..conversation.mind import Mind
from ..diagnosis.reasoner import Reasoner, local_reasoner

MOST_REMEMBERED = 1024
SLICE = 6
"""Sets of facts in a slice of patient work: about 15 ms of a worker."""
Key = frozenset[tuple[str, tuple[tuple[str, Scalar], ...]]]


def open_mind(workers: int, book_directories: Sequence[Path]) -> tuple[Mind, Callable[[], None]]:
    """The mind, and what closes it. `workers` 0: inference in this process. Raises KnowledgeError and EngineError."""
    if not workers and not book_directories:
        local = local_reasoner()
        local.infer([[]])
        return Mind(Reasoner(local.knowledge, local.book_sha256, Remembering(local.infer))), lambda: None
    knowledge = load()
    book = load_book(book_directories, knowledge=knowledge)
    pool = InferencePool(workers, book_directories) if workers else None
    run = Remembering(pool.infer_batch if pool else lambda batch: [infer(facts, book) for facts in batch])
    patient = Reasoner(knowledge, book.sha256, in_slices(run)) if pool else None
    return Mind(Reasoner(knowledge, book.sha256, run), patient), pool.close if pool else lambda: None


def in_slices(run: Infer) -> Infer:
    """Inference a few sets at a time, so that a turn's work comes between and one worker stays free for it."""

    def infer_patiently(batch: Sequence[Sequence[Fact]]) -> list[Inference]:
        starts = range(0, len(batch), SLICE)
        return [found for start in starts for found in run(batch[start : start + SLICE])]

    return infer_patiently


class Remembering:
    """Inference that remembers the results used last: questions, counterfactuals and the next turn suppose the same
    facts. Thread-safe. No facts at all are always inferred, so that an engine that does not answer is noticed."""

    def __init__(self, run: Infer) -> None:
        self._run = run
        self._kept: OrderedDict[Key, Inference] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, batch: Sequence[Sequence[Fact]]) -> list[Inference]:
        """What follows from each set of facts; sources and order do not matter."""
        keys: list[Key] = [frozenset((f.kind, f.values) for f in facts) for facts in batch]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: facts for key, facts in zip(keys, batch, strict=True) if key not in known}
        if missing:
            known |= zip(missing, self._run(list(missing.values())), strict=True)
        with self._lock:
            for key in filter(None, keys):
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > MOST_REMEMBERED:
                self._kept.popitem(last=False)
        return [known[key] for key in keys]
