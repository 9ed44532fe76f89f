"""A diagnosis as an engineer's note: the statement, its evidence, what is open, what to run, what would change it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rich.text import Text

from ...service.diagnosis.schemas import Alternative, Diagnosis, LimitDocument, NoteDocument
from .bars import number, rank_table
from .heatmap import heatmap
from .next_steps import next_steps
from .revisions import revise_if
from .words import count, named, names, percent, sentence, wrapped

VERDICT_STYLES = {"established": "bold red", "probable": "bold yellow", "healthy": "bold green"}
MOST_REASONS = 6
MOST_RIVALS = 3
MOST_NOTES = 6
READING = "evidence-quality.reading-left-something-out"
"""Rule that repeats notes of the read report as limits; the notes have a section of their own."""


def render(diagnosis: Diagnosis, *, width: int, color: bool) -> list[Text]:
    """Lines of at most `width` columns, in the order a reader needs them. Meaning never rests on colour."""
    lines = [*_head(diagnosis, width), *wrapped(_coverage(diagnosis), width, first=""), Text()]
    lines += _pictures(diagnosis, width, color)
    decided = diagnosis.leading is not None and diagnosis.leading.cause is not None
    sections = (
        ("Why", _why(diagnosis, width)),
        ("Weaker" if decided else "Candidates", _rivals(diagnosis, width)),
        ("Corrected", _corrections(diagnosis, width)),
        ("Not shown", _not_shown(diagnosis, width)),
        ("Next", next_steps(diagnosis, width)),
        ("I would change my mind if", revise_if(diagnosis, width)),
        ("Meanwhile (apart from the diagnosis; depends on what the run must keep)", _meanwhile(diagnosis, width)),
        ("Reading", _reading(diagnosis, width)),
    )
    for title, body in sections:
        part = list(body)
        if part:
            heading = list(wrapped(title, width, first=""))
            for line in heading:
                line.stylize("bold")
            lines += [*heading, *part]
    return lines


def _head(d: Diagnosis, width: int) -> Iterator[Text]:
    """The statement; the verdict ends its line where it is one line with room, else it has a line of its own."""
    verdict = Text(d.verdict.replace("_", " "), style=VERDICT_STYLES.get(d.verdict, "bold"))
    lines = list(wrapped(d.headline, width, indent=""))
    for line in lines:
        line.stylize("bold")
    if len(lines) == 1 and len(lines[0]) + 3 + len(verdict) <= width:
        yield lines[0].append("   ").append_text(verdict)
        return
    yield from lines
    yield verdict


def _coverage(d: Diagnosis) -> str:
    m = d.measures
    if not m.ranks:
        return "no times of any rank"
    parts = [f"{m.ranks} of {m.ranks_expected} ranks" if (m.ranks_expected or 0) > m.ranks else count(m.ranks, "rank")]
    step = f" of {number(m.step_ms)} ms" if m.step_ms is not None else ""
    parts.append(f"{count(m.steps, 'step')}{step}" if m.steps else "one summary row a rank")
    total = d.gate.paired + d.gate.unpaired
    if total:
        method = "" if d.gate.method == "none" else f" ({d.gate.method.replace('_', ' ')})"
        parts.append(f"{d.gate.paired} of {total} collectives paired{method}")
    elif d.gate.collectives == "unknown":
        parts.append("collectives not seen")
    if m.transfer_ms is not None:
        parts.append(f"transfer {number(m.transfer_ms)} ms")
    return ", ".join(parts)


def _pictures(d: Diagnosis, width: int, color: bool) -> list[Text]:
    late = sorted({rank for s in d.scopes if s.verdict != "insufficient_evidence" for rank in s.ranks})
    lines: list[Text] = []
    table = rank_table(d.measures.table, late, width=width - 2) if d.measures.table else []
    if table:
        lines += [*(Text("  ").append_text(line) for line in table), Text()]
    if late and d.measures.heat is not None and d.measures.steps != 0:
        last = max((row.rank for row in d.measures.table), default=None)
        drawn = heatmap(d.measures.heat, late, width=width - 2, color=color, last_rank=last)
        if drawn:
            lines += [*(Text("  ").append_text(line) for line in drawn), Text()]
    return lines


def _why(d: Diagnosis, width: int) -> Iterator[Text]:
    for place, finding in enumerate(d.why[:MOST_REASONS], 1):
        lines = list(wrapped(finding.text, width, indent="     ", first=f"  {place}  "))
        tag = f"[{finding.rule}]"
        if len(lines[-1]) + len(tag) + 2 > width:
            lines.append(Text())
        lines[-1].append(" " * max(1, width - len(lines[-1]) - len(tag)))
        lines[-1].append(tag, style="dim")
        yield from lines
    if len(d.why) > MOST_REASONS:
        yield Text(f"     {len(d.why) - MOST_REASONS} more in --format json")


def _rivals(d: Diagnosis, width: int) -> Iterator[Text]:
    """Rivals of the largest scope's cause; a reason that `Why` gives already is named by its number."""
    titles = names(d)
    places = {finding.text: place for place, finding in reversed([*enumerate(d.why[:MOST_REASONS], 1)])}
    top = d.scopes[0].id if d.scopes else ""
    rivals = [a for a in d.alternatives if a.probability is not None and a.scope == top]
    alike: dict[str, list[str]] = {}
    for rival in rivals[:MOST_RIVALS]:
        place = places.get(rival.why_weaker)
        said = alike.setdefault(f"see {place}" if place else sentence(rival.why_weaker), [])
        said.append(f"{named(rival.cause, titles)} ({percent(rival.probability or 0.0)})")
    for reason, causes in alike.items():
        yield from wrapped(f"{', '.join(causes)}: {reason}", width, indent="    ", first="  - ")


def _corrections(d: Diagnosis, width: int) -> Iterator[Text]:
    for correction in d.corrections:
        yield from wrapped(f"{correction.answer} {correction.instead}", width)


def _not_shown(d: Diagnosis, width: int) -> Iterator[Text]:
    limits = [limit for limit in d.limits if _is_news(limit, d)]
    for limit in limits:
        most = f" (at most {limit.at_most})" if _capped(limit, d) else ""
        yield from wrapped(f"{sentence(limit.text)}{most}", width, indent="    ", first="  - ")
    said = [limit.text for limit in limits] + [finding.text for finding in d.why]
    if not any(text.endswith(" open.") for text in said):
        yield from _open_mechanisms(d, width)


def _capped(limit: LimitDocument, d: Diagnosis) -> bool:
    """Whether the limit holds a verdict down that is given here, and does not say so itself."""
    bears = limit.scope in ("job", *(scope.id for scope in d.scopes))
    return bears and limit.at_most in ("probable", "undetermined") and "at most" not in limit.text


def _is_news(limit: LimitDocument, d: Diagnosis) -> bool:
    known = limit.rule == "verdict" and limit.text in d.headline
    return not (known or limit.rule == READING or any(limit.text == f.text for f in d.why))


def _open_mechanisms(d: Diagnosis, width: int) -> Iterator[Text]:
    groups: dict[str, list[Alternative]] = {}
    for item in d.alternatives:
        if item.probability is None:
            groups.setdefault(item.cause.partition("/")[0], []).append(item)
    for cause, items in groups.items():
        inside = ", ".join(item.cause.rpartition("/")[2].replace("_", " ") for item in items)
        yield from wrapped(f"Open within {named(cause, names(d))}: {inside}.", width, indent="    ", first="  - ")


def _meanwhile(d: Diagnosis, width: int) -> Iterator[Text]:
    for mitigation in d.mitigation:
        text = f"{sentence(mitigation.text)} Data order: {sentence(mitigation.data_order)}"
        yield from wrapped(text, width, indent="    ", first="  - ")


def _reading(d: Diagnosis, width: int) -> Iterator[Text]:
    folder = _folder(d.read_report.sources)
    notes = dict.fromkeys(_note(note, folder) for note in d.read_report.notes if note.severity != "info")
    for note in list(notes)[:MOST_NOTES]:
        yield from wrapped(note, width, indent="    ", first="  - ")
    if len(notes) > MOST_NOTES:
        yield Text(f"    {len(notes) - MOST_NOTES} more in --format json")


def _note(note: NoteDocument, folder: str) -> str:
    place = f"{posixpath.relpath(note.file, folder) if folder else note.file}: " if note.file else ""
    times = f" ({note.count} times)" if note.count > 1 else ""
    weakens = f"; weakens {note.weakens}" if note.weakens else ""
    return sentence(f"{place}{note.detail}{times}{weakens}")


def _folder(sources: tuple[str, ...]) -> str:
    """The folder that holds all files read; empty where they have none in common."""
    parents = {posixpath.dirname(source) for source in sources}
    if not all(parents) or len({posixpath.isabs(parent) for parent in parents}) != 1:
        return ""
    return posixpath.commonpath(parents)
