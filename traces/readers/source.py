"""Opening evidence: a path or bytes, plain or gzip by content, as a stream of decompressed pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from isal import igzip_lib, isal_zlib

from ...knowledge.errors import InputError
from ..limits import DEFAULT_LIMITS, Limits

Progress = Callable[[int], None]
"""Called with the number of bytes just taken from the file as stored."""

HEAD_BYTES = 1 << 16
GZIP_MAGIC = b"\x1f\x8b"
_READ_BYTES = 1 << 18
_GZIP_WINDOW = 31
_BINARY_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x7fELF": "an executable",
    b"SQLite format 3\x00": "an SQLite database",
    b"PAR1": "a Parquet file",
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where evidence lies: `path` on disk, or `data` in memory; `name` is what messages call it."""

    name: str
    path: Path | None = None
    data: bytes = b""

    @classmethod
    def of(cls, where: Path | str | bytes, name: str = "") -> Source:
        """A source from a path, or from bytes (called `name`)."""
        if isinstance(where, bytes):
            return cls(name or "<bytes>", None, where)
        return cls(name or str(where), Path(where))

    def open(self) -> BinaryIO:
        """The stored bytes. Raises InputError if the file cannot be opened."""
        if self.path is None:
            return BytesIO(self.data)
        try:
            return self.path.open("rb")
        except OSError as error:
            raise InputError(
                f"cannot be opened: {error.strerror or error}", where=self.name, remedy="Check the path."
            ) from None

    def size(self) -> int:
        """Stored size in bytes (compressed size of a gzip file); 0 where the file is missing."""
        if self.path is None:
            return len(self.data)
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def head(self, count: int = HEAD_BYTES) -> bytes:
        """The first decompressed bytes, enough for a reader to recognise its format.

        Raises InputError where the file cannot be opened or its gzip data is damaged from the start.
        """
        stream = Stream(self, Limits(piece_bytes=count))
        try:
            head = next(iter(stream), b"")[:count]
        finally:
            stream.close()
        if not head and stream.trouble:
            raise InputError(f"cannot be read: {stream.trouble}", where=self.name, remedy="Copy the file again.")
        return head


class Stream:
    """Decompressed pieces of a source of about `limits.piece_bytes`, in order.

    After exhaustion `trouble` says in words what cut the stream short ("" if nothing did): a damaged or
    truncated gzip file yields what could be read. Raises InputError at a limit.
    """

    def __init__(self, source: Source, limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None) -> None:
        self.trouble = ""
        self.bytes_out = 0
        self._source = source
        self._limits = limits
        self._progress = progress
        self._file = source.open()
        self._bytes_in = 0

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def __iter__(self) -> Iterator[bytes]:
        try:
            first = self._read(_READ_BYTES)
            pieces = self._inflate(first) if first.startswith(GZIP_MAGIC) else self._plain(first)
            for piece in pieces:
                self._check(len(piece))
                yield piece
        finally:
            self.close()

    def _read(self, count: int) -> bytes:
        try:
            block = self._file.read(count)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", where=self._source.name) from None
        self._bytes_in += len(block)
        if block and self._progress:
            self._progress(len(block))
        return block

    def _plain(self, first: bytes) -> Iterator[bytes]:
        rest = max(self._limits.piece_bytes - len(first), 0)
        piece = first + self._read(rest) if rest else first
        while piece:
            yield piece
            piece = self._read(self._limits.piece_bytes)

    def _inflate(self, first: bytes) -> Iterator[bytes]:
        parts: list[bytes] = []
        held = 0
        for part in self._inflated(first):
            parts.append(part)
            held += len(part)
            if held >= self._limits.piece_bytes:
                yield b"".join(parts)
                parts, held = [], 0
        if parts:
            yield b"".join(parts)

    def _inflated(self, block: bytes) -> Iterator[bytes]:
        """Parts of at most 1 MiB, over all members of the gzip file."""
        engine = isal_zlib.decompressobj(_GZIP_WINDOW)
        while block:
            try:
                part = engine.decompress(block, 1 << 20)
            except igzip_lib.IsalError as error:  # pyright: ignore[reportGeneralTypeIssues]  # incomplete stub
                self.trouble = f"the gzip data is damaged after {self._bytes_in} compressed bytes ({error})"
                return
            if part:
                yield part
            if engine.eof:
                block = engine.unused_data.lstrip(b"\0") or self._read(_READ_BYTES)
                engine = isal_zlib.decompressobj(_GZIP_WINDOW)
            else:
                block = engine.unconsumed_tail or self._read(_READ_BYTES)
                if not block:
                    self.trouble = "the gzip file ends early (a truncated copy, or a writer that was killed)"

    def _check(self, count: int) -> None:
        self.bytes_out += count
        limits = self._limits
        if self.bytes_out > limits.max_bytes:
            raise InputError(
                f"is larger than {limits.max_bytes:,} bytes when decompressed",
                where=self._source.name,
                remedy="Profile fewer steps, or raise the limit max_bytes.",
            )
        ratio = self.bytes_out / max(self._bytes_in, 1)
        if self.bytes_out > limits.ratio_floor_bytes and ratio > limits.max_ratio:
            raise InputError(
                f"expands {ratio:,.0f} times when decompressed; a trace expands 5 to 30 times",
                where=self._source.name,
                remedy="Refused as a decompression bomb; check where the file came from.",
            )


def describe_binary(head: bytes) -> str:
    """What a binary file seems to be ("a PNG image"), or "" where `head` may be text."""
    for magic, what in _BINARY_MAGIC.items():
        if head.startswith(magic):
            return what
    return "binary data" if b"\0" in head[:4096] else ""


def require_text(head: bytes, source: Source) -> None:
    """Raise InputError where a source is empty or not text, naming what it seems to be."""
    if not head.strip():
        raise InputError("is empty", where=source.name, remedy="Give a profiler trace, a table or a log.")
    if what := describe_binary(head):
        raise InputError(
            f"is {what}, not a trace, table or log", where=source.name, remedy="Remove it from the evidence."
        )
