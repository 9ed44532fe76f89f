"""Turns what reading, measuring and judging found into parts of the document. Pure; decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...knowledge.facts import Fact, fact_key
from ...knowledge.model import Knowledge
from ...rules import weigh
from ...rules.model import Finding
from ...rules.verdict import Judgement, ScopeJudgement
from ...rules.weigh import NONE, Belief
from ...traces.measure import Extras
from ...traces.tables import Tables
from .schemas import (
    HEAT_COLUMNS,
    HEAT_ROWS,
    Argument,
    Becomes,
    CauseDocument,
    Clock,
    FactDocument,
    FindingDocument,
    Gate,
    Heat,
    Leading,
    Measures,
    NoteDocument,
    RankRow,
    ReadReport,
    Recoverable,
    Scope,
)

UNNAMED = ("healthy", "insufficient_evidence")
"""Verdicts that name nobody."""
SEVERITY = {"unusable": 0, "weakens": 1, "info": 2}


def ranks_of(text: str) -> tuple[int, ...]:
    """Ranks from the form people write: `0-3,7`; anything else, such as `all`, names nobody in particular."""
    found: list[int] = []
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def fact_document(item: Fact) -> FactDocument:
    """A fact as published; numbers rounded to a millionth."""
    values = {name: round(v, 6) if isinstance(v, float) else v for name, v in item.values}
    return FactDocument(kind=item.kind, values=values, quality=item.quality, source=str(item.source))


def finding_document(finding: Finding) -> FindingDocument:
    """A finding as published."""
    premises = {alias: dict(premise) for alias, premise in finding.premises}
    return FindingDocument(id=finding.id, rule=finding.rule, text=finding.text, premises=premises)


def becomes(judgement: Judgement) -> Becomes:
    """The verdict that a hypothetical leads to; it names nobody where the verdict does not."""
    verdict, cause, _ = judgement.outcome
    top = judgement.leading
    if verdict in UNNAMED or top is None:
        return Becomes(verdict=verdict, cause=None, ranks=())
    return Becomes(verdict=verdict, cause=cause, ranks=named_ranks(top))


def named_ranks(scope: ScopeJudgement) -> tuple[int, ...]:
    """Ranks that stand out; none where all lose alike."""
    return () if scope.fact["kind"] == "common" else ranks_of(scope.ranks)


# ---- scopes ----------------------------------------------------------------------------------------------


def scopes(judgement: Judgement, knowledge: Knowledge) -> tuple[Scope, ...]:
    """Every scope with all its causes, largest loss first."""
    total = sum(float(s.fact["loss_ms"]) for s in judgement.scopes)
    return tuple(_scope(s, total, knowledge) for s in judgement.scopes)


def _scope(judged: ScopeJudgement, total_ms: float, knowledge: Knowledge) -> Scope:
    values = judged.fact
    loss = float(values["loss_ms"])
    return Scope(
        id=judged.scope,
        kind=values["kind"],  # pyright: ignore[reportArgumentType]  # pydantic checks it
        ranks=named_ranks(judged),
        members=judged.ranks,
        lateness_ms=round(float(values["lateness_ms"]), 3),
        pattern=str(values["pattern"]),
        loss_ms=round(loss, 3),
        loss_share=round(float(values["loss_share"]), 4),
        share=round(loss / total_ms, 4) if total_ms > 0 else 1.0,
        verdict=judged.verdict,  # pyright: ignore[reportArgumentType]  # a scope is never healthy
        reasons=judged.reasons,
        causes=tuple(_cause(b, knowledge) for b in judged.beliefs),
    )


def _cause(belief: Belief, knowledge: Knowledge) -> CauseDocument:
    values = {
        "cause": belief.cause,
        "title": cause_title(belief.cause, knowledge),
        "mechanism": belief.mechanism,
        "prior": round(belief.prior, 4),
        "probability": round(belief.probability, 4),
        "weight_db": round(belief.weight_db, 2),
        "vetoed": belief.vetoed,
        "for": [_argument(a) for a in belief.supporting],
        "against": [_argument(a) for a in belief.opposing],
    }
    return CauseDocument.model_validate(values)


def cause_title(cause: str, knowledge: Knowledge) -> str:
    """The cause in words."""
    entry = knowledge.causes.get(cause)
    return entry.title if entry else cause.replace("_", " ")


def _argument(item: weigh.Argument) -> Argument:
    plain = finding_document(item.finding)
    return Argument(
        **dict(plain),
        level=item.level,
        group=item.group,
        weight_db=item.weight_db,
        counted=item.counted,
    )


def leading(judgement: Judgement) -> Leading | None:
    """The leading hypothesis; None where the verdict names nobody."""
    top = judgement.leading
    if top is None or judgement.verdict in UNNAMED:
        return None
    belief = (top.belief(top.cause) if top.cause else None) or next(
        (b for b in top.beliefs if b.cause != NONE), top.top
    )
    return Leading(
        scope=top.scope,
        ranks=named_ranks(top),
        cause=top.cause,
        mechanism=top.mechanism,
        probability=round(belief.probability, 4),
        weight_db=round(belief.weight_db, 2),
    )


# ---- measures --------------------------------------------------------------------------------------------


def gate(facts: Iterable[Fact]) -> Gate:
    """The correctness gate; unknown where nothing is said of it."""
    known = next((f for f in facts if f.kind == "gate"), None)
    if known is None:
        return Gate(collectives="unknown", ranks="unknown", method="none", paired=0, unpaired=0)
    return Gate.model_validate(dict(known.values))


def measures(facts: Sequence[Fact], extras: Extras) -> Measures:
    """Figures of the job."""
    job = next((f for f in facts if f.kind == "job"), None)
    known = dict(job.values) if job else {}
    transfer = next((f for f in facts if f.kind == "transfer"), None)
    return Measures(
        ranks=int(known.get("ranks", 0)),
        ranks_expected=int(known["ranks_expected"]) if "ranks_expected" in known else None,
        steps=int(known.get("steps", 0)),
        step_ms=_rounded(extras.step_ms if extras.step_ms is not None else _number(known.get("step_ms"))),
        evidence=str(known.get("evidence", "none")),
        sampling=str(known.get("sampling", "none")),
        arrival_skew_ms=_rounded(extras.arrival_skew_ms),
        transfer_ms=_rounded(extras.transfer_ms if transfer is None else _number(transfer["transfer_ms"])),
        wait_ms=_waits(facts, extras),
        clock=_clock(facts),
        table=tuple(
            _row(row.rank, row.stages_ms, row.own_time_ms, row.lateness_ms, row.wait_ms) for row in extras.rows
        ),
        heat=_heat(extras),
    )


def _row(
    rank: int, stages_ms: Mapping[str, float], own_ms: float | None, late_ms: float | None, wait_ms: float | None
) -> RankRow:
    stages = {name: round(value, 3) for name, value in stages_ms.items()}
    return RankRow(
        rank=rank,
        stages_ms=stages,
        own_time_ms=_rounded(own_ms),
        lateness_ms=_rounded(late_ms),
        wait_ms=_rounded(wait_ms),
    )


def _waits(facts: Iterable[Fact], extras: Extras) -> dict[int, float]:
    stated = {int(f["rank"]): round(float(f["wait_ms"]), 3) for f in facts if f.kind == "wait"}
    shown = {row.rank: round(row.wait_ms, 3) for row in extras.rows if row.wait_ms is not None}
    return dict(sorted({**shown, **stated}.items()))


def _clock(facts: Iterable[Fact]) -> Clock | None:
    known = next((f for f in facts if f.kind == "clock"), None)
    if known is None:
        return None
    return Clock(state=str(known["state"]), method=str(known["method"]), bar_ms=_rounded(_number(known.get("bar_ms"))))


def _heat(extras: Extras) -> Heat | None:
    if not extras.heat_steps:
        return None
    rows = extras.heat_ms[:HEAT_ROWS]
    return Heat(
        ranks=extras.heat_ranks[:HEAT_ROWS],
        steps=extras.heat_steps[:HEAT_COLUMNS],
        lateness_ms=tuple(tuple(row[:HEAT_COLUMNS]) for row in rows),
    )


def recoverables(extras: Extras) -> tuple[Recoverable, ...]:
    """The gain of each scope and stage that was replayed."""
    return tuple(
        Recoverable(
            scope=r.scope,
            stage=r.stage,
            ms_per_step=round(r.ms_per_step, 3),
            share=round(r.share, 4),
            interval=(round(r.low_ms, 3), round(r.high_ms, 3)) if len(extras.heat_steps) > 1 else None,
            replay_error=round(r.replay_error, 4),
        )
        for r in extras.recoverable
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


# ---- evidence --------------------------------------------------------------------------------------------


def read_report(tables: Tables) -> ReadReport:
    """What was read, with notes from the most severe on."""
    ordered = sorted(tables.report, key=lambda n: (SEVERITY[n.severity], n.code, n.file, n.rank or 0, n.detail))
    notes = tuple(
        NoteDocument(
            code=n.code,
            severity=n.severity,
            detail=n.detail,
            file=n.file,
            rank=n.rank,
            count=n.count,
            weakens=n.weakens,
        )
        for n in ordered
    )
    return ReadReport(sources=tuple(tables.sources), notes=notes)


def canonical(facts: Iterable[Fact], knowledge: Knowledge) -> tuple[Fact, ...]:
    """Facts checked against the vocabulary, one a key, in one order."""
    checked = {fact_key(f, knowledge.keys): knowledge.check(f) for f in facts}
    return tuple(sorted(checked.values(), key=str))
