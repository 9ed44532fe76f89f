"""What clients attach, as events: text, facts, tables and files. Checked before anything is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...knowledge.errors import InputError, KnowledgeError
from ...knowledge.facts import Fact, Source, fact
from ...knowledge.model import Knowledge
from ...traces.codec import decode, encode
from ...traces.job import read_job
from ...traces.limits import MIB, Limits
from ...traces.readers.table import read_text
from ...traces.tables import Tables
from ..conversation.events import EvidenceAttached, stated
from ..conversation.pasted import in_words
from ..conversation.state import SessionState
from .schemas import FactInput

MOST_TEXT = 1 << 20
"""Characters of pasted text that a log keeps; more is for files."""
TABLES_LIMITS = Limits(max_bytes=512 * MIB)
"""What tables of one piece of evidence may expand to: all of it is held in memory."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An event, the tables that it stands for, and the bytes to store beside it."""

    event: EvidenceAttached
    tables: Tables | None = None
    blob: bytes | None = None


def of_text(text: str, label: str, state: SessionState) -> Attachment:
    """Pasted text. Raises InputError where no reader knows it."""
    if len(text) > MOST_TEXT:
        raise InputError(f"is longer than {MOST_TEXT:,} characters", where=label, remedy="Attach it as a file.")
    tables = read_text(text, name=f"turn {state.turn + 1}", world_size=state.ranks)
    event = EvidenceAttached(
        id=state.next_id,
        form="text",
        label=label or "pasted table",
        in_words=in_words(tables),
        text=text,
        ranks=state.ranks,
    )
    return Attachment(event, tables)


def of_tables(data: bytes, label: str, state: SessionState) -> Attachment:
    """Tables as `traces.codec` encodes them. Raises InputError for bytes it did not make, or that expand too far."""
    tables = decode(data, limits=TABLES_LIMITS)
    name = label or ", ".join(tables.sources[:3]) or "tables"
    event = EvidenceAttached(
        id=state.next_id,
        form="tables",
        label=name,
        in_words=in_words(tables),
        blob=hashlib.sha256(data).hexdigest(),
    )
    return Attachment(event, tables, data)


def of_files(paths: Sequence[Path], label: str, state: SessionState) -> Attachment:
    """Traces on disk, read into tables. Raises InputError where nothing of them can be used."""
    return of_tables(encode(read_job(list(paths), workers=1)), label, state)


def of_facts(facts: Sequence[FactInput], label: str, state: SessionState, knowledge: Knowledge) -> Attachment:
    """Facts of the vocabulary. Raises KnowledgeError for what is not in it."""
    if not facts:
        raise InputError("no facts were given", remedy="Give at least one, with its kind and values.")
    checked = checked_facts(facts, knowledge)
    event = EvidenceAttached(
        id=state.next_id,
        form="facts",
        label=label or "facts",
        facts=[stated(f) for f in checked],
        in_words=[str(f) for f in checked],
    )
    return Attachment(event)


def checked_facts(facts: Sequence[FactInput], knowledge: Knowledge) -> list[Fact]:
    """Facts of the vocabulary that evidence may state; those that only rules or verdicts make are refused."""
    checked: list[Fact] = []
    for item in facts:
        made = knowledge.check(fact(item.kind, item.values, quality="stated", source=Source("given facts")))
        kind = knowledge.facts[item.kind]
        if kind.derived or kind.pass_ == 2:
            raise KnowledgeError(f"{item.kind} is concluded and cannot be given", where="given facts")
        checked.append(made)
    return checked
