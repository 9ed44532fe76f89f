"""A real chat in a pseudo-terminal, each with a home of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect

TIMEOUT_S = 30
COMMAND = ("-m", "latecomer.cli.main")
PROMPT = r"\x1b\[\?2004h"
"""A prompt waits: it asks the terminal to mark what is pasted."""
TABLE = """rank | input | compute | arrival
0 | 20 | 180 | 200
1 | 20 | 180 | 200
2 | 140 | 180 | 320
3 | 20 | 180 | 200"""
"""The lesson's table (L31): ms."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def home(folder: Path, **more: str) -> dict[str, str]:
    """An environment in which sessions, history and settings lie below a folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LATECOMER_", "XDG_")) and k != "FORCE_COLOR"}
    places = {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "HOME")}
    return {**kept, **places, "TERM": "xterm", "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1", **more}


def latecomer(*args: str, env: dict[str, str], text: str = "") -> subprocess.CompletedProcess[str]:
    """A command without a terminal."""
    command = [sys.executable, *COMMAND, *args]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env=env)


class Terminal:
    """A chat as a person has it."""

    def __init__(self, *args: str, env: dict[str, str]) -> None:
        self.child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable, [*COMMAND, *args], env=env, encoding="utf-8", dimensions=(50, 100), timeout=TIMEOUT_S
        )

    def see(self, pattern: str) -> str:
        """Wait for a pattern; all that was shown up to its end, without escapes."""
        self.child.expect(pattern)
        return _ESCAPES.sub("", f"{self.child.before}{self.child.after}").replace("\r", "")

    def say(self, text: str, pattern: str) -> str:
        """Type a line, then see."""
        self.child.send(f"{text}\r")
        return self.see(pattern)

    def paste(self, text: str) -> None:
        """Paste, as terminals do it."""
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def leave(self) -> tuple[str, int]:
        """Type Ctrl-D at the next prompt; the last words and the exit status."""
        self.child.expect(PROMPT)
        self.child.sendeof()
        self.child.expect(pexpect.EOF)
        self.child.close()
        return _ESCAPES.sub("", str(self.child.before)).replace("\r", ""), self.child.exitstatus or 0


@contextmanager
def terminal(*args: str, env: dict[str, str]) -> Iterator[Terminal]:
    """A chat that is ended with the test."""
    opened = Terminal(*args, env=env)
    try:
        yield opened
    finally:
        opened.child.close(force=True)


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A service in a process of its own; its address."""
    command = [sys.executable, *COMMAND, "serve", "--port", "0"]
    process: subprocess.Popen[str] = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=home(folder))
    try:
        assert process.stderr is not None
        found = re.search(r"http://[\d.:]+", process.stderr.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0


def essence(document: dict[str, Any]) -> dict[str, Any]:
    """What equal evidence makes equal, wherever it was said."""
    return {
        name: document[name] for name in ("id", "verdict", "headline", "statement", "leading", "revise_if", "facts")
    }
