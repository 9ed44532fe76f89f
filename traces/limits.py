"""Limits on what a reader may take in, so that hostile or broken input costs bounded memory and time."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of reading one file.

    `max_bytes` caps the decompressed size and `max_ratio` decompressed over compressed size, judged once more
    than `ratio_floor_bytes` came out (profiler traces reach 30, a bomb about 1,000). `piece_bytes` is how much
    text is held at a time, `max_header_bytes` what may stand before and after the events of a trace.
    """

    max_bytes: int = 16 << 30
    max_ratio: float = 250.0
    ratio_floor_bytes: int = 32 * MIB
    piece_bytes: int = MIB
    max_header_bytes: int = 64 * MIB
    max_duration_us: float = 2 * 86_400e6


DEFAULT_LIMITS = Limits()
