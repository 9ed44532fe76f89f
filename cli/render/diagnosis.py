"""A diagnosis as an engineer's note: the statement, its evidence, what is open, what to run, what would change it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.text import Text

from ...service.diagnosis.schemas import Becomes, Diagnosis, ExperimentDocument, QuestionDocument
from .bars import number, rank_table
from .heatmap import heatmap

VERDICT_STYLES = {"established": "bold red", "probable": "bold yellow", "healthy": "bold green"}
MOST_REASONS = 6
MOST_REVISIONS = 6


def render(diagnosis: Diagnosis, *, width: int, color: bool) -> list[Text]:
    """Lines of at most `width` columns, in the order a reader needs them. Meaning never rests on colour."""
    lines = [*_head(diagnosis, width), *wrapped(_coverage(diagnosis), width, first=""), Text()]
    lines += _pictures(diagnosis, width, color)
    sections = (
        ("Why", _why(diagnosis, width)),
        ("Corrected", _corrections(diagnosis, width)),
        ("Not shown", _not_shown(diagnosis, width)),
        ("Next", _next(diagnosis, width)),
        ("I would change my mind if", _revise_if(diagnosis, width)),
        ("Meanwhile (apart from the diagnosis; depends on what the run must keep)", _meanwhile(diagnosis, width)),
        ("Read with care", _read_notes(diagnosis, width)),
    )
    for title, body in sections:
        part = list(body)
        if part:
            heading = list(wrapped(title, width, first=""))
            for line in heading:
                line.stylize("bold")
            lines += [*heading, *part]
    return lines


def wrapped(text: str, width: int, *, indent: str = "  ", first: str | None = None) -> Iterator[Text]:
    """A paragraph in lines of at most `width`; `first` starts the first line."""
    start = indent if first is None else first
    for line in textwrap.wrap(text, width, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False):
        yield Text(line)


def _head(d: Diagnosis, width: int) -> Iterator[Text]:
    verdict = d.verdict.replace("_", " ")
    style = VERDICT_STYLES.get(d.verdict, "bold")
    lines = list(wrapped(d.headline, width, indent=""))
    lines[0].stylize("bold")
    if len(lines[-1]) + len(verdict) + 3 > width:
        lines.append(Text())
    lines[-1].append(" " * 3 if len(lines[-1]) else "").append(verdict, style=style)
    yield from lines


def _coverage(d: Diagnosis) -> str:
    m = d.measures
    parts = [f"{m.ranks} of {m.ranks_expected} ranks" if (m.ranks_expected or 0) > m.ranks else _count(m.ranks, "rank")]
    step = f" of {number(m.step_ms)} ms" if m.step_ms is not None else ""
    parts.append(f"{_count(m.steps, 'step')}{step}" if m.steps else "one summary row a rank")
    total = d.gate.paired + d.gate.unpaired
    if total:
        parts.append(f"{d.gate.paired} of {total} collectives paired ({d.gate.method.replace('_', ' ')})")
    elif d.gate.collectives == "unknown":
        parts.append("collectives not seen")
    if m.transfer_ms is not None:
        parts.append(f"transfer {number(m.transfer_ms)} ms")
    return ", ".join(parts)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _pictures(d: Diagnosis, width: int, color: bool) -> list[Text]:
    late = sorted({rank for scope in d.scopes for rank in scope.ranks})
    lines: list[Text] = []
    if d.measures.table:
        lines += [Text("  ").append_text(line) for line in rank_table(d.measures.table, late, width=width - 2)]
        lines.append(Text())
    if d.measures.heat is not None:
        drawn = heatmap(d.measures.heat, late, width=width - 2, color=color)
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


def _corrections(d: Diagnosis, width: int) -> Iterator[Text]:
    for correction in d.corrections:
        yield from wrapped(f"{correction.answer} {correction.instead}", width)


def _not_shown(d: Diagnosis, width: int) -> Iterator[Text]:
    for limit in d.limits:
        most = f" (at most {limit.at_most.replace('_', ' ')})" if limit.at_most else ""
        yield from wrapped(f"{limit.text}{most}", width, indent="    ", first="  - ")
    rivals = [a for a in d.alternatives if a.probability is not None]
    for rival in rivals:
        text = f"{rival.cause.replace('_', ' ')}, {rival.probability:.0%}: {rival.why_weaker}"
        yield from wrapped(text, width, indent="    ", first="  - ")
    open_mechanisms = [a for a in d.alternatives if a.probability is None]
    if open_mechanisms:
        names = ", ".join(a.cause.rpartition("/")[2].replace("_", " ") for a in open_mechanisms)
        yield from wrapped(f"Open within it: {names}.", width, indent="    ", first="  - ")


def _next(d: Diagnosis, width: int) -> Iterator[Text]:
    if d.next.experiment is not None:
        yield from _experiment(d.next.experiment, width)
    for question in d.next.questions[: 1 if d.next.experiment else 2]:
        yield from _question(question, width)
    gain = d.recoverable
    if gain is not None:
        low, high = gain.interval
        step = f" of {number(d.measures.step_ms)} ms" if d.measures.step_ms is not None else ""
        text = f"Gain if it works: about {number(gain.ms_per_step)} ms{step} a step "
        yield from wrapped(f"{text}(95 % interval {number(low)}-{number(high)}).", width)


def _experiment(plan: ExperimentDocument, width: int) -> Iterator[Text]:
    held = f" Held: {', '.join(plan.hold)}." if plan.hold else ""
    yield from wrapped(f"{plan.title}: {_sentence(plan.change)} {_count(plan.steps, 'step')}.{held}", width)
    size = max((len(p.cause) for p in plan.predictions), default=0)
    for prediction in plan.predictions:
        name = prediction.cause.replace("_", " ").ljust(size)
        yield from wrapped(prediction.text, width, indent=" " * (size + 6), first=f"    {name}  ")
    yield from wrapped(f"Decides at: {plan.threshold}", width)
    yield from wrapped(f"Stop early: {plan.abort}", width)


def _question(question: QuestionDocument, width: int) -> Iterator[Text]:
    yield from wrapped(question.text, width, indent="    ", first="  ? ")
    yield from wrapped(f"({question.because})", width, indent="    ")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _revise_if(d: Diagnosis, width: int) -> Iterator[Text]:
    for revision in d.revise_if[:MOST_REVISIONS]:
        text = f"{revision.text.rstrip('.')} -> {_becomes(revision.becomes)}"
        yield from wrapped(text, width, indent="    ", first="  - ")
    if len(d.revise_if) > MOST_REVISIONS:
        yield Text(f"    {len(d.revise_if) - MOST_REVISIONS} more in --format json")
    if d.counterfactuals != "complete":
        yield Text(f"    (counterfactuals: {d.counterfactuals})")


def _becomes(after: Becomes) -> str:
    where = f"rank {', '.join(map(str, after.ranks))}" if after.ranks else ""
    cause = (after.cause or "").replace("_", " ")
    named = ", ".join(part for part in (cause, where) if part)
    return f"{after.verdict.replace('_', ' ')}: {named}" if named else after.verdict.replace("_", " ")


def _meanwhile(d: Diagnosis, width: int) -> Iterator[Text]:
    for mitigation in d.mitigation:
        text = f"{_sentence(mitigation.text)} Data order: {_sentence(mitigation.data_order)}"
        yield from wrapped(text, width, indent="    ", first="  - ")


def _read_notes(d: Diagnosis, width: int) -> Iterator[Text]:
    for note in d.read_report.notes:
        if note.severity == "info":
            continue
        place = f"{note.file}: " if note.file else ""
        times = f" ({note.count} times)" if note.count > 1 else ""
        weakens = f"; weakens {note.weakens}" if note.weakens else ""
        yield from wrapped(f"{place}{note.detail}{times}{weakens}", width, indent="    ", first="  - ")
