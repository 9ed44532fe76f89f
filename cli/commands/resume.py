"""`latecomer resume`: where a session stands, then the talk goes on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.text import Text

from ...knowledge.errors import UsageError
from ..chat.connect import Connection
from ..chat.talk import Talk
from ..exit_codes import Exit
from ..render.screen import columns
from .chat import needs_terminal

if TYPE_CHECKING:
    from ...service.client.asynchronous import AsyncClient
    from ...service.diagnosis.schemas import QuestionDocument


def run(session: str, *, server: str, database: str, no_color: bool) -> Exit:
    """Resume the latest session, or the one whose id begins so. Raises LatecomerError."""
    needs_terminal()
    from ..chat.interactive import Chat
    from ..chat.interactive import run as run_loop

    async def chat() -> Exit:
        async with Connection(server, database) as connection:
            talk = Talk(connection)
            here = Chat(talk, connection, no_color=no_color)
            here.show(await here.wait(recap(connection, talk, session)))
            return await here.run()

    return run_loop(chat)


async def recap(connection: Connection, talk: Talk, session: str) -> list[Text]:
    """Find the session; what it is and where it stands. Raises UsageError where none or several begin so."""
    client = await connection.client()
    document = await client.find_session(session)
    talk.session = document.id
    last = await client.events(talk.session, after=max(0, document.revision - 1))
    talk.question = await _open_question(client, talk.session)
    from ..render.conversation import recap_lines

    return list(recap_lines(document, last[-1].turn if last else 0, talk.question, columns(sys.stdout)))


async def _open_question(client: AsyncClient, session: str) -> QuestionDocument | None:
    try:
        return (await client.why(session)).question
    except UsageError:
        return None
