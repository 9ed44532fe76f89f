"""Progress of reading on stderr: ranks and bytes, only where a person watches."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

Progress = Callable[[Path, int], None]
RANK = re.compile(r"rank[-_.]?(\d+)", re.IGNORECASE)


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
        TextColumn("{task.fields[seen]} of {task.fields[files]} files{task.fields[ranks]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("reading", total=total_bytes or None, seen=0, files=files, ranks="")
        seen: set[Path] = set()

        def advance(file: Path, count: int) -> None:
            seen.add(file)
            drawn.update(task, advance=count, seen=len(seen), ranks=ranks_in(seen))

        yield advance


def ranks_in(files: Iterable[Path]) -> str:
    """`, 4 ranks` from the names of files; empty where no name holds a rank."""
    numbers = {int(found[1]) for file in files if (found := RANK.search(file.name))}
    return f", {len(numbers)} rank{'' if len(numbers) == 1 else 's'}" if numbers else ""
