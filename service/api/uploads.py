"""Files of a multipart request, written to a folder on disk as they come, within limits; the folder goes afterwards."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import HTTPException, Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from ...knowledge.errors import InputError
from ...traces.codec import encode
from ...traces.job import read_job
from .limits import Limits

MOST_READERS = 4
"""Processes that read a large upload."""
LONGEST_NAME = 120
UNSAFE = re.compile(r"[^\w.\- +=@]")


@asynccontextmanager
async def received(request: Request, limits: Limits) -> AsyncIterator[tuple[Sequence[Path], Path]]:
    """Paths of the uploaded files, in the order they came, and the folder they are in.

    HTTPException 413 or 422 for what cannot be taken.
    """
    boundary = _boundary(request)
    folder = Path(tempfile.mkdtemp(prefix="latecomer-upload-"))
    upload = _Upload(folder, boundary, limits)
    try:
        async for chunk in request.stream():
            await asyncio.to_thread(upload.feed, chunk)
        yield upload.finished(), folder
    finally:
        upload.close()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def tables_of(files: Sequence[Path], folder: Path) -> bytes:
    """Encoded tables of uploaded files, which are called what they were uploaded as: the folder differs each time.
    Raises InputError."""
    place = f"{folder}{os.sep}"
    try:
        tables = read_job(files, workers=min(MOST_READERS, os.cpu_count() or 1))
    except InputError as error:
        what, where, remedy = (part.replace(place, "") for part in (error.what, error.where, error.remedy))
        raise InputError(what, where=where, remedy=remedy) from error
    parts = {
        name: tuple(_renamed(part, place) for part in getattr(tables, name))
        for name in ("sources", "report", "events", "readings")
    }
    return encode(replace(tables, **parts))


def _renamed(part: Any, place: str) -> Any:
    if isinstance(part, str):
        return part.replace(place, "")
    texts = {one.name: getattr(part, one.name) for one in fields(part)}
    return replace(part, **{name: _renamed(text, place) for name, text in texts.items() if isinstance(text, str)})


def safe_name(name: str, taken: int) -> str:
    """Last part of a name without characters that mean something to a file system."""
    base = UNSAFE.sub("_", re.split(r"[/\\]", name)[-1]).strip(". ")
    stem, dot, endings = base[-LONGEST_NAME:].partition(".")
    return f"{stem or 'file'}{dot}{endings}" if base else f"file-{taken + 1}"


def _boundary(request: Request) -> bytes:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 200:
        raise HTTPException(422, "the multipart body names no boundary")
    return boundary


class _Upload:
    """Parses a body chunk by chunk; parts with a file name become files, others are passed over."""

    def __init__(self, folder: Path, boundary: bytes, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._files: list[Path] = []
        self._open: BinaryIO | None = None
        self._written = 0
        self._field = self._value = b""
        self._disposition = b""
        self._done = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_part_data": self._data,
                "on_part_end": self.close,
                "on_end": self._end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except MultipartParseError as error:
            raise HTTPException(422, "the multipart body is malformed") from error

    def finished(self) -> Sequence[Path]:
        """The files. HTTPException where the body ended early or holds none."""
        if not self._done:
            raise HTTPException(422, "the multipart body ends early")
        if not self._files:
            raise HTTPException(422, "the multipart body holds no file")
        return self._files

    def close(self) -> None:
        if self._open:
            self._open.close()
            self._open = None

    def _begin(self) -> None:
        self._field = self._value = self._disposition = b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"filename" not in options:
            return
        if len(self._files) >= self._limits.files:
            raise HTTPException(413, f"more than {self._limits.files} files in one upload")
        path = self._place(safe_name(options[b"filename"].decode("utf-8", "replace"), len(self._files)))
        self._files.append(path)
        self._open = path.open("xb")
        self._written = 0

    def _place(self, name: str) -> Path:
        """A path of this name; in a numbered folder where the name came before, as in rank0/trace.json."""
        path = self._folder / name
        if path.exists():
            path = self._folder / f"~{len(self._files)}" / name  # no upload is called so
            path.parent.mkdir()
        return path

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._open is None:
            return
        self._written += end - start
        if self._written > self._limits.file:
            raise HTTPException(413, f"{self._files[-1].name} is longer than {self._limits.file} bytes")
        self._open.write(data[start:end])

    def _end(self) -> None:
        self._done = True
