"""Lines of text onto a stream: as wide as it is, in colour only where a person watches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import TextIO

from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 100
NARROWEST, WIDEST = 60, 120


def colored(stream: TextIO, no_color: bool = False) -> bool:
    """Whether to colour: never against NO_COLOR, a dumb terminal or a pipe."""
    plain = no_color or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return not plain and (stream.isatty() or bool(os.environ.get("FORCE_COLOR")))


def columns(stream: TextIO, width: int | None = None) -> int:
    """Columns to fill: those asked for, else the terminal's within reason."""
    found = width or (min(WIDEST, shutil.get_terminal_size().columns) if stream.isatty() else WIDTH_WITHOUT_TERMINAL)
    return max(NARROWEST, found)


def write(lines: Iterable[Text], stream: TextIO, *, color: bool, width: int) -> None:
    """Write the lines; they are not wrapped again."""
    if not color:
        stream.write("".join(f"{line.plain.rstrip()}\n" for line in lines))
        stream.flush()
        return
    from rich.console import Console

    console = Console(file=stream, force_terminal=True, width=width, highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)
