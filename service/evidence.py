"""What a client may ask about evidence before it is read."""

from __future__ import annotations

from collections.abc import Sequence

from ..traces.job import find_files


def size_of(paths: Sequence[str]) -> tuple[int, int]:
    """Stored bytes and number of the files that the paths name. Raises InputError where there are none."""
    files = find_files(paths)
    return sum(file.stat().st_size for file in files), len(files)
