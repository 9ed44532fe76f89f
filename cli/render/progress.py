"""Progress of reading on stderr: ranks and bytes, only where a person watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Progress = Callable[[Path, int], None]


@contextmanager
def reading(total_bytes: int, files: int) -> Iterator[Progress | None]:
    """A callback that draws bytes and files read; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[seen]} of {task.fields[files]} files"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("reading", total=total_bytes or None, seen=0, files=files)
        seen: set[Path] = set()

        def advance(file: Path, count: int) -> None:
            seen.add(file)
            drawn.update(task, advance=count, seen=len(seen))

        yield advance
