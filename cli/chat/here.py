"""Commands and lines that the terminal carries out itself: traces read where they lie, pictures, files written."""

from __future__ import annotations

import os
import re
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.text import Text

from ...knowledge.errors import InputError, LatecomerError, UsageError
from ...service.conversation.commands import COMMANDS
from .talk import Talk

HERE = frozenset(command.name for command in COMMANDS if command.here)
LONGEST_PATHS = 2000
_ROOTED = re.compile(r"(?:/|~/|\.{1,2}/)\S*[/.]\S*")
_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


def command_of(text: str) -> tuple[str, str] | None:
    """Name and rest of a message that is a command to carry out here."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    name, rest = found[1].lower(), (found[2] or "").strip()
    return (name, rest) if name in HERE or (name == "show" and not rest) else None


def paths_in(text: str) -> list[str] | None:
    """The files that a line names, if it names nothing else; a path from / or ~ need not be there."""
    if "\n" in text or len(text) > LONGEST_PATHS or not re.search(r"[/.~*]", text):
        return None
    try:
        parts = [os.path.expanduser(part) for part in shlex.split(text)]
    except ValueError:
        return None
    if len(parts) == 1 and _ROOTED.fullmatch(text.strip()):
        return parts
    looks = all(re.search(r"[/*]|\.[A-Za-z]", part) for part in parts)
    return parts if parts and looks and all(os.path.exists(part) for part in parts) else None


def read(paths: Sequence[str]) -> tuple[bytes, str]:
    """Tables of the files of one job, encoded, and their name; progress on stderr. Raises InputError."""
    from ...service.evidence import size_of
    from ...service.sessions.attach import tables_of
    from ..render.progress import reading

    total_bytes, files = size_of(paths)
    with reading(total_bytes, files) as progress:
        data, label, _ = tables_of(paths, progress)
    return data, label


async def carried_out(name: str, rest: str, talk: Talk, *, width: int, color: bool) -> list[Text]:
    """Lines that answer a command of here. Raises the errors of the client, and of files."""
    if name == "attach":
        return await attached(_split(rest), talk, width)
    if name == "export":
        return [Text(await exported(rest, talk))]
    diagnosis = await talk.diagnosis()
    if name == "show":
        from ..render.diagnosis import render

        return render(diagnosis, width=width, color=color)
    from ..render.heatmap import heatmap

    late = sorted({rank for scope in diagnosis.scopes for rank in scope.ranks})
    heat = diagnosis.measures.heat
    last = max((row.rank for row in diagnosis.measures.table), default=None)
    drawn = heatmap(heat, late, width=width - 2, color=color, last_rank=last) if heat else []
    return drawn or [Text("There are no steps to draw: a heat map needs traces or a table with a row a rank and step.")]


async def attached(paths: Sequence[str], talk: Talk, width: int) -> list[Text]:
    """Read, attach, and what is said to it."""
    from ..render.conversation import reply_lines

    if not paths:
        raise UsageError("/attach needs a path", remedy="For example: /attach traces/")
    try:
        with _ctrl_c_raises():
            data, label = read([os.path.expanduser(path) for path in paths])
    except KeyboardInterrupt:  # a loop does not outlive one that leaves a task
        raise InputError("reading was interrupted; nothing was attached") from None
    return list(reply_lines(await talk.attach(data, label), width))


@contextmanager
def _ctrl_c_raises() -> Iterator[None]:
    """While a task computes, Ctrl-C cannot wait for the loop."""
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)


async def exported(name: str, talk: Talk) -> str:
    """Write the diagnosis as JSON; where it was written. Raises UsageError where the file cannot be."""
    diagnosis = await talk.diagnosis()
    path = Path(name or f"latecomer-{talk.session[:4]}-{diagnosis.revision}.json").expanduser()
    write_file(path, diagnosis.model_dump_json(indent=2) + "\n")
    return f"Written to {path}."


def write_file(path: Path, text: str) -> None:
    """Raises UsageError where the file cannot be written."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path), remedy="Name another file.") from error


def in_a_line(error: LatecomerError) -> Text:
    """An error in one line."""
    where = f"{error.where}: " if error.where else ""
    return Text(f"error: {where}{error.what}{f'. {error.remedy}' if error.remedy else ''}", style="yellow")


def _split(rest: str) -> list[str]:
    try:
        return [part for part in shlex.split(rest) if part]
    except ValueError as error:
        raise InputError(f"the path cannot be read ({error})", where=rest, remedy="Close the quotation mark.") from None
