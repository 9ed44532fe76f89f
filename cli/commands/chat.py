"""`latecomer chat`: evidence named on the command line, then the talk; with a person or with a file of answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...knowledge.errors import InputError, UsageError
from ..chat.connect import Connection
from ..exit_codes import Exit

STDIN = "-"
HINT = "Give --answers FILE, or --answers - to read the messages from stdin."


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    paths: Sequence[str] = field(default=())
    title: str = ""
    answers: str = ""
    session: str = ""
    server: str = ""
    database: str = ""
    output: str = "text"
    no_color: bool = False


def run(options: Options) -> Exit:
    """Chat. Raises LatecomerError."""
    if options.answers:
        return _piped(options)
    needs_terminal()
    if options.output != "text":
        raise UsageError(f"--format {options.output} goes with --answers", remedy="In the chat: /export FILE.")
    return _with_a_person(options)


def needs_terminal() -> None:
    """Raises UsageError where nobody can type."""
    if not sys.stdin.isatty():
        raise UsageError("stdin is no terminal", remedy=HINT)


def _with_a_person(options: Options) -> Exit:
    from ..chat.here import read
    from ..chat.interactive import Chat, greet
    from ..chat.interactive import run as run_loop
    from ..chat.talk import Talk

    tables = read(options.paths) if options.paths else None

    async def chat() -> Exit:
        async with Connection(options.server, options.database) as connection:
            talk = Talk(connection, title=options.title, session=await _found(connection, options.session))
            here = Chat(talk, connection, no_color=options.no_color)
            if tables is None:
                greet()
            else:
                await here.attach(*tables)
            return await here.run()

    return run_loop(chat)


async def _found(connection: Connection, session: str) -> str:
    return (await (await connection.client()).find_session(session)).id if session else ""


def _piped(options: Options) -> Exit:
    from ..chat import piped
    from ..chat.here import read

    text = answers_in(options.answers)
    tables = read(options.paths) if options.paths else None
    return piped.run(options, text, tables)


def answers_in(name: str) -> str:
    """Text of the file of answers, or of stdin. Raises InputError."""
    if name == STDIN:
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    try:
        return Path(name).expanduser().read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=name, remedy="Name a text file, or -.") from error
