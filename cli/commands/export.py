"""`latecomer export`: the diagnosis of a session, or its whole log."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..chat.connect import Connection
from ..exit_codes import Exit

if TYPE_CHECKING:
    from ...service.client.asynchronous import AsyncClient

PAGE = 500
WIDTH = 100


def run(session: str, *, output: str, file: str, server: str, database: str) -> Exit:
    """Write to the file, or to stdout. Raises LatecomerError."""
    text = asyncio.run(_text(session, output, server, database))
    if not file or file == "-":
        sys.stdout.write(text)
        return Exit.DIAGNOSIS
    from ..chat.here import write_file

    write_file(Path(file).expanduser(), text)
    return Exit.DIAGNOSIS


async def _text(session: str, output: str, server: str, database: str) -> str:
    async with Connection(server, database) as connection:
        client = await connection.client()
        found = (await client.find_session(session)).id
        if output == "events":
            return await _events(client, found)
        diagnosis = await client.diagnosis(found)
        if output == "json":
            return diagnosis.model_dump_json(indent=2) + "\n"
        from ..render.diagnosis import render

        return "".join(f"{line.plain.rstrip()}\n" for line in render(diagnosis, width=WIDTH, color=False))


async def _events(client: AsyncClient, session: str) -> str:
    """All events, a JSON document a line."""
    lines: list[str] = []
    after = 0
    while page := await client.events(session, after=after, limit=PAGE):
        lines += [json.dumps(event.model_dump(mode="json"), ensure_ascii=False) + "\n" for event in page]
        after = page[-1].seq
    return "".join(lines)
