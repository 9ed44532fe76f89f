"""The chat without a person: messages from a file or a pipe, replies on stdout, and the diagnosis at the end."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from ...knowledge.errors import InputError, LatecomerError, UnreachableError
from ..exit_codes import Exit
from ..render.screen import columns, write
from .connect import Connection
from .here import carried_out, command_of, in_a_line
from .talk import Talk

if TYPE_CHECKING:
    from ..commands.chat import Options

_FENCE = re.compile(r"^\s*```.*$")


def messages(text: str) -> Iterator[str]:
    """The messages of a file: a block where blank lines part it, else a line. Lines between fences are one, rows of a
    table or a log stay together, and a command stands alone."""
    blocks = list(_blocks(text))
    parted = len(blocks) > 1 and "" in (line.strip() for line in text.strip().splitlines())
    for lines, fenced in blocks:
        if fenced:
            yield "\n".join(lines)
        else:
            yield from _in_block(lines, parted)


def _blocks(text: str) -> Iterator[tuple[list[str], bool]]:
    kept: list[str] = []
    fenced = False
    for line in text.splitlines():
        ends = bool(_FENCE.match(line)) or (not fenced and not line.strip())
        if not ends:
            kept.append(line)
            continue
        if kept:
            yield kept, fenced
        kept = []
        fenced ^= bool(_FENCE.match(line))
    if kept:
        yield kept, fenced


def _in_block(lines: list[str], parted: bool) -> Iterator[str]:
    kept: list[str] = []
    for line in lines:
        if not line.startswith("/"):
            kept.append(line)
            continue
        yield from _spoken(kept, parted)
        yield line
        kept = []
    yield from _spoken(kept, parted)


def _spoken(lines: list[str], parted: bool) -> Iterator[str]:
    if len(lines) < 2 or parted:
        yield from ["\n".join(lines)] if lines else []
        return
    from ...service.conversation.understanding.text import pieces

    rows = {
        line: n for n, p in enumerate(pieces("\n".join(lines))) if p.kind != "sentence" for line in p.text.split("\n")
    }
    kept: list[str] = []
    last = None
    for line in lines:
        piece = rows.get(line)
        if kept and (piece is None or piece != last):
            yield "\n".join(kept)
            kept = []
        kept.append(line)
        last = piece
    yield "\n".join(kept)


def run(options: Options, text: str, tables: tuple[bytes, str] | None) -> Exit:
    """Say all messages, write the replies, end with the diagnosis. Raises LatecomerError."""
    said = list(messages(text))
    if not said and tables is None:
        raise InputError("no message was given", where=options.answers, remedy="Write a message a line.")
    return asyncio.run(_talked(options, said, tables))


async def _talked(options: Options, said: list[str], tables: tuple[bytes, str] | None) -> Exit:
    from ..render.conversation import reply_lines

    out = sys.stdout if options.output == "text" else sys.stderr
    width = columns(out)

    def show(lines: list[Text]) -> None:
        write([*lines, Text()], out, color=False, width=width)

    async with Connection(options.server, options.database) as connection:
        client = await connection.client()
        session = (await client.find_session(options.session)).id if options.session else ""
        talk = Talk(connection, title=options.title, session=session)
        if tables is not None:
            show(list(reply_lines(await talk.attach(*tables), width)))
        for text in said:
            command = command_of(text)
            if command and command[0] == "quit":
                break
            try:
                if command:
                    show(await carried_out(*command, talk, width=width, color=False))
                else:
                    show(list(reply_lines(await talk.say(text), width)))
            except UnreachableError:
                raise
            except LatecomerError as error:
                write([in_a_line(error)], sys.stderr, color=False, width=width)
        return await _ended(talk, options)


async def _ended(talk: Talk, options: Options) -> Exit:
    from ..commands.diagnose import status
    from ..render.conversation import open_questions
    from ..render.diagnosis import render

    diagnosis = await talk.diagnosis()
    if options.output == "json":
        sys.stdout.write(diagnosis.model_dump_json(indent=2) + "\n")
    else:
        width = columns(sys.stdout)
        write(render(diagnosis, width=width, color=False), sys.stdout, color=False, width=width)
    ended = status(diagnosis)
    if ended == Exit.INCONCLUSIVE:
        width, questions = columns(sys.stderr), await talk.questions()
        head = Text("Open questions:" if questions else "No question is open; the diagnosis says what to run next.")
        write([head, *open_questions(questions, width)], sys.stderr, color=False, width=width)
    return ended
