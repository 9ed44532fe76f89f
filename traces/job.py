"""Files of one job -> Tables. Finds the files, chooses the reader by content, reads, merges.

A folder may hold more than is read (dumps, logs, notes): what is left out is reported, never silently dropped.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..knowledge.errors import InputError
from .limits import DEFAULT_LIMITS, Limits
from .merge import merge
from .readers.parallel import read_all
from .readers.registry import read_file
from .tables import Note, Tables

Progress = Callable[[Path, int], None]
"""Called with a file and how many of its stored bytes were read since the last call."""

MAX_FILES = 20_000
SELDOM_EVIDENCE = ("truth.json", "readme", "license")


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """Files of the given files, folders (two levels deep) and globs, in name order. Raises InputError where there
    is nothing."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = sorted(
                p for p in (*path.glob("*"), *path.glob("*/*")) if not p.is_dir() and not p.name.startswith(".")
            )
            if not inside:
                raise InputError(
                    "the folder holds no files", where=str(path), remedy="Give the folder with the traces."
                )
            found.extend(inside)
        elif path.exists():
            found.append(path)
        else:
            matches = sorted(glob.glob(os.path.expanduser(str(given))))
            if not matches:
                raise InputError("there is no such file or folder", where=str(given), remedy="Check the path.")
            found.extend(Path(m) for m in matches if not Path(m).is_dir())
    unique = sorted(dict.fromkeys(found))
    if len(unique) > MAX_FILES:
        raise InputError(f"{len(unique)} files are more than {MAX_FILES}", where=str(paths[0]))
    return unique


def read_job(
    paths: Sequence[str | Path],
    *,
    limits: Limits = DEFAULT_LIMITS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Tables:
    """Read and merge all files of one job.

    Raises InputError where nothing can be used (the first file's error, with the count of the others), or where
    the files are of several jobs. A file that cannot be used beside others that can is a note of the report.
    """
    files = find_files(paths)
    explicit = len(files) == len(paths)
    results = read_all(
        files, workers=workers or os.cpu_count() or 1, limits=limits, progress=progress, reader=read_file
    )
    parts: list[Tables] = []
    notes: list[Note] = []
    errors: list[InputError] = []
    for file, result in zip(files, results, strict=True):
        if isinstance(result, Tables):
            parts.append(result)
        else:
            errors.append(result)
            notes.append(_left_out(file, result, explicit=explicit))
    if not parts:
        more = f" (and {len(errors) - 1} more files)" if len(errors) > 1 else ""
        first = errors[0]
        raise InputError(f"{first.what}{more}", where=first.where, remedy=first.remedy)
    return merge(parts).with_notes(*notes)


def _left_out(file: Path, error: InputError, *, explicit: bool) -> Note:
    known = any(mark in file.name.lower() for mark in SELDOM_EVIDENCE)
    looks_like_trace = (
        explicit or ".trace" in file.name or "rank" in file.name and file.suffix in (".json", ".gz", ".csv")
    )
    other_kind = any(mark in file.name for mark in (".fr.", ".fr_", ".error.", ".log"))
    weakens = looks_like_trace and not known and not other_kind
    return Note(
        "file-not-used", "weakens" if weakens else "info", error.what, file=str(file), weakens="what that file holds"
    )
