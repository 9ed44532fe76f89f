"""The line that a person types: history, completion on Tab, pasted lines kept together, the standing below."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import (
    CompleteEvent,
    Completer,
    Completion,
    PathCompleter,
    get_common_complete_suffix,
)
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import Style

from ...service.conversation.commands import COMMANDS
from .talk import Talk

MARK = "> "
MOST_RANKS = 64
LONGEST_BESIDE = 24
_RANK = re.compile(r"\branks? (?:\d+(?:, ?| and |-))*(\d*)$", re.IGNORECASE)
_PATH = re.compile(r"/(?:attach|export) +(?:.* )?(\S*)$")


class ChatCompleter(Completer):
    """Commands after a slash, paths after those that take them, ranks after `rank`, else the choices of a question."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if (path := _PATH.match(before)) is not None:
            yield from self._paths.get_completions(Document(path[1], len(path[1])), complete_event)
        elif before.startswith("/") and " " not in before:
            yield from (_completion(f"/{c.name}", before) for c in COMMANDS if f"/{c.name}".startswith(before))
        elif (rank := _RANK.search(before)) is not None:
            numbers = (str(n) for n in range(min(self._talk.ranks, MOST_RANKS)))
            yield from (_completion(number, rank[1]) for number in numbers if number.startswith(rank[1]))
        else:
            yield from self._choices(before)

    def _choices(self, before: str) -> Iterator[Completion]:
        question = self._talk.question
        for choice in question.answers if question else ():
            if choice.text.lower().startswith(before.lower()):
                yield _completion(choice.text, before)


def prompt_session(talk: Talk, standing: Callable[[], str]) -> PromptSession[str]:
    """A prompt over a session; on the terminal even where stdout is none."""
    session: PromptSession[str] = PromptSession(
        [("class:prompt", MARK)],
        history=_history(),
        prompt_continuation=" " * len(MARK),
        completer=ChatCompleter(talk),
        reserve_space_for_menu=0,
        complete_while_typing=False,
        enable_open_in_editor=False,
        key_bindings=_keys(),
        style=Style.from_dict({"": "", "prompt": "ansicyan bold", "bottom-toolbar": "noreverse fg:ansibrightblack"}),
        output=create_output(always_prefer_tty=True),
    )

    def below() -> Any:
        return standing()

    def shown() -> None:
        session.bottom_toolbar = below if standing() else None

    session.app.before_render += lambda _: shown()
    return session


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        _complete(event.current_buffer)

    return keys


def _complete(buffer: Buffer) -> None:
    """Complete as shells do: as far as it is clear, else list what is possible above the line."""
    found = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
    common = get_common_complete_suffix(buffer.document, found)
    if len(found) == 1:
        buffer.apply_completion(found[0])
    elif common:
        buffer.insert_text(common)
    elif found:
        names = [one.display_text for one in found]
        apart = "\n" if max(map(len, names)) > LONGEST_BESIDE else "  "
        run_in_terminal(lambda: print(apart.join(names)))


def _history() -> History:
    """Lines of earlier chats, in the user's state folder; in memory where that cannot be written."""
    try:
        path = user_state_path("latecomer") / "history"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def _completion(text: str, before: str) -> Completion:
    return Completion(text, start_position=-len(before))
