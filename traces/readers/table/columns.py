"""Which column is meant by a header: synonyms and units, read from columns.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec.yaml

SEPARATORS = re.compile(r"[\s_\-./:=*`\"']+")
_BRACKET = re.compile(r"[\(\[\{]([^\)\]\}]*)[\)\]\}]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Column:
    """What a header means: `key` of columns.yaml, its `kind`, the factor to ms (None: no unit was written)."""

    key: str
    kind: str
    factor_ms: float | None = None
    maybe_seconds: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """columns.yaml, indexed. `names` and `phrases` map a normalised name to (key, kind)."""

    names: dict[str, tuple[str, str]]
    phrases: dict[str, tuple[str, str]]
    units_ms: dict[str, float]
    not_a_time: frozenset[str]
    centre_words: tuple[str, ...]
    spread_words: frozenset[str]
    filler_words: frozenset[str]
    seconds_names: frozenset[str]
    seconds_below: float
    readings: dict[str, str]


@cache
def lexicon() -> Lexicon:
    """The synonyms, read once."""
    document: dict[str, Any] = msgspec.yaml.decode(Path(__file__).with_name("columns.yaml").read_bytes())
    names: dict[str, tuple[str, str]] = {}
    phrases: dict[str, tuple[str, str]] = {}
    for key, entry in document["columns"].items():
        names |= {normal(name): (key, entry["kind"]) for name in entry["names"]}
        phrases |= {normal(name): (key, entry["kind"]) for name in entry.get("phrases", ())}
    return Lexicon(
        names=names,
        phrases=phrases,
        units_ms={unit: float(factor) for unit, factor in document["units_ms"].items()},
        not_a_time=frozenset(document["not_a_time"]),
        centre_words=tuple(document["centre_words"]),
        spread_words=frozenset(document["spread_words"]),
        filler_words=frozenset(document["filler_words"]),
        seconds_names=frozenset(document["seconds_names"]),
        seconds_below=float(document["seconds_below"]),
        readings={normal(name): key for key, names in document["readings"].items() for name in names},
    )


def normal(name: str) -> str:
    """A header in lower case, camel case and every separator read as one blank."""
    return SEPARATORS.sub(" ", _CAMEL.sub(" ", name)).strip().lower()


def understand(header: str) -> Column | None:
    """The column that a header names, or None. `Input wait (ms)`, `data_time_s` and `fwd [us]` carry a unit."""
    reading = lexicon().readings.get(normal(re.sub(r"[()\[\]{}]", " ", header)))
    if reading is not None:
        return Column(reading, "reading")
    words, unit = _without_unit(header)
    if unit in lexicon().not_a_time or not words:
        return None
    found = _lookup(words, timed=unit is not None)
    if found is None:
        return None
    key, kind = found
    factor = lexicon().units_ms[unit] if unit is not None else None
    if factor is not None and kind != "time":
        return Column("step_ms", "time", factor) if kind == "step" else None
    return Column(key, kind, factor, kind == "time" and unit is None and words in lexicon().seconds_names)


def _without_unit(header: str) -> tuple[str, str | None]:
    """(normalised words, unit or None); the unit stands in brackets or is the last word."""
    units = lexicon().units_ms
    unit: str | None = None
    for content in _BRACKET.findall(header):
        word = normal(content)
        if word in units or word in lexicon().not_a_time:
            unit = word
    words = normal(_BRACKET.sub(lambda match: "" if normal(match[1]) == unit else f" {match[1]} ", header)).rstrip(" ,")
    first, _, last = words.rpartition(" ")
    if unit is None and first and (last in units or last in lexicon().not_a_time):
        return first.rstrip(" ,"), last
    return words, unit


def _lookup(words: str, *, timed: bool) -> tuple[str, str] | None:
    book = lexicon()
    if words in book.names:
        return book.names[words]
    if any(word in book.spread_words for word in words.split()):
        return None
    for centre in book.centre_words:
        words = re.sub(rf"(?:^|\s){re.escape(centre)}(?=\s|$)", "", words).strip()
    if words in book.names:
        return book.names[words]
    bare = " ".join(word for word in words.split() if word not in book.filler_words)
    found = book.names.get(bare)
    return found if found and found[1] in ("time", "count") else None
