"""Tables <-> bytes: compact, versioned and compressed, for the way to the service and for its store.

The bytes are a mark, a version, and msgpack compressed with zlib. An array is its dtype, its length, and its bytes
little-endian, all first bytes of the elements before all second ones, since that compresses better.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..knowledge.errors import InputError
from .limits import DEFAULT_LIMITS, Limits
from .tables import (
    STAGES,
    STEP_COLUMNS,
    BatchTable,
    CollectiveTable,
    Event,
    Note,
    RankInfo,
    Reading,
    SpanTable,
    StepTable,
    Tables,
)

VERSION = 1
_MARK = b"latecomer-tables"
_LEVEL = 1  # of zlib: higher ones take several times longer to save a few per cent
_FED = 1 << 14  # compressed bytes at a time: what they expand to is judged before the next
_MOST_CELLS = 1 << 25
"""Ranks times steps: measures lay the rows out so, and 8,192 ranks by 4,096 steps are enough for any job."""
_REMEDY = "Read the files again with the version of latecomer that the service runs."

T = TypeVar("T", bound=str)


class _Array(Struct, Generic[T], array_like=True, forbid_unknown_fields=True):
    dtype: T
    length: int
    data: bytes


_Floats = _Array[Literal["f8"]]
_Ints = _Array[Literal["i1", "i2", "i4", "i8"]]
_Bools = _Array[Literal["b1"]]


class _Steps(Struct, array_like=True, forbid_unknown_fields=True):
    rank: _Ints
    step: _Ints
    start_us: _Floats
    columns: dict[str, _Floats]
    half_range_ms: dict[str, _Floats]
    origin: _Ints
    line: _Ints


class _Spans(Struct, array_like=True, forbid_unknown_fields=True):
    rank: _Ints
    stage: _Ints
    start_us: _Floats
    end_us: _Floats
    device: _Bools


class _Collectives(Struct, array_like=True, forbid_unknown_fields=True):
    rank: _Ints
    step: _Ints
    group: _Ints
    sequence: _Ints
    op: _Ints
    bytes: _Ints
    dtype: _Ints
    arrival_us: _Floats
    end_us: _Floats
    host_entry_us: _Floats
    groups: tuple[tuple[int, ...], ...]
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]


class _Batches(Struct, array_like=True, forbid_unknown_fields=True):
    rank: _Ints
    step: _Ints
    samples: _Ints
    tokens: _Ints
    padded_tokens: _Ints
    max_len: _Ints
    source: _Ints
    sources: tuple[str, ...]


class _Tables(Struct, array_like=True, forbid_unknown_fields=True):
    steps: _Steps | None
    spans: _Spans | None
    collectives: _Collectives | None
    batches: _Batches | None
    events: tuple[Event, ...]
    ranks: tuple[RankInfo, ...]
    sources: tuple[str, ...]
    report: tuple[Note, ...]
    readings: tuple[Reading, ...]


_KINDS: tuple[tuple[type[Struct], type[Any]], ...] = (
    (_Steps, StepTable),
    (_Spans, SpanTable),
    (_Collectives, CollectiveTable),
    (_Batches, BatchTable),
)
_PACKED: dict[type[Any], type[Any]] = {table: packed for packed, table in _KINDS} | {Tables: _Tables}
_UNPACKED: dict[type[Any], type[Any]] = {**dict(_KINDS), _Tables: Tables}
_DECODER = msgspec.msgpack.Decoder(_Tables)


def encode(tables: Tables) -> bytes:
    """The bytes of tables; equal tables give equal bytes."""
    payload = msgspec.msgpack.encode(_pack(tables))
    return _MARK + bytes([VERSION]) + zlib.compress(payload, _LEVEL)


def decode(data: bytes, *, limits: Limits = DEFAULT_LIMITS) -> Tables:
    """The tables that `encode` made bytes of. Raises InputError, and nothing else, for any other bytes."""
    if not data.startswith(_MARK) or len(data) == len(_MARK):
        raise _unusable("these bytes are not tables")
    version = data[len(_MARK)]
    if version != VERSION:
        raise _unusable(f"they are of format {version}, and this version reads format {VERSION}")
    try:
        packed = _DECODER.decode(_inflate(memoryview(data)[len(_MARK) + 1 :], limits))
    except (msgspec.MsgspecError, zlib.error, ValueError, RecursionError) as error:
        raise _unusable(f"they are damaged ({error})") from None
    tables = _unpack(packed, "tables")
    _check(tables)
    return tables


def _unusable(what: str) -> InputError:
    return InputError(what, where="tables", remedy=_REMEDY)


def _inflate(body: memoryview, limits: Limits) -> bytearray:
    """What was compressed. Stops at the limits of size and ratio."""
    engine, out, fed = zlib.decompressobj(), bytearray(), 0
    while fed < len(body) and not engine.eof:
        out += engine.decompress(body[fed : fed + _FED])
        fed += _FED
        if len(out) > limits.max_bytes or len(out) > max(limits.ratio_floor_bytes, limits.max_ratio * len(body)):
            raise InputError(
                f"they expand to more than {len(out) >> 20} MiB", where="tables", remedy="Give fewer steps or ranks."
            )
    if not engine.eof or engine.unused_data or fed < len(body):
        raise _unusable("they are cut off, or followed by something else")
    return out


def _pack(value: Any) -> Any:
    """A value of the tables as one of its packed counterpart."""
    if isinstance(value, np.ndarray):
        return _pack_array(value)
    if isinstance(value, Mapping):
        return {name: _pack(value[name]) for name in sorted(value)}
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # names of files may hold what UTF-8 cannot
    if isinstance(value, list | tuple):
        return tuple(map(_pack, value))
    if type(value) in _PACKED:
        packed = _PACKED[type(value)]
        return packed(*(_pack(getattr(value, name)) for name in packed.__struct_fields__))
    if is_dataclass(value) and not isinstance(value, type):  # an event, a note, a rank's own information
        return replace(value, **{f.name: _pack(getattr(value, f.name)) for f in fields(value)})
    return value


def _pack_array(values: NDArray[Any]) -> _Array[Any]:
    dtype = {"f": "f8", "b": "b1"}.get(values.dtype.kind) or _narrowest(values)
    stored = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    planes = stored.view(np.uint8).reshape(len(stored), stored.itemsize).T
    return _Array(dtype, len(stored), planes.tobytes())


def _narrowest(values: NDArray[Any]) -> str:
    """The smallest integer type that holds all values."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    return next(t for t in ("i1", "i2", "i4", "i8") if np.iinfo(t).min <= low and high <= np.iinfo(t).max)


def _unpack(value: Any, name: str) -> Any:
    if isinstance(value, _Array):
        return _unpack_array(value, name)
    if isinstance(value, dict):
        return {key: _unpack(item, f"{name}.{key}") for key, item in value.items()}
    if type(value) in _UNPACKED:
        unpacked = {n: _unpack(getattr(value, n), f"{name}.{n}") for n in value.__struct_fields__}
        return _UNPACKED[type(value)](**unpacked)
    return value


def _unpack_array(packed: _Array[Any], name: str) -> NDArray[Any]:
    dtype = np.dtype(packed.dtype).newbyteorder("<")
    if packed.length < 0 or packed.length * dtype.itemsize != len(packed.data):
        raise _unusable(f"{name} does not hold {packed.length} values")
    planes = np.frombuffer(packed.data, np.uint8).reshape(dtype.itemsize, packed.length)
    if packed.dtype == "b1":
        return planes[0] != 0
    values = np.ascontiguousarray(planes.T).view(dtype).reshape(packed.length)
    if packed.dtype == "f8" and np.isinf(values).any():
        raise _unusable(f"{name} holds an infinite value")
    return values.astype(np.float64 if packed.dtype == "f8" else np.int64)


def _check(tables: Tables) -> None:
    """Equal lengths within a table, known columns, and indices that point at something."""
    sources = max(len(tables.sources), 1)  # tables typed in a chat have no source, and 0 for it
    if (steps := tables.steps) is not None:
        unknown = {*steps.columns, *steps.half_range_ms} - {*STEP_COLUMNS}
        if unknown:
            raise _unusable(f"steps have no column {min(unknown)!r}")
        _even("steps", steps)
        _within("steps.origin", steps.origin, -1, sources)
        rows = len(steps.rank)
        if rows**2 > _MOST_CELLS and len(np.unique(steps.rank)) * len(np.unique(steps.step)) > _MOST_CELLS:
            raise _unusable("the rows of steps are spread over too many ranks and steps")
    if (spans := tables.spans) is not None:
        _even("spans", spans)
        _within("spans.stage", spans.stage, 0, len(STAGES))
    if (calls := tables.collectives) is not None:
        _even("collectives", calls)
        _within("collectives.group", calls.group, 0, len(calls.groups))
        _within("collectives.op", calls.op, 0, len(calls.ops))
        _within("collectives.dtype", calls.dtype, 0, len(calls.dtypes))
    if (batches := tables.batches) is not None:
        _even("batches", batches)
        _within("batches.source", batches.source, -1, len(batches.sources))
    _within("events.origin", np.array([event.origin for event in tables.events], dtype=object), -1, sources)


def _even(name: str, table: StepTable | SpanTable | CollectiveTable | BatchTable) -> None:
    if len({len(column) for column in _arrays(table)}) > 1:
        raise _unusable(f"the columns of {name} have different lengths")


def _arrays(table: StepTable | SpanTable | CollectiveTable | BatchTable) -> Iterator[NDArray[Any]]:
    for name in table.__slots__:
        value = getattr(table, name)
        yield from value.values() if isinstance(value, Mapping) else [value] if isinstance(value, np.ndarray) else []


def _within(name: str, index: NDArray[Any], low: int, end: int) -> None:
    if len(index) and not (low <= index.min() and index.max() < end):
        raise _unusable(f"{name} points at something that is not there")
