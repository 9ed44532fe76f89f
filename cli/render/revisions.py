"""`I would change my mind if`: the verified outcomes, under the question or plan they belong to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from ...service.diagnosis.schemas import Diagnosis, Revision
from .words import becomes, wrapped

MOST_OUTCOMES = 8
WIDEST_OUTCOME = 52


def revise_if(d: Diagnosis, width: int) -> Iterator[Text]:
    """A heading a question or plan, and an indented line an outcome with the verdict it leads to."""
    for subject, members in grouped(d.revise_if[:MOST_OUTCOMES]).items():
        yield from wrapped(subject, width, indent="    ", first="  - ")
        yield from _outcomes(members, d, width)
    if len(d.revise_if) > MOST_OUTCOMES:
        yield Text(f"    {len(d.revise_if) - MOST_OUTCOMES} more in --format json")
    if d.counterfactuals != "complete":
        yield Text(f"    (counterfactuals: {d.counterfactuals})")


def grouped(found: Sequence[Revision]) -> Mapping[str, list[Revision]]:
    """Outcomes by their subject, in the order of the first of each."""
    groups: dict[str, list[Revision]] = {}
    for item in found:
        groups.setdefault(item.subject or item.text, []).append(item)
    return groups


def _outcomes(members: Sequence[Revision], d: Diagnosis, width: int) -> Iterator[Text]:
    said = [item.outcome.rstrip(".") for item in members]
    after = [f"-> {becomes(item.becomes, d)}" for item in members]
    column = max(len(text) for text in said)
    aligned = column <= WIDEST_OUTCOME and 6 + column + 2 + max(map(len, after)) <= width
    for text, verdict in zip(said, after, strict=True):
        line = f"{text.ljust(column)}  {verdict}" if aligned else f"{text} {verdict}"
        if aligned:
            yield Text(f"      {line}")
        else:
            yield from wrapped(line, width, indent="        ", first="      ")
