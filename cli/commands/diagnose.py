"""`latecomer diagnose`: read the evidence, diagnose, write text, JSON or a stream of events."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...knowledge.errors import InputError, LatecomerError, UsageError
from ...service.diagnosis.local import OnRead, diagnose_paths, diagnose_text, near
from ...service.diagnosis.reasoner import local_reasoner
from ...service.diagnosis.schemas import Diagnosis
from ...service.evidence import size_of
from ...service.example import JOB
from ..exit_codes import Exit
from ..render.diagnosis import render
from ..render.progress import reading
from ..render.screen import colored, columns, write
from .errors import status_of

STDIN = "-"


def run(paths: Sequence[str], *, example: bool, output: str, no_color: bool, width: int | None) -> Exit:
    """Diagnose and write to stdout. Raises LatecomerError; in a stream the error is also its last event."""
    if output == "stream-json":
        return _stream(paths, example)
    diagnosis = diagnosed(paths, example=example)
    if output == "json":
        sys.stdout.write(diagnosis.model_dump_json(indent=2) + "\n")
    else:
        size, color = columns(sys.stdout, width), colored(sys.stdout, no_color)
        write(render(diagnosis, width=size, color=color), sys.stdout, color=color, width=size)
    return status(diagnosis)


def diagnosed(paths: Sequence[str], *, example: bool, on_read: OnRead | None = None) -> Diagnosis:
    """The diagnosis of what the command line names; `on_read` hears of reading first.

    Raises UsageError for contradictions, InputError for input.
    """
    if example:
        if paths:
            raise UsageError("--example takes no PATH", remedy="Leave one of them out.")
        paths = [str(JOB)]
    if not paths:
        raise UsageError("no evidence is named", remedy="Give a PATH, - for pasted text, or --example.")
    if STDIN in paths:
        if len(paths) > 1:
            raise UsageError("- stands for all evidence and takes no other PATH", remedy="Save the text to a file.")
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
        if not text.strip():
            raise InputError("nothing was pasted", where="stdin", remedy="Pipe a table or a log into it.")
        return diagnose_text(text, on_read=on_read)
    total_bytes, files = size_of(paths)
    with reading(total_bytes, files) as progress:
        evidence = [Path(p) if os.path.exists(p) else p for p in paths]
        return diagnose_paths(evidence, progress=progress, on_read=on_read)


def status(diagnosis: Diagnosis) -> Exit:
    """3 where the evidence does not decide, else 0."""
    open_ended = diagnosis.verdict in ("undetermined", "insufficient_evidence")
    return Exit.INCONCLUSIVE if open_ended else Exit.DIAGNOSIS


def events(diagnosis: Diagnosis) -> Iterator[tuple[str, Any]]:
    """The events of a diagnosis, in order: fact, finding, question, diagnosis, result."""
    document = diagnosis.model_dump(mode="json")
    yield from (("fact", fact) for fact in document["facts"])
    yield from (("finding", finding) for finding in document["findings"])
    yield from (("question", question) for question in document["next"]["questions"])
    yield "diagnosis", document
    yield "result", {"verdict": diagnosis.verdict, "exit": int(status(diagnosis))}


def _stream(paths: Sequence[str], example: bool) -> Exit:
    """`init` at once, `read` when the files are read, the rest with the diagnosis; an error is an event too."""
    schema = Diagnosis.model_fields["schema_"].default
    evidence = [str(near(JOB))] if example else list(paths)
    _event("init", {"schema": schema, "rulebook": local_reasoner().rulebook, "evidence": evidence})
    try:
        diagnosis = diagnosed(paths, example=example, on_read=lambda report: _event("read", report.model_dump()))
    except LatecomerError as error:
        _event("error", {"title": error.what, "where": error.where, "remedy": error.remedy})
        _event("result", {"verdict": None, "exit": int(status_of(error))})
        raise
    for name, data in events(diagnosis):
        _event(name, data)
    return status(diagnosis)


def _event(name: str, data: Any) -> None:
    sys.stdout.write(json.dumps({"event": name, "data": data}, ensure_ascii=False) + "\n")
    sys.stdout.flush()
