"""States what the measures found as facts of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..knowledge.facts import Fact, fact
from ..knowledge.thresholds import threshold
from .common import transfer_view
from .lateness import known_step, sampling
from .rotating import take_turns, turn_facts
from .scopes import LateScope
from .tables import SUMMARY, Note, Tables

if TYPE_CHECKING:
    from .measure import View


def rank_text(ranks: Sequence[int]) -> str:
    """Ranks as people write them: 0-3,7."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def mean_step_ms(seen: View) -> float | None:
    """Mean step time over ranks and steps, ms."""
    if seen.matrix is not None:
        return known_step(seen.matrix)
    table = seen.tables.steps
    column = None if table is None else table.columns.get("step_ms")
    known = None if column is None else column[np.isfinite(column)]
    return float(known.mean()) if known is not None and len(known) else None


def evidence_kind(tables: Tables) -> str:
    """profile, log, table, summary or mixed."""
    kinds = {info.clock for info in tables.ranks}
    if tables.collectives is not None or tables.spans is not None:
        return "mixed" if kinds & {"log", "none"} else "profile"
    if tables.steps is None:
        return "table"
    if (tables.steps.step == SUMMARY).all():
        return "summary"
    return "log" if "log" in kinds else "table"


def job_facts(seen: View) -> list[Fact]:
    """job and warmup."""
    steps, level = _steps_and_sampling(seen)
    expected = {info.world_size for info in seen.tables.ranks if info.world_size}
    stages = bool(seen.matrix is not None and seen.matrix.stages) or bool(seen.rows is not None and seen.rows.stages)
    found = [
        fact(
            "job",
            {
                "ranks": len(seen.ranks),
                "ranks_expected": max(expected) if expected else None,
                "steps": steps,
                "step_ms": mean_step_ms(seen),
                "evidence": evidence_kind(seen.tables),
                "lateness_known": seen.matrix is not None and len(seen.matrix.ranks) > 1,
                "stages_known": stages,
                "sampling": level,
            },
        )
    ]
    if seen.warmup is not None:
        found.append(fact("warmup", {"steps": 1, "first_ms": seen.warmup[1], "rest_ms": seen.warmup[2]}))
    return found


def step_count(seen: View) -> int:
    """Steps that were measured; 0 for one row a rank."""
    return _steps_and_sampling(seen)[0]


def _steps_and_sampling(seen: View) -> tuple[int, str]:
    matrix, table = seen.matrix, seen.tables.steps
    if matrix is not None:
        count = 0 if matrix.summary else len(matrix.steps)
        return count, sampling(count, len(matrix.ranks), summary=matrix.summary)
    if table is None:
        return 0, "none"
    count = len(np.unique(table.step[table.step != SUMMARY]))
    return count, sampling(count, len(seen.ranks), summary=count == 0)


def gate_facts(seen: View) -> list[Fact]:
    """gate and rank_missing (L04)."""
    expected = max((info.world_size or 0 for info in seen.tables.ranks), default=0)
    missing = [r for r in range(expected) if r not in seen.ranks] if expected else []
    collectives, method = _gate_state(seen)
    gate = {
        "collectives": collectives,
        "ranks": "missing" if missing else "complete" if expected else "unknown",
        "method": method,
        "paired": seen.pairing.paired if seen.pairing else 0,
        "unpaired": seen.pairing.unpaired if seen.pairing else 0,
    }
    named = [fact("rank_missing", {"rank": r}) for r in missing[:16]]
    return [fact("gate", gate), *named]


def _gate_state(seen: View) -> tuple[str, str]:
    if seen.pairing is not None:
        settled = seen.pairing.paired > 0 and not uneven_steps(seen)
        return ("matched", seen.pairing.method) if settled else ("unknown", "none")
    table = seen.tables.steps
    if len(seen.ranks) == 1 and all((info.world_size or 1) == 1 for info in seen.tables.ranks):
        return "matched", "none"
    if table is None or (table.step == SUMMARY).all():
        return "unknown", "none"
    counts = {int((table.rank == r).sum()) for r in np.unique(table.rank)} if len(seen.ranks) <= 64 else set(
        np.unique(table.rank, return_counts=True)[1].tolist()
    )  # fmt: skip
    return ("matched_by_progress", "progress") if len(counts) == 1 else ("unknown", "none")


def uneven_steps(seen: View) -> list[int]:
    """Steps that every rank recorded, but in which ranks made different numbers of calls: one may have stopped.

    The first step of a window, and on devices the last, may have lost calls to the window's edge.
    """
    table, steps = seen.tables.collectives, seen.tables.steps
    if table is None or steps is None or not table.groups or len({g for g in table.groups if g}) > 1:
        return []
    recorded = [set(steps.step[steps.rank == r].tolist()) for r in seen.ranks]
    common = sorted(set.intersection(*recorded))[1:]
    if any(info.clock == "device" for info in seen.tables.ranks):
        common = common[:-1]
    counts = np.zeros((len(seen.ranks), len(common)), dtype=np.int64)
    for row, rank in enumerate(seen.ranks):
        mine = table.step[table.rank == rank]
        counts[row] = [int((mine == n).sum()) for n in common]
    return [n for n, column in zip(common, counts.T, strict=True) if len(set(column.tolist())) > 1]


def reading_facts(report: Sequence[Note]) -> list[Fact]:
    """One fact a note code that weakens conclusions, and contradictions."""
    found: dict[str, Fact] = {}
    for note in report:
        if note.code.startswith("contradiction-"):
            first, _, second = note.detail.partition(" | ")
            about = note.code.removeprefix("contradiction-")
            found[note.code] = fact("contradiction", {"about": about, "first": first, "second": second})
        elif note.severity != "info":
            count = sum(n.count for n in report if n.code == note.code)
            found.setdefault(note.code, fact("reading", {"code": note.code, "count": count, "detail": note.detail}))
    return list(found.values())


def scope_facts(seen: View) -> list[Fact]:
    """scope, stage_excess, stages_unknown, unaccounted, recurrence, stray_event, equalised and wait."""
    found: list[Fact] = []
    for scope in seen.scopes:
        found.append(_scope_fact(scope, seen))
        found.extend(_stage_facts(scope))
        found.extend(_recurrence(scope))
        found.extend(_missing_may_be_later(scope, seen))
    if seen.matrix is not None:
        turns = take_turns(seen.matrix, seen.scopes, seen.tables.batches)
        found.extend(turn_facts(seen.matrix, turns, rank_text(seen.ranks)) if turns else [])
    for stray in seen.strays:
        found.append(
            fact(
                "stray_event",
                {"rank": stray.rank, "step": stray.step, "lateness_ms": stray.lateness_ms, "stage": stray.stage},
            )
        )
    if seen.rows is not None:
        for stage, (value, spread) in seen.rows.equalised.items():
            found.append(fact("equalised", {"stage": stage, "spread_ms": spread, "value_ms": value}))
    matrix = seen.matrix
    if matrix is not None and matrix.wait is not None and len(matrix.ranks) <= 64:
        found.extend(
            fact("wait", {"rank": r, "wait_ms": float(w)})
            for r, w in zip(matrix.ranks, matrix.wait.mean(axis=1), strict=True)
        )
    return found


def _missing_may_be_later(scope: LateScope, seen: View) -> list[Fact]:
    """With a rank missing, transfer is an upper bound: it holds whatever the missing rank came later still."""
    expected = max((info.world_size or 0 for info in seen.tables.ranks), default=0)
    moved = None if seen.matrix is None else transfer_view(seen.matrix)
    if moved is None or all(r in seen.ranks for r in range(expected)) or moved.mean_ms < scope.lateness_ms:
        return []
    told = {"scope": scope.id, "lateness_ms": scope.lateness_ms, "transfer_ms": moved.mean_ms}
    return [fact("missing_may_be_later", told)]


def _scope_fact(scope: LateScope, seen: View) -> Fact:
    assert seen.matrix is not None
    return fact(
        "scope",
        {
            "scope": scope.id,
            "kind": "rank" if len(scope.ranks) == 1 else "set",
            "ranks": rank_text(scope.ranks),
            "lateness_ms": scope.lateness_ms,
            "loss_ms": scope.loss_ms,
            "loss_share": scope.loss_share,
            "pattern": scope.pattern,
            "late_steps": len(scope.late_steps),
            "steps": scope.steps,
            "noise_ms": scope.noise_ms,
            "sampling": scope.sampling,
            "split": scope.split,
            "excess_in": seen.matrix.basis,
        },
    )


def _stage_facts(scope: LateScope) -> list[Fact]:
    if not scope.stages:
        return [fact("stages_unknown", {"scope": scope.id})]
    found = [
        fact(
            "stage_excess",
            {
                "scope": scope.id,
                "stage": s.stage,
                "excess_ms": s.excess_ms,
                "coverage": s.coverage,
                "part": s.part,
                "late_ms": s.late_ms,
                "on_time_ms": s.on_time_ms,
            },
        )
        for s in scope.stages
    ]
    exclusive = [s for s in scope.stages if s.stage != "compute" or all(x.stage != "forward" for x in scope.stages)]
    rest = 1.0 - sum(s.coverage for s in exclusive)
    if rest >= threshold("coverage_some"):
        found.append(fact("unaccounted", {"scope": scope.id, "excess_ms": rest * scope.lateness_ms, "coverage": rest}))
    return found


def _recurrence(scope: LateScope) -> list[Fact]:
    if scope.pattern != "intermittent":
        return []
    gaps = np.diff(scope.late_steps)
    period = int(gaps[0]) if len(gaps) and (gaps == gaps[0]).all() else None
    delayed = scope.before_ms >= threshold("coverage_large") * scope.lateness_ms
    return [
        fact(
            "recurrence",
            {
                "scope": scope.id,
                "events": len(scope.late_steps),
                "event_ms": scope.lateness_ms,
                "period_steps": period,
                "delayed": delayed,
            },
        )
    ]
