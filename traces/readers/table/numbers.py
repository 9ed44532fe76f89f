"""Numbers as people write them: units, ranges, tolerances, thousands, not-available marks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .columns import lexicon

NUMBER = r"[-+−]?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
MISSING = frozenset({"", "-", "--", "–", "—", "n/a", "na", "nan", "none", "null", "?", "nil", "missing", "#n/a"})
_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity", "∞"})
_MANY = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, half the width of the range it was given as, and the factor to ms if a unit was written.

    `value` is NaN where nothing usable stands; `problem` then says why: missing | infinite | unreadable.
    """

    value: float
    half: float = math.nan
    factor_ms: float | None = None
    problem: str = ""


def unit_pattern() -> str:
    """A regular expression for the time units, longest first."""
    units = sorted(lexicon().units_ms, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(unit) for unit in units) + r")(?![\w/])"


def plain(text: str) -> float:
    """A matched NUMBER as a float: thousands separators and the typographic minus are understood."""
    return float(text.replace(",", "").replace("−", "-"))


_cell: re.Pattern[str] | None = None


def _cell_pattern() -> re.Pattern[str]:
    global _cell
    if _cell is None:
        unit = rf"\s*(?:({unit_pattern()})|([kKmMbBgG])(?!\w))?\s*"
        joint = r"(±|\+/-|\+-|-|–|—|−|to|\.\.\.?|…)"
        sign = r"(~|≈|<|<=|≤|>|>=|≥|about|approx\.?|ca\.?|=)?\s*"
        _cell = re.compile(rf"{sign}({NUMBER}){unit}(?:{joint}\s*({NUMBER}){unit})?", re.IGNORECASE)
    return _cell


def quantity(cell: object) -> Quantity:
    """Read one cell. Never raises: what cannot be read is NaN with a `problem`."""
    if cell is None or isinstance(cell, bool):
        return Quantity(math.nan, problem="missing" if cell is None else "unreadable")
    if isinstance(cell, (int, float)):
        return _finite(float(cell)) if abs(cell) < 1e300 or cell != cell else Quantity(math.nan, problem="infinite")
    text = str(cell).strip().strip("*`\"'").strip()
    if text.lower() in MISSING:
        return Quantity(math.nan, problem="missing")
    if text.lower() in _INFINITE:
        return Quantity(math.nan, problem="infinite")
    match = _cell_pattern().fullmatch(text)
    return _from_match(match) if match else Quantity(math.nan, problem="unreadable")


def _from_match(match: re.Match[str]) -> Quantity:
    sign, first, unit, many, joint, second, unit2, many2 = match.groups()
    factor = _factor(unit2 or unit)
    low = plain(first) * _MANY.get((many or (many2 if second else None) or "").lower(), 1.0)
    if second is None:
        bounded = sign in ("<", "<=", "≤") and low > 0
        return _finite(low / 2, low / 2, factor) if bounded else _finite(low, factor=factor)
    high = plain(second) * _MANY.get((many2 or "").lower(), 1.0)
    if unit and unit2 and unit != unit2:
        low *= (_factor(unit) or 1.0) / (factor or 1.0)
    if joint in ("±", "+/-", "+-"):
        return _finite(low, abs(high), factor)
    return _finite((low + high) / 2, abs(high - low) / 2, factor)


def _factor(unit: str | None) -> float | None:
    return lexicon().units_ms[unit.lower()] if unit else None


def _finite(value: float, half: float = math.nan, factor: float | None = None) -> Quantity:
    if math.isnan(value):
        return Quantity(math.nan, problem="missing")
    return Quantity(value, half, factor) if math.isfinite(value) else Quantity(math.nan, problem="infinite")
