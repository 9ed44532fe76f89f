"""Cutting a trace into batches of events, so that never more than a few MiB of it are decoded at once.

Text is cut behind the last complete event of a piece; the decoder itself proves the cut right. Where it
refuses, the piece goes to `repair.salvage`, which resynchronises event by event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ....knowledge.errors import InputError
from ...limits import Limits
from ..source import Stream
from .event import Event, decode_events
from .repair import Damage, decode_items, mends, salvage

_EVENTS_OPEN = re.compile(rb'"traceEvents"\s*:\s*\[')
_CUT = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s)"\s*:)')
_END = re.compile(rb"\}\s*,?\s*\](?=\s*(?:,\s*\"|\}|$))")
_TAIL_WINDOW = 1 << 14


class EventFeed:
    """Batches of the events of one trace; `header` and `damage` are complete once all were taken.

    `truncated` is true where the file stops before the end of its event array.
    """

    def __init__(self, stream: Stream, limits: Limits, name: str) -> None:
        self.damage = Damage()
        self.truncated = False
        self.header: dict[str, Any] = {}
        self.header_damaged = False
        self._name = name
        self._limits = limits
        self._pieces = iter(stream)
        self._done = 0

    def __iter__(self) -> Iterator[list[Event]]:
        before, text = self._open()
        self._keep(before)
        tail: bytes | None = None
        for piece in self._pieces:
            end, resume = _last_cut(text)
            if resume:
                batch, tail = self._decode(memoryview(text)[:end])
                yield batch
                self._done += resume
                if tail is not None:
                    text = tail + text[end:] + piece
                    break
            elif len(text) > self._limits.max_header_bytes:
                raise self._unusable("holds no event that ends within the size limit")
            text = text[resume:] + piece
        if tail is None:
            batch, tail = self._decode_last(text)
            self.truncated = tail is None
            yield batch
            self._keep(b"{" + (tail or b"}").lstrip(b" \t\r\n,"))
        else:
            self._keep(b"{" + self._rest(text).lstrip(b" \t\r\n,"))

    def _open(self) -> tuple[bytes, bytes]:
        """What stands before the events (as an object) and the first text of the events."""
        text = b""
        for piece in self._pieces:
            text = (text + piece).lstrip(b"\xef\xbb\xbf \t\r\n") if not text else text + piece
            if text.startswith(b"["):
                return b"{}", text[1:]
            if found := _EVENTS_OPEN.search(text):
                self._done = found.end()
                return text[: found.start()].rstrip(b" \t\r\n,") + b"}", text[found.end() :]
            if len(text) > self._limits.max_header_bytes:
                break
        raise self._unusable("holds no traceEvents, so it is no profiler trace")

    def _unusable(self, what: str) -> InputError:
        return InputError(what, where=self._name, remedy="Export the trace again with torch.profiler.")

    def _rest(self, text: bytes) -> bytes:
        for piece in self._pieces:
            text += piece
            if len(text) > self._limits.max_header_bytes:
                self.header_damaged = True
                break
        return text

    def _decode(self, text: memoryview) -> tuple[list[Event], bytes | None]:
        """Events of a piece, and what follows the array where it ends in this piece."""
        array = b"".join((b"[", text, b"]"))
        try:
            return decode_events(array), None
        except msgspec.ValidationError:
            return decode_items(array), None
        except msgspec.DecodeError:
            return self._salvaged(bytes(text))

    def _decode_last(self, text: bytes) -> tuple[list[Event], bytes | None]:
        """Events of the last piece, and what follows the array (None: its end is missing)."""
        if found := _END.search(text):
            view = memoryview(text)[: found.start() + 1]
            try:
                return decode_events(b"".join((b"[", view, b"]"))), text[found.end() :]
            except msgspec.DecodeError:
                pass
        return self._salvaged(text)

    def _salvaged(self, text: bytes) -> tuple[list[Event], bytes | None]:
        found = salvage(text, self._done, self.damage)
        return found.events, found.tail

    def _keep(self, text: bytes) -> None:
        """Add the top-level entries of a piece of metadata."""
        for version in (text, *mends(text)):
            try:
                entries = msgspec.json.decode(version)
            except msgspec.DecodeError:
                continue
            if isinstance(entries, dict):
                self.header |= entries
            return
        self.header_damaged = True
        self.header |= _entries(text)


def _last_cut(text: bytes) -> tuple[int, int]:
    """Where the last complete event of `text` ends and where the next begins; 0, 0 where there is none."""
    window = _TAIL_WINDOW
    while True:
        begin = max(len(text) - window, 0)
        last = (0, 0)
        for match in _CUT.finditer(text, begin):
            last = match.start() + 1, match.end()
        if last[1] or begin == 0:
            return last
        window *= 8


def _entries(text: bytes) -> dict[str, Any]:
    """Single entries of damaged metadata that decode by themselves: the rank and the base of the clock."""
    found: dict[str, Any] = {}
    for key, pattern in (
        ("distributedInfo", rb'"distributedInfo"\s*:\s*(\{.*?\}\s*\]\s*\}|\{[^{}]*\})'),
        ("baseTimeNanoseconds", rb'"baseTimeNanoseconds"\s*:\s*(\d+)'),
        ("host_name", rb'"host_name"\s*:\s*("[^"\\]*")'),
    ):
        if match := re.search(pattern, text, re.DOTALL):
            try:
                found[key] = msgspec.json.decode(match[1])
            except msgspec.DecodeError:
                continue
    return found
