"""Resynchronising at damaged events: keep every complete event, mend what can be mended, count the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from .event import Event, decode_event, decode_events, decode_raws, lenient_event

EVENT_START = re.compile(rb'\{\s*"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s)"\s*:')
_GROUP = 64
_BARE = re.compile(rb"(?i)(?<=[:\[,\s])(?:[-+]?(?:inf|infinity|nan)|N/A|undefined|None)(?=\s*[,}\]])")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_QUOTE = re.compile(rb'(?<!\\)"')
_OPENS = re.compile(rb'(?:[\[{]|"\s*:|[\]}"\del]\s*,)\s*$')
_CLOSES = re.compile(rb'\s*(?:[,}\]]|:\s*[\[{"\d\-tfn])')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


@dataclass
class Damage:
    """What was mended and dropped, with the first error and where in the file it was (byte offset)."""

    repaired: int = 0
    dropped: int = 0
    first: str = ""
    offset: int = -1

    def blame(self, error: str, offset: int) -> None:
        """Remember the first error."""
        if not self.first:
            self.first, self.offset = error, offset


@dataclass
class Salvage:
    """Events found in a damaged text; `tail` is what followed the end of the array (None: no end seen)."""

    events: list[Event] = field(default_factory=list)
    tail: bytes | None = None


def salvage(text: bytes, offset: int, damage: Damage) -> Salvage:
    """Events of `text`, the damaged inside of a JSON array that begins at byte `offset` of the file.

    Works in groups of events so that one bad event costs one group, and decodes event by event only there.
    """
    found = Salvage()
    starts = [match.start() for match in EVENT_START.finditer(text)]
    if not starts:
        _no_events(text, offset, damage, found)
        return found
    starts.append(len(text))
    for first in range(0, len(starts) - 1, _GROUP):
        edges = starts[first : first + _GROUP + 1]
        group = text[edges[0] : edges[-1]].rstrip(b" \t\r\n,")
        try:
            found.events += decode_events(b"[" + group + b"]")
        except msgspec.DecodeError:
            _one_by_one(text, edges, offset, damage, found)
            if found.tail is not None:
                break
    return found


def _no_events(text: bytes, offset: int, damage: Damage, found: Salvage) -> None:
    rest = text.lstrip(b" \t\r\n,")
    if rest.startswith(b"]"):
        found.tail = rest[1:]
    elif rest:
        damage.dropped += 1
        damage.blame("an event is not a JSON object", offset)


def _one_by_one(text: bytes, edges: list[int], offset: int, damage: Damage, found: Salvage) -> None:
    index = 0
    while index < len(edges) - 1:
        begin = edges[index]
        for width in (1, 2, 3):
            end = edges[min(index + width, len(edges) - 1)]
            event, tail = _decode_one(text[begin:end].rstrip(b" \t\r\n,"))
            if event is not None or index + width >= len(edges) - 1:
                break
        else:
            width, end = 1, edges[index + 1]
            event, tail = None, None
        if event is None:
            width = 1
            event, tail = _mended(text[begin : edges[index + 1]].rstrip(b" \t\r\n,"), offset + begin, damage)
            end = edges[index + 1]
        if event is not None:
            found.events.append(event)
        if tail is not None:
            found.tail = tail + text[end:]
            return
        index += width


def _decode_one(segment: bytes) -> tuple[Event | None, bytes | None]:
    """An event, and the tail if the array ends behind it."""
    try:
        return decode_event(segment), None
    except msgspec.ValidationError:
        return lenient_event(segment), None
    except msgspec.DecodeError as error:
        ended = _TRAILING.search(str(error))
    if ended is None:
        return None, None
    cut = int(ended[1]) - 1
    rest = segment[cut:].lstrip(b" \t\r\n,")
    if not rest.startswith(b"]"):
        return None, None
    event, _ = _decode_one(segment[:cut].rstrip(b" \t\r\n,"))
    return event, rest[1:]


def _mended(segment: bytes, offset: int, damage: Damage) -> tuple[Event | None, bytes | None]:
    try:
        decode_event(segment)
    except msgspec.DecodeError as error:
        damage.blame(str(error), offset)
    for text in mends(segment):
        event, tail = _decode_one(text)
        if event is not None:
            damage.repaired += 1
            return event, tail
    damage.dropped += 1
    closed = re.search(rb"\}\s*,?\s*\]\s*(?:,\s*\"|\}\s*$)", segment)
    return None, segment[closed.start() + 1 :].lstrip(b" \t\r\n,")[1:] if closed else None


def mends(segment: bytes) -> list[bytes]:
    """Versions of a damaged event that may decode, least change first: bare words (inf, NaN, N/A) as null,
    control characters as blanks, bad UTF-8 replaced, stray quotes escaped."""
    plain = _BARE.sub(b"null", _CONTROL.sub(b" ", segment))
    text = plain.decode("utf-8", "replace").encode()
    return [text, _escape_quotes(text), re.sub(rb",\s*(?=[}\]])", b"", text)]


def _escape_quotes(text: bytes) -> bytes:
    """Escape quotes that neither open nor close a string, judged by their neighbours."""

    def judge(match: re.Match[bytes]) -> bytes:
        opens = _OPENS.search(text, max(match.start() - 40, 0), match.start())
        return b'"' if opens or _CLOSES.match(text, match.end()) else b'\\"'

    return _QUOTE.sub(judge, text)


def decode_items(array: bytes) -> list[Event]:
    """Events of a well-formed array in which some fields have unexpected types."""
    events: list[Event] = []
    for raw in decode_raws(array):
        try:
            events.append(decode_event(raw))
        except msgspec.DecodeError:
            if (event := lenient_event(raw)) is not None:
                events.append(event)
    return events
