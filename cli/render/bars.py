"""The table of ranks with a bar of stages: which rank is late and where its time goes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ...service.diagnosis.schemas import RankRow

LETTERS = {
    "input_wait": "i",
    "forward": "f",
    "backward": "b",
    "compute": "c",
    "optimizer": "o",
    "host": "h",
    "communication": "n",
}
STYLES = {"i": "red", "f": "green", "b": "green3", "c": "green", "o": "cyan", "h": "magenta", "n": "blue"}
TITLES = {"input_wait": "input", "optimizer": "optim"}
MOST_ROWS = 16


def number(value: float | None) -> str:
    """A time in milliseconds as short as it stays honest."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def chosen(rows: Sequence[RankRow], late: Sequence[int]) -> list[RankRow]:
    """All rows, or of many ranks the late ones and the most late of the others, in rank order."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    first = sorted(rows, key=lambda r: (r.rank not in late, -(r.lateness_ms or 0.0), r.rank))[:MOST_ROWS]
    return sorted(first, key=lambda r: r.rank)


def bar(row: RankRow, longest_ms: float, width: int) -> Text:
    """The stages before the wait, in proportion; one letter a stage."""
    text = Text()
    total = edge = 0.0
    for stage, letter in LETTERS.items():
        total += 0.0 if stage == "communication" else row.stages_ms.get(stage, 0.0)
        cells = round(total / longest_ms * width) - round(edge / longest_ms * width) if longest_ms > 0 else 0
        text.append(letter * max(0, cells), style=STYLES[letter])
        edge = total
    return text


def rank_table(rows: Sequence[RankRow], late: Sequence[int], *, width: int) -> list[Text]:
    """Header and a row a rank; the late ones are marked with `>`. Empty where nothing is known of any."""
    shown = chosen(rows, late)
    stages = [s for s in LETTERS if s != "communication" and any(s in row.stages_ms for row in shown)]
    heads = ["rank", *(TITLES.get(s, s) for s in stages), "own time", "late by", "waits"]
    body = [_cells(row, stages) for row in shown]
    hidden = {heads.index("own time")} if _relative(shown) else set[int]()
    used = [i for i in range(len(heads)) if i == 0 or (i not in hidden and any(c[i] != "-" for c in body))]
    if len(used) == 1:
        return []
    sizes = {i: max(len(heads[i]), *(len(cells[i]) for cells in body)) for i in used}
    gap = "  " if sum(sizes.values()) + 2 * len(used) <= width else " "
    room = min(40, width - sum(sizes.values()) - 2 * len(used) - 6)
    longest = max((_before_wait(row) for row in shown), default=0.0)
    lines = [Text("  " + gap.join(heads[i].rjust(sizes[i]) for i in used))]
    for row, cells in zip(shown, body, strict=True):
        line = Text("> " if row.rank in late else "  ", style="bold" if row.rank in late else "")
        line.append(gap.join(cells[i].rjust(sizes[i]) for i in used))
        if room >= 10 and longest > 0:
            line.append("  ")
            line.append_text(bar(row, longest, room))
        lines.append(line)
    if len(shown) < len(rows):
        lines.append(Text(f"  ... {len(rows) - len(shown)} more ranks, none of them later"))
    return lines


def _relative(rows: Sequence[RankRow]) -> bool:
    """Whether own times only count from the first arrival, so that they are no durations to show."""
    return any(row.own_time_ms == 0 and _before_wait(row) > 0 for row in rows)


def _before_wait(row: RankRow) -> float:
    return sum(value for stage, value in row.stages_ms.items() if stage != "communication")


def _cells(row: RankRow, stages: Sequence[str]) -> list[str]:
    late = row.lateness_ms if row.lateness_ms is not None and row.lateness_ms >= 0.05 else None
    return [
        str(row.rank),
        *(number(row.stages_ms.get(stage)) for stage in stages),
        number(row.own_time_ms),
        number(late),
        number(row.wait_ms),
    ]
