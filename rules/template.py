"""Fills the `says` of a rule: {alias.field} and {alias.field:percent|ms|count|than}. No attribute access."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ..knowledge.facts import Scalar

FORMATS = ("percent", "ms", "count", "than")
_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?::(\w+))?")


def placeholders(text: str) -> list[tuple[str, str, str]]:
    """Alias, field and format of each placeholder. Raises ValueError for a malformed one."""
    return [part for part in _parts(text) if not isinstance(part, str)]


def fill(text: str, facts: Mapping[str, Mapping[str, Scalar]]) -> str:
    """The text with values in place of placeholders; a field that is not known reads `unknown`."""
    parts = (part if isinstance(part, str) else show(facts[part[0]].get(part[1]), part[2]) for part in _parts(text))
    return "".join(parts)


@cache
def _parts(text: str) -> tuple[str | tuple[str, str, str], ...]:
    """Literal text and placeholders in turn."""
    parts: list[str | tuple[str, str, str]] = []
    end = 0
    for match in _PLACE.finditer(text):
        parts.append(text[end : match.start()])
        parts.append(match[0][0] if match[0] in ("{{", "}}") else _parse(match))
        end = match.end()
    return (*parts, text[end:])


def show(value: Scalar | None, form: str = "") -> str:
    """A value as people read it: one decimal below 100, none above, whole numbers without a point.

    percent: a ratio in %; ms: with its unit; count: whole, with separators of thousands;
    than: a difference in ms as a comparison, `14.7 ms shorter than` or `the same as`.
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if form == "count":
        return f"{value:,.0f}"
    if form == "percent":
        share = 100 * value
        return f"{_number(share) if abs(share) < 1 else f'{share:.0f}'} %"
    if form == "than":
        return _than(value)
    return f"{_number(value)} ms" if form == "ms" else _number(value)


def _than(difference_ms: float) -> str:
    size = _number(abs(difference_ms))
    return "the same as" if size == "0" else f"{size} ms {'longer' if difference_ms > 0 else 'shorter'} than"


def _number(value: float) -> str:
    text = f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


def _parse(match: re.Match[str]) -> tuple[str, str, str]:
    found = _NAME.fullmatch(match[1] or "")
    if found is None or (found[3] and found[3] not in FORMATS):
        raise ValueError(f"{match[0]} is not {{alias.field}} or {{alias.field:{'|'.join(FORMATS)}}}")
    return found[1], found[2], found[3] or ""
