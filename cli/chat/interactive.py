"""The chat with a person: a line, a reply, until Ctrl-D or /quit. The session is kept."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from prompt_toolkit import PromptSession
from rich.text import Text

from ...knowledge.errors import LatecomerError, UnreachableError
from ..exit_codes import Exit
from ..render.screen import colored, columns, write
from .connect import Connection
from .here import attached, carried_out, command_of, in_a_line, paths_in
from .prompt import prompt_session
from .talk import Talk

GREETING = (
    "Say what is known of the slow or hung job, paste a table or a log, or give a path. /help lists the commands."
)
PATIENCE_S = 0.5
WAITING = "..."
T = TypeVar("T")


class Chat:
    """A person at a terminal and one session."""

    def __init__(self, talk: Talk, connection: Connection, *, no_color: bool) -> None:
        self.talk = talk
        self._connection = connection
        self._color = colored(sys.stdout, no_color)
        self._prompt: PromptSession[str] | None = None
        self._standing = ""

    async def run(self) -> Exit:
        """Talk until the person leaves. Raises what makes it impossible to go on."""
        self._prompt = prompt_session(self.talk, lambda: self._standing)
        self._connection.opening().add_done_callback(self._opened)
        try:
            while (text := await self._typed(self._prompt)) is not None:
                await self.turn(text)
            await self.leave()
        except UnreachableError:
            if self.talk.session:
                print(f"What was said so far is kept there: {program()} resume {self.talk.session}", file=sys.stderr)
            raise
        return Exit.DIAGNOSIS

    async def _typed(self, prompt: PromptSession[str]) -> str | None:
        """The next message; None where the person leaves. Ctrl-C begins a new line. Raises what kept the service from
        opening."""
        while True:
            opening = self._connection.opening()
            if opening.done():
                opening.result()
            try:
                text = await prompt.prompt_async()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None
            if text.strip() in ("/quit", "/exit"):
                return None
            if text.strip():
                return text

    async def attach(self, data: bytes, label: str) -> None:
        """What is said to evidence named on the command line."""
        from ..render.conversation import reply_lines

        reply = await self.wait(self.talk.attach(data, label))
        self.show(list(reply_lines(reply, columns(sys.stdout))))

    async def wait(self, work: Awaitable[T]) -> T:
        """Wait for what the chat cannot begin without. Raises KeyboardInterrupt at Ctrl-C."""
        try:
            return await self._interruptible(work)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    async def turn(self, text: str) -> None:
        """One message: carried out here, or said. An error of it is a line; a service that is gone ends the chat."""
        try:
            self.show(await self._interruptible(self._lines(text)))
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.show([Text("Interrupted. /evidence shows what was taken in.", style="yellow")])
        except UnreachableError:
            raise
        except LatecomerError as error:
            self.show([in_a_line(error)])

    async def _lines(self, text: str) -> list[Text]:
        width = columns(sys.stdout)
        command = command_of(text)
        if command is not None:
            return await carried_out(*command, self.talk, width=width, color=self._color)
        paths = paths_in(text)
        if paths:
            return await attached(paths, self.talk, width)
        reply = await self.talk.say(text)
        from ..render.conversation import reply_lines

        return list(reply_lines(reply, width))

    def show(self, lines: Sequence[Text]) -> None:
        """Write lines, and keep the standing for the line below the prompt."""
        write(lines, sys.stdout, color=self._color, width=columns(sys.stdout))
        if self.talk.reply is not None:
            from ..render.conversation import standing

            self._standing = standing(self.talk.reply.diagnosis)

    async def leave(self) -> None:
        """Say how to come back."""
        if self.talk.session:
            print(f"The session is kept: {program()} resume {await self.talk.prefix()}", file=sys.stderr)

    async def _interruptible(self, work: Awaitable[T]) -> T:
        """Wait for work; Ctrl-C gives it up and leaves the chat standing. What takes long shows that it lives."""
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        sign = loop.call_later(PATIENCE_S, _sign, WAITING)
        try:
            return await task
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            sign.cancel()
            if loop.time() > sign.when():
                _sign(" " * len(WAITING))

    def _opened(self, opening: asyncio.Task[object]) -> None:
        """End the prompt where there is nobody to talk to."""
        prompt = self._prompt
        if opening.cancelled() or prompt is None:
            return
        error = opening.exception()
        if error is not None and prompt.app.is_running:
            prompt.app.exit(exception=error)


def run(action: Callable[[], Awaitable[Exit]]) -> Exit:
    """Run the chat in a loop whose Ctrl-C is Python's own between the waits."""

    async def started() -> Exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return await action()

    return asyncio.run(started())


def program() -> str:
    """What to type to run this program again."""
    called = sys.argv[0]
    if os.path.basename(called) != "latecomer" or shutil.which("latecomer"):
        return "latecomer"
    return min(called, os.path.relpath(called), key=len)


def _sign(text: str) -> None:
    """Text that the next line overwrites, where a person watches."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print(f"\r{text}\r", end="", file=sys.stderr, flush=True)


def greet() -> None:
    """What to do, once, in one line."""
    if os.environ.get("TERM") != "dumb":
        print(GREETING)
