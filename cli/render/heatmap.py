"""Lateness by rank and step as characters: readable without colour, many ranks binned by their worst."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ...service.diagnosis.schemas import Heat

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


def heatmap(heat: Heat, late: Sequence[int], *, width: int, color: bool) -> list[Text]:
    """A row a rank (or run of ranks), a column a step (or run of steps); rows with a late rank are marked."""
    top = worst([cell for row in heat.lateness_ms for cell in row])
    if top is None or top <= 0 or len(heat.steps) < FEWEST_STEPS:
        return []
    columns = bins(len(heat.steps), max(10, width - 22))
    rows = bins(len(heat.ranks), MOST_ROWS)
    half = f"{RAMP[len(RAMP) // 2]} about {top / 2:.0f}, " if top >= 2 else ""
    lines = [Text(f"lateness in each step: blank none, {half}{RAMP[-1]} {top:.0f} ms")]
    for row in rows:
        cells = [worst([heat.lateness_ms[r][c] for r in row for c in column]) for column in columns]
        lines.append(_line(heat, row, cells, late, top, color))
    return lines


def _line(heat: Heat, row: range, cells: Row, late: Sequence[int], top: float, color: bool) -> Text:
    first = heat.ranks[row.start]
    end = heat.ranks[row.stop] if row.stop < len(heat.ranks) else None
    last = first if end is None and len(row) == 1 else (end - 1 if end is not None else heat.ranks[-1])
    marked = any(first <= rank <= last for rank in late)
    name = str(first) if last == first else f"{first}-{last}"
    line = Text(f"{'>' if marked else ' '} {name:>9} |", style="bold" if marked and color else "")
    for cell in cells:
        place = level(cell, top)
        line.append(UNKNOWN if cell is None else RAMP[place], style=f"on {SHADES[place]}" if color and place else "")
    line.append("|")
    return line
