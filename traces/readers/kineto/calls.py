"""Collectives of a trace: host calls paired with gloo's work, and device kernels with their launches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .collect import Mark
from .identity import Identity, ranks_of
from .names import dtype_of, operation

_GLOO_NAMES = {"reduce_scatter": ("reduce_scatter", "all_reduce"), "all_to_allv": ("all_to_allv", "all_to_all")}


@dataclass(frozen=True, slots=True)
class Row:
    """One collective call of the rank; times in us without the base, NaN where not measured.

    `launched_us` is when the host launched it, as far as can be told: -inf before the trace began.
    """

    op: str
    arrival_us: float
    end_us: float
    host_entry_us: float
    launched_us: float
    group: tuple[int, ...] = ()
    sequence: int = -1
    bytes: int = -1
    dtype: str = ""


def outermost(marks: Iterable[Mark]) -> list[Mark]:
    """Calls that lie in no other call of their thread, by start: a wrapper and what it wraps are one call."""
    found: list[Mark] = []
    ends: dict[int, float] = {}
    for mark in sorted(marks, key=lambda mark: (mark.start_us, -mark.end_us)):
        if mark.end_us <= ends.get(mark.thread, -math.inf):
            continue
        ends[mark.thread] = mark.end_us
        found.append(mark)
    return found


def gloo_rows(calls: Sequence[Mark], work: Sequence[Mark], identity: Identity) -> tuple[list[Row], list[Mark]]:
    """Rows of the calls that gloo carried out, and the calls it did not.

    Arrival is the start of the `c10d::` call: gloo's own event starts late when more than two collectives are
    in flight. Each call takes the first free piece of work of its operation and shape that begins after it,
    since the workers can run out of order.
    """
    waiting: dict[Key, list[Mark]] = defaultdict(list)
    for mark in sorted(work, key=lambda mark: -mark.start_us):
        waiting[operation(mark.name), _numbers(mark.arguments.get("Input Dims"))].append(mark)
    rows: list[Row] = []
    unpaired: list[Mark] = []
    until = _until_next(calls, waiting)
    for position, call in enumerate(calls):
        done = _take(waiting, call, until[position])
        if done is None:
            unpaired.append(call)
        else:
            rows.append(_gloo_row(call, done, identity))
    return rows, unpaired


Key = tuple[str, tuple[int, ...]]


def _key(call: Mark) -> Key:
    return operation(call.name), _numbers(_first(call.arguments.get("Input Dims")))


def _until_next(calls: Sequence[Mark], waiting: Mapping[Key, Sequence[Mark]]) -> list[float]:
    """Latest start of the work of each call. Where work was lost, a call must not take that of the next one alike."""
    until = [math.inf] * len(calls)
    following: dict[Key, float] = {}
    counts: dict[Key, int] = defaultdict(int)
    for call in calls:
        counts[_key(call)] += 1
    for position in reversed(range(len(calls))):
        key = _key(calls[position])
        if len(waiting.get(key, ())) < counts[key]:
            until[position] = following.get(key, math.inf)
        following[key] = calls[position].start_us
    return until


def _take(waiting: Mapping[Key, list[Mark]], call: Mark, until_us: float) -> Mark | None:
    op, shape = _key(call)
    for name in _GLOO_NAMES.get(op, (op,)):
        keys = [(name, shape)] if shape else [key for key in waiting if key[0] == name]
        best: list[Mark] = []
        for key in keys:
            queue = waiting.get(key, [])
            while queue and queue[-1].start_us < call.start_us:
                queue.pop()
            if queue and (not best or queue[-1].start_us < best[-1].start_us):
                best = queue
        if best and best[-1].start_us < until_us:
            return best.pop()
    return None


def _gloo_row(call: Mark, done: Mark, identity: Identity) -> Row:
    dims = _numbers(done.arguments.get("Input Dims"))
    types = done.arguments.get("Input type")
    dtype, size = dtype_of(str(types[0])) if isinstance(types, list) and types else ("", 0)
    op = operation(call.name)
    group = identity.sole_group()
    count = math.prod(dims) if dims else 0
    if op == "all_gather" and group:
        count *= len(group)
    return Row(
        op=op,
        arrival_us=call.start_us,
        end_us=done.end_us,
        host_entry_us=call.start_us,
        launched_us=call.start_us,
        group=group,
        bytes=count * size if count and size else -1,
        dtype=dtype,
    )


def host_only_row(call: Mark, identity: Identity, *, on_host: bool) -> Row:
    """A call whose completion the trace does not hold. With gloo (`on_host`) the call is the arrival."""
    return Row(
        op=operation(call.name),
        arrival_us=call.start_us if on_host else math.nan,
        end_us=math.nan,
        host_entry_us=call.start_us,
        launched_us=call.start_us,
        group=identity.sole_group(),
    )


def _first(dims: object) -> object:
    """Dimensions of the first argument: the tensors of a `c10d::` call."""
    return dims[0] if isinstance(dims, list) and dims else None


def _numbers(dims: object) -> tuple[int, ...]:
    """All numbers of nested lists of dimensions, in order."""
    if isinstance(dims, list):
        return tuple(number for item in dims for number in _numbers(item))
    return (dims,) if isinstance(dims, int) else ()


def described(arguments: Mapping[str, object], identity: Identity) -> Row:
    """Operation, group, sequence number, size and type that the arguments of a kernel or a `record_param_comms`
    state. Bytes are those of the whole tensor: output of an all-gather, input of everything else."""
    op = operation(str(arguments.get("Collective name", "")))
    dtype, size = dtype_of(str(arguments.get("dtype", "")))
    count = arguments.get("Out msg nelems" if op == "all_gather" else "In msg nelems")
    sequence = arguments.get("Seq")
    return Row(
        op="all_to_allv" if op == "all_to_all" and _uneven(arguments) else op,
        arrival_us=math.nan,
        end_us=math.nan,
        host_entry_us=math.nan,
        launched_us=math.nan,
        group=_members(arguments, identity),
        sequence=sequence if isinstance(sequence, int) and 0 <= sequence < 1 << 62 else -1,
        bytes=count * size if isinstance(count, int) and size and 0 <= count < 1 << 58 else -1,
        dtype=dtype,
    )


def _members(arguments: Mapping[str, object], identity: Identity) -> tuple[int, ...]:
    listed = ranks_of(
        arguments.get("Process Group Ranks"),
        arguments.get("Group size"),
        arguments.get("Global rank start"),
        arguments.get("Global rank stride"),
    )
    name = arguments.get("Process Group Name", arguments.get("Process Group ID"))
    return listed or identity.groups.get(str(name), ()) or identity.sole_group()


def _uneven(arguments: Mapping[str, object]) -> bool:
    for key in ("In split size", "Out split size"):
        sizes = arguments.get(key)
        parts = set(str(sizes).strip("[]").replace(" ", "").split(",")) - {"", "..."}
        if len(parts) > 1:
            return True
    return False
