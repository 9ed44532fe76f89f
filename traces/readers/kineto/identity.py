"""Which rank of which job a trace belongs to, and which process groups it knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

from ...tables import RankInfo

_NAMED_RANK = (
    re.compile(r"rank[-_]?(\d+)(?!\d)", re.IGNORECASE),
    re.compile(r"worker[-_]?(\d+)(?!\d)", re.IGNORECASE),
)
_PIPELINE = re.compile(r"(?:^|_)pp(?:$|_)|pipeline(?!.*(?:tensor|data))", re.IGNORECASE)
_MAX_RANK = 1 << 24


def rank_in_name(name: str) -> int | None:
    """Rank that a file name states: rank12, rank-12, rank_12, worker3, trace_rank_4; the last folder counts too."""
    path = PurePath(name)
    for part in (path.name, path.parent.name):
        for pattern in _NAMED_RANK:
            if found := pattern.search(part):
                return int(found[1])
    return None


@dataclass(frozen=True, slots=True)
class Identity:
    """`info.rank` is -1 where nothing says it; `rank_from` says what did. `groups` maps a process group's name
    to its sorted member ranks."""

    info: RankInfo
    rank_from: str
    groups: Mapping[str, tuple[int, ...]]
    base_us: float

    def sole_group(self) -> tuple[int, ...]:
        """Members of the only process group, () where there are several or none."""
        return next(iter(self.groups.values())) if len(self.groups) == 1 else ()


def identify(header: Mapping[str, object], name: str, *, clock: str) -> Identity:
    """Identity from the trace's own metadata; the file name only where the metadata names no rank."""
    distributed = header.get("distributedInfo")
    if not isinstance(distributed, Mapping):
        distributed = {}
    world = _count(distributed.get("world_size"))
    rank = _count(distributed.get("rank"))
    rank_from = "distributedInfo"
    if rank is None:
        rank, rank_from = rank_in_name(name), "file name"
    groups = _groups(distributed.get("pg_config"), world)
    base = _count(header.get("baseTimeNanoseconds"), top=1 << 63) or 0
    info = RankInfo(
        rank=-1 if rank is None else rank,
        world_size=world,
        host=str(header.get("host_name") or ""),
        backend=str(distributed.get("backend") or ""),
        clock=clock,
        job=job_key(header, distributed),
        pipeline_stage=None if rank is None else pipeline_stage(distributed.get("pg_config"), rank, world),
    )
    return Identity(info, rank_from if rank is not None else "", groups, base / 1000)


def job_key(header: Mapping[str, object], distributed: Mapping[str, object]) -> str:
    """Text that differs between traces of different jobs: `key=value` pairs of job name, version and attempt,
    backend and world size, separated by ";". Ranks of one job share it; "" where a trace says nothing.

    Two runs of the same script share it as well: tell those apart by rank numbers that occur twice and by
    times that do not overlap.
    """
    pairs = [
        ("name", header.get("PT_PROFILER_JOB_NAME")),
        ("version", header.get("PT_PROFILER_JOB_VERSION")),
        ("attempt", header.get("PT_PROFILER_JOB_ATTEMPT_INDEX")),
        ("backend", distributed.get("backend")),
        ("world", distributed.get("world_size")),
    ]
    return ";".join(f"{key}={value}" for key, value in pairs if value is not None)


def ranks_of(value: object, size: object = None, start: object = None, stride: object = None) -> tuple[int, ...]:
    """Members of a group from a list, the text "[0, 1]", or a cut text with size, start and stride; else ()."""
    if isinstance(value, str):
        if "..." in value:
            return _regular(size, start, stride, value)
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return ()
    if isinstance(value, (list, tuple)) and value and all(type(rank) is int for rank in value):
        return tuple(sorted(value))
    return ()


def _regular(size: object, start: object, stride: object, text: str) -> tuple[int, ...]:
    """A group whose list was cut ("[0, 1, ..., 29, ...]"), if it is evenly spaced."""
    shown = [int(number) for number in re.findall(r"\d+", text)]
    count, first = _count(size), _count(start)
    step = _count(stride) or (shown[1] - shown[0] if len(shown) > 1 else None)
    first = shown[0] if first is None and shown else first
    if count is None or first is None or not step:
        return ()
    members = tuple(range(first, first + count * step, step))
    return members if set(shown) <= set(members) else ()


def pipeline_stage(config: object, rank: int, world: int | None) -> int | None:
    """Position of the rank in the group whose description names a pipeline (mesh_pp, PIPELINE_MODEL_PARALLEL_GROUP);
    None where there is none, or where it has one member."""
    if isinstance(config, str):
        try:
            config = msgspec.json.decode(config)
        except msgspec.DecodeError:
            return None
    for entry in config if isinstance(config, list) else ():
        if isinstance(entry, Mapping) and _PIPELINE.search(str(entry.get("pg_desc", ""))):
            size = entry.get("pg_size")
            members = ranks_of(entry.get("ranks"), size, 0 if size == world else None)
            if len(members) > 1 and rank in members:
                return members.index(rank)
    return None


def _groups(config: object, world: int | None) -> dict[str, tuple[int, ...]]:
    if isinstance(config, str):
        try:
            config = msgspec.json.decode(config)
        except msgspec.DecodeError:
            return {}
    groups: dict[str, tuple[int, ...]] = {}
    for entry in config if isinstance(config, list) else ():
        if not isinstance(entry, Mapping):
            continue
        size = entry.get("pg_size")
        members = ranks_of(entry.get("ranks"), size, 0 if size == world else None)
        name = entry.get("pg_name", entry.get("uid"))
        groups[str(name)] = members
    return groups


def _count(value: object, top: int = _MAX_RANK) -> int | None:
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < top else None
