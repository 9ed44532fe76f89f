"""JSON and JSON lines into grids: lists of objects, objects of lists, objects by rank, pandas' forms, wrappers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...tables import Note
from . import ranks
from .columns import understand
from .grid import Cell, Grid, from_records, from_rows

_BARE = re.compile(r"(?<=[:\[,])(\s*)(?:N/A|n/a|nan|-?inf|None|undefined)(?=\s*[,}\]])")
_FOREIGN = ("traceEvents", "schemaVersion", "pg_config", "pg_status", "baseTimeNanoseconds")
_WRAPPERS = 4


def grids(text: str, name: str) -> tuple[list[Grid], list[Note]]:
    """Grids of a JSON or JSONL text; ([], []) if it is neither. Damaged parts are left out and noted."""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return [], []
    text = _BARE.sub(r"\1null", text)
    values, lines, notes = _documents(text, name)
    if len(values) > 1 or (values and all(isinstance(value, Mapping) for value in values) and "\n" not in text.strip()):
        records = [value for value in values if isinstance(value, dict)]
        if len(records) > 1:
            numbers = [line for line, value in zip(lines, values, strict=True) if isinstance(value, dict)]
            grid, lists = _exploded(records, numbers, "jsonl")
            return [grid], notes + lists
    found: list[Grid] = []
    for value in values[:1]:
        grid, more = _grid(value, name, 0)
        notes = [*notes, *more]
        found += [grid] if grid else []
    return found, notes


def _documents(text: str, name: str) -> tuple[list[Any], list[int], list[Note]]:
    """Every JSON value of the text with its first line; a cut or broken one gives up what is whole in it."""
    decoder = json.JSONDecoder(strict=False)
    try:
        return [decoder.decode(text)], [1], []
    except (ValueError, RecursionError):
        pass
    values: list[Any] = []
    lines: list[int] = []
    bad = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip().rstrip(",")
        if line and line not in ("[", "]", "],"):
            try:
                values.append(decoder.decode(line))
                lines.append(number)
            except (ValueError, RecursionError):
                bad += 1
    if not values:
        values, lines, bad = *_salvage(decoder, text), 1
    detail = f"{bad} lines or the end of the JSON text are damaged and were left out"
    notes = [Note("json-damaged", "weakens", detail, name, count=bad, weakens="the rows that were lost")] if bad else []
    return values, lines, notes


def _salvage(decoder: json.JSONDecoder, text: str) -> tuple[list[Any], list[int]]:
    """Whole flat objects of a cut JSON text."""
    values: list[Any] = []
    lines: list[int] = []
    for match in re.finditer(r"\{[^{}]*\}", text):
        try:
            values.append(decoder.decode(match[0]))
            lines.append(text.count("\n", 0, match.start()) + 1)
        except (ValueError, RecursionError):
            continue
    return values, lines


def _grid(value: Any, name: str, depth: int) -> tuple[Grid | None, list[Note]]:
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict) or not value or any(key in value for key in _FOREIGN):
        return None, []
    keys = list(value)
    if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        return _of_list([value["columns"], *value["data"]])
    if all(ranks.label(key) is not None for key in keys) and all(isinstance(v, dict) for v in value.values()):
        records = [{"rank": key, **inner} for key, inner in value.items()]
        return _exploded(records, range(1, len(records) + 1), "json")
    if all(isinstance(v, dict) for v in value.values()) and any(understand(key) for key in keys):
        inner = dict.fromkeys(rank for v in value.values() for rank in v)
        if inner and all(ranks.label(rank) is not None for rank in inner):
            records = [{"rank": rank, **{key: value[key].get(rank) for key in keys}} for rank in inner]
            return _exploded(records, range(1, len(records) + 1), "json")
    if sum(isinstance(v, list) and understand(key) is not None and _flat(v) for key, v in value.items()):
        return _of_lists(value, name)
    if any(understand(key) is not None and _scalar(v) for key, v in value.items()):
        return _exploded([value], [1], "json")
    return _unwrapped(value, name, depth)


def _unwrapped(value: Mapping[str, Any], name: str, depth: int) -> tuple[Grid | None, list[Note]]:
    """The largest part of an object that is a table; what stands beside it is noted."""
    inner = [(key, v) for key, v in value.items() if isinstance(v, (list, dict)) and v]
    for key, v in sorted(inner, key=lambda item: -len(item[1])) if depth < _WRAPPERS else ():
        grid, notes = _grid(v, name, depth + 1)
        if grid is not None:
            beside = ", ".join(repr(other) for other in value if other != key)
            extra = [Note("keys-unused", "info", f"read from {key!r}; not used: {beside}", name)] if beside else []
            return grid, [*notes, *extra]
    return None, []


def _of_list(items: Sequence[Any]) -> tuple[Grid | None, list[Note]]:
    records = [item for item in items if isinstance(item, dict)]
    if records:
        numbers = [at for at, item in enumerate(items, 1) if isinstance(item, dict)]
        return _exploded(records, numbers, "json")
    if len(items) > 1 and all(isinstance(item, list) for item in items) and all(isinstance(c, str) for c in items[0]):
        return from_rows(items[0], [list(row) for row in items[1:]], range(1, len(items)), "json"), []
    return None, []


def _of_lists(value: Mapping[str, Any], name: str) -> tuple[Grid | None, list[Note]]:
    """An object of lists: an item a rank; a single value stands for all."""
    lists = {key: v for key, v in value.items() if isinstance(v, list) and _flat(v)}
    length = max(map(len, lists.values()))
    columns: dict[str, list[Cell]] = {key: [*v, *[None] * (length - len(v))] for key, v in lists.items()}
    columns |= {key: [v] * length for key, v in value.items() if _scalar(v) and understand(key) is not None}
    uneven = [key for key, v in lists.items() if len(v) != length]
    detail = f"lists of unequal length: {', '.join(map(repr, uneven))} shorter than {length}"
    notes = [Note("lists-uneven", "weakens", detail, name, weakens="the ranks at the end")] if uneven else []
    return Grid(tuple(columns), tuple(columns.values()), range(1, length + 1), "json"), notes


def _exploded(records: Sequence[dict[str, Any]], lines: Sequence[int], syntax: str) -> tuple[Grid, list[Note]]:
    """A grid of records; lists inside a record become rows, and nested objects become `outer inner` columns."""
    rows: list[dict[str, Cell]] = []
    numbers: list[int] = []
    for record, line in zip(records, lines, strict=True):
        flat = _flattened(record) if any(isinstance(v, (dict, list)) for v in record.values()) else record
        length = max((len(v) for v in flat.values() if isinstance(v, list)), default=0)
        if not length:
            rows.append(flat)
            numbers.append(line)
            continue
        for at in range(length):
            rows.append({k: (v[at] if at < len(v) else None) if isinstance(v, list) else v for k, v in flat.items()})
            numbers.append(line)
    return from_records(rows, numbers, syntax), []


def _flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat |= {(k if understand(k) else f"{key} {k}"): v for k, v in value.items() if _scalar(v) or _flat(v)}
        else:
            flat[key] = value if _scalar(value) or _flat(value) else json.dumps(value)[:40]
    return flat


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _flat(value: Any) -> bool:
    return isinstance(value, list) and all(map(_scalar, value))
