"""The parts of a Chrome trace event that are used, decoded by msgspec; arguments stay undecoded until wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ...tables import Ints


class Event(msgspec.Struct, gc=False):
    """One trace event; `ts` and `dur` in us. `args` is undecoded JSON."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: float | None = None
    dur: float | None = None
    args: msgspec.Raw = msgspec.Raw(b"")


class LaunchArgs(msgspec.Struct, gc=False):
    """Arguments of a kernel or runtime event that link the two."""

    correlation: int = -1


_EVENT = msgspec.json.Decoder(Event)
_EVENTS = msgspec.json.Decoder(list[Event])
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_LAUNCHES = msgspec.json.Decoder(list[LaunchArgs])
_ANY = msgspec.json.Decoder(dict[str, Any])


def decode_events(array: bytes) -> list[Event]:
    """The events of a JSON array. Raises msgspec.DecodeError."""
    return _EVENTS.decode(array)


def decode_raws(array: bytes) -> list[msgspec.Raw]:
    """The undecoded items of a JSON array. Raises msgspec.DecodeError."""
    return _RAWS.decode(array)


def decode_event(text: bytes | msgspec.Raw) -> Event:
    """One event. Raises msgspec.DecodeError."""
    return _EVENT.decode(text)


def correlations_of(items: Sequence[msgspec.Raw]) -> Ints:
    """Correlation ids in the arguments of kernels or launches, -1 where there is none."""
    try:
        linked = _LAUNCHES.decode(b"[" + b",".join(items) + b"]")
        if len(linked) == len(items):
            return np.array([item.correlation for item in linked], dtype=np.int64)
    except (msgspec.DecodeError, OverflowError):
        pass
    return np.array([_correlation(item) for item in items], dtype=np.int64)


def _correlation(item: msgspec.Raw) -> int:
    value = arguments(item).get("correlation")
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else -1


def arguments(args: msgspec.Raw | bytes) -> dict[str, Any]:
    """All arguments of an event; {} where there are none."""
    try:
        return _ANY.decode(args)
    except msgspec.DecodeError:
        return {}


def lenient_event(text: bytes | msgspec.Raw) -> Event | None:
    """An event whose fields have unexpected types, as far as they make sense; None where it is no event."""
    fields = arguments(text)
    if not fields:
        return None
    args = fields.get("args")
    return Event(
        ph=str(fields.get("ph", "")),
        cat=str(fields.get("cat", "")),
        name=str(fields.get("name", "")),
        pid=str(fields.get("pid", "")),
        tid=str(fields.get("tid", "")),
        ts=_number(fields.get("ts")),
        dur=_number(fields.get("dur")),
        args=msgspec.Raw(msgspec.json.encode(args)) if isinstance(args, dict) else msgspec.Raw(b""),
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
