"""Small words of the conversation: numbers with units, ranks, causes, lists. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...knowledge.model import Knowledge
from ...traces.told import Statement
from ..diagnosis.documents import cause_title
from ..diagnosis.schemas import Becomes

COLUMNS = {
    "input_wait_ms": "input wait",
    "forward_ms": "forward",
    "backward_ms": "backward",
    "optimizer_ms": "optimizer",
    "host_ms": "host time",
    "compute_ms": "compute",
    "communication_ms": "communication",
    "arrival_ms": "arrival",
    "wait_ms": "wait for others",
    "transfer_ms": "transfer after the last arrival",
    "step_ms": "step",
    "padded_tokens": "padded tokens",
    "max_len": "longest sequence",
}


def figure(value: float) -> str:
    """A number as people write it: 410, 17.3, 0.42."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def quantity(s: Statement) -> str:
    """The value of a statement with its range and unit: `250-252 ms`, `4,096`."""
    unit = " ms" if s.column.endswith("_ms") else ""
    more = " more than the others" if s.relative else ""
    if s.half_range:
        return f"{figure(s.value - s.half_range)}-{figure(s.value + s.half_range)}{unit}{more}"
    return f"{figure(s.value)}{unit}{more}"


def ranks_named(who: str) -> str:
    """`rank 5`, `ranks 0-3`, `the others`, `all ranks`; `nobody in particular` where it is not known."""
    if who in ("others", "all"):
        return {"others": "the others", "all": "all ranks"}[who]
    if not who[:1].isdecimal():
        return "" if who in ("unknown", "") else who
    return f"rank {who}" if who.isdecimal() else f"ranks {who}"


def statements_in_words(statements: Sequence[Statement]) -> list[str]:
    """One line a column: `arrival: rank 5 410 ms, the others 250-252 ms`."""
    lines: dict[tuple[str, int], list[str]] = {}
    for s in statements:
        lines.setdefault((s.column, s.step), []).append(f"{ranks_named(s.who)} {quantity(s)}")
    return [
        f"{COLUMNS.get(column, column)}{f' in step {step}' if step >= 0 else ''}: {', '.join(parts)}"
        for (column, step), parts in lines.items()
    ]


def percent(share: float) -> str:
    """A probability; never a false 0 or 100."""
    if share < 0.01:
        return "under 1 %"
    return "over 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """`a, b and c`."""
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""


def becomes_in_words(after: Becomes, knowledge: Knowledge) -> str:
    """`probable: unequal work, rank 5`."""
    named = cause_title(after.cause, knowledge) if after.cause else ""
    who = ", ".join(map(str, after.ranks))
    where = f"rank{'s' if len(after.ranks) > 1 else ''} {who}" if who else ""
    said = ", ".join(part for part in (named, where) if part)
    verdict = after.verdict.replace("_", " ")
    return f"{verdict}: {said}" if said else verdict


def quoted(text: str, most: int = 60) -> str:
    """Words of the engineer, cut to length, in quotation marks."""
    one = " ".join(text.split())
    return f'"{one if len(one) <= most else one[: most - 3].rstrip() + "..."}"'
