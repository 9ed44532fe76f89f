"""Small words of the text: paragraphs, counts, shares, causes and verdicts by name. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from ...service.diagnosis.schemas import Becomes, Diagnosis


def wrapped(text: str, width: int, *, indent: str = "  ", first: str | None = None) -> Iterator[Text]:
    """A paragraph in lines of at most `width`; `first` starts the first line."""
    start = indent if first is None else first
    for line in textwrap.wrap(text, width, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False):
        yield Text(line)


def count(n: int, noun: str) -> str:
    """`1 step`, `20 steps`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def sentence(text: str) -> str:
    """The text with a full stop where it has no end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def percent(share: float) -> str:
    """A probability as people say it; never a false 0 or 100."""
    if share < 0.01:
        return "< 1 %"
    return "> 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def names(diagnosis: Diagnosis) -> Mapping[str, str]:
    """Causes by their titles, as far as the document knows them."""
    return {cause.cause: cause.title for scope in diagnosis.scopes for cause in scope.causes}


def named(cause: str, titles: Mapping[str, str]) -> str:
    """A cause in words."""
    return titles.get(cause, cause.replace("_", " "))


def ranks(numbers: Sequence[int]) -> str:
    """`rank 2`, `ranks 0-3, 7`; empty for nobody."""
    runs: list[list[int]] = []
    for rank in sorted(numbers):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"rank{'' if len(numbers) == 1 else 's'} {', '.join(parts)}" if parts else ""


def becomes(after: Becomes, d: Diagnosis) -> str:
    """The verdict a result would lead to, as far as it differs: `probable: unequal work`, `only probable`."""
    verdict = after.verdict.replace("_", " ")
    now = d.leading
    same_ranks = now is not None and now.ranks == after.ranks
    if now is not None and same_ranks and after.cause is not None and after.cause == now.cause:
        return f"only {verdict}" if after.verdict == "probable" else verdict
    where = "" if same_ranks else ranks(after.ranks) or ("all ranks" if after.cause else "")
    said = ", ".join(part for part in (named(after.cause, names(d)) if after.cause else "", where) if part)
    return f"{verdict}: {said}" if said else verdict
