"""Opens the reasoning of a service: in this process, or in worker processes that may crash without harm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...knowledge.loader import load
from ...rules.infer import infer
from ...rules.loader import load_book
from ...rules.pool import InferencePool
from ..conversation.mind import Mind
from ..diagnosis.reasoner import Reasoner, local_reasoner


def open_mind(workers: int, book_directories: Sequence[Path]) -> tuple[Mind, Callable[[], None]]:
    """The mind, and what closes it. `workers` 0: inference in this process. Raises KnowledgeError and EngineError."""
    if not workers and not book_directories:
        mind = Mind(local_reasoner())
        mind.reasoner.infer([[]])
        return mind, lambda: None
    knowledge = load()
    book = load_book(book_directories, knowledge=knowledge)
    if not workers:
        return Mind(Reasoner(knowledge, book.sha256, lambda batch: [infer(f, book) for f in batch])), lambda: None
    pool = InferencePool(workers, book_directories)
    return Mind(Reasoner(knowledge, book.sha256, pool.infer_batch)), pool.close
