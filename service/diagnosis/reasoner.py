"""What reasoning needs, in one thing: knowledge, rule book, inference."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec

from ...knowledge.facts import Fact
from ...knowledge.loader import load
from ...knowledge.model import Knowledge
from ...rules.counterfactuals import Infer
from ...rules.infer import infer
from ...rules.loader import load_book
from ...rules.model import Inference


@dataclass(frozen=True, slots=True)
class Reasoner:
    """The knowledge, the hash of the rule book, and inference with that book on sets of facts (in process or in a
    pool). `rulebook`: sha256 of the rules and of the knowledge they refer to."""

    knowledge: Knowledge
    book_sha256: str
    infer: Infer
    rulebook: str = field(init=False)

    def __post_init__(self) -> None:
        known = self.knowledge
        parts = (
            known.facts,
            known.causes,
            known.questions,
            known.experiments,
            known.mitigations,
            known.misconceptions,
            known.symptoms,
        )
        digest = hashlib.sha256(self.book_sha256.encode())
        for part in parts:
            digest.update(msgspec.json.encode(dict(part), order="deterministic"))
        object.__setattr__(self, "rulebook", digest.hexdigest())


@cache
def local_reasoner() -> Reasoner:
    """The built-in knowledge and rule book, with inference in this process. Raises KnowledgeError where a document
    is wrong."""
    knowledge = load()
    book = load_book(knowledge=knowledge)

    def run(batches: Sequence[Sequence[Fact]]) -> list[Inference]:
        return [infer(facts, book) for facts in batches]

    return Reasoner(knowledge, book.sha256, run)
