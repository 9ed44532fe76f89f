"""Lateness by rank and step as characters: readable without colour, many ranks binned by their worst."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ...service.diagnosis.schemas import HEAT_ROWS, Heat

RAMP = " .:-=+*#%@"
UNKNOWN = "?"
MOST_ROWS = 24
FEWEST_STEPS = 2
SHADES = ("grey23", "grey35", "yellow4", "gold3", "orange3", "dark_orange", "orange_red1", "red3", "red1", "bright_red")
Row = Sequence[float | None]


def worst(values: Sequence[float | None]) -> float | None:
    """Largest known value; None where none is known."""
    known = [value for value in values if value is not None]
    return max(known) if known else None


def bins(length: int, most: int) -> list[range]:
    """`length` positions in at most `most` runs of nearly equal size."""
    count = min(length, most)
    return [range(length * i // count, length * (i + 1) // count) for i in range(count)]


def level(value: float | None, top: float) -> int:
    """Place of a value on the ramp; 0 for nothing late."""
    if value is None or value <= 0 or top <= 0:
        return 0
    return min(len(RAMP) - 1, max(1, round(value / top * (len(RAMP) - 1))))


def heatmap(heat: Heat, late: Sequence[int], *, width: int, color: bool, last_rank: int | None = None) -> list[Text]:
    """A row a rank (or run of ranks), a column a step (or run of steps); rows with a late rank are marked. `last_rank`
    ends the last row where rows are runs."""
    top = worst([cell for row in heat.lateness_ms for cell in row])
    if top is None or top <= 0 or len(heat.steps) < FEWEST_STEPS:
        return []
    columns = bins(len(heat.steps), max(10, width - 22))
    rows = bins(len(heat.ranks), MOST_ROWS)
    half = f"{RAMP[len(RAMP) // 2]} about {top / 2:.0f}, " if top >= 2 else ""
    lines = [Text(f"lateness in each step: blank none, {half}{RAMP[-1]} {top:.0f} ms")]
    for row in rows:
        cells = [worst([heat.lateness_ms[r][c] for r in row for c in column]) for column in columns]
        name, marked = _name(heat, row, late, last_rank)
        lines.append(_line(name, cells, marked, top, color))
    return lines


def _name(heat: Heat, row: range, late: Sequence[int], last_rank: int | None) -> tuple[str, bool]:
    """Ranks of a row as people write them, and whether a late one is among them."""
    first = heat.ranks[row.start]
    last = heat.ranks[row.stop - 1]
    if len(heat.ranks) == HEAT_ROWS:
        last = heat.ranks[row.stop] - 1 if row.stop < HEAT_ROWS else max(last, last_rank or 0)
    marked = any(first <= rank <= last for rank in late)
    return (str(first) if last == first else f"{first}-{last}"), marked


def _line(name: str, cells: Row, marked: bool, top: float, color: bool) -> Text:
    line = Text(f"{'>' if marked else ' '} {name:>9} |", style="bold" if marked and color else "")
    for cell in cells:
        place = level(cell, top)
        line.append(UNKNOWN if cell is None else RAMP[place], style=f"on {SHADES[place]}" if color and place else "")
    line.append("|")
    return line
