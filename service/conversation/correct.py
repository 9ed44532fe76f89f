"""Corrections of what was said: another rank, another value. Pure; gives the evidence as it should have been."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from .acts import Corrected
from .events import EvidenceAttached, StatedFact, StatedNumber, as_statements
from .state import Held, SessionState
from .words import COLUMNS, figure, statements_in_words


@dataclass(frozen=True, slots=True)
class Correction:
    """Evidence that changes, each with its old id; the change in words; the rank that was said and the one meant."""

    changed: tuple[EvidenceAttached, ...] = ()
    in_words: str = ""
    ranks: tuple[str, str] | None = None


def corrected(act: Corrected, state: SessionState) -> Correction:
    """What a correction changes; nothing where it fits nothing."""
    said = [h for h in state.standing if h.given.form == "statement"]
    if act.new_rank is not None:
        return _rank(act, said)
    if act.new_value is not None:
        return _value(act, said)
    return Correction()


def _rank(act: Corrected, said: list[Held]) -> Correction:
    old = str(act.old_rank) if act.old_rank is not None else _last_named(said)
    new = str(act.new_rank)
    if old is None or old == new:
        return Correction()
    changed = [_renamed(h.given, old, new) for h in said if _names(h.given, old)]
    if act.new_value is not None and changed:
        mine = [n for n in changed[-1].numbers if n.who == new and act.column in (None, n.column)]
        changed[-1] = _revalued(changed[-1], mine[0], act.new_value) if mine else changed[-1]
    return Correction(tuple(changed), f"rank {new}, not {old}", (old, new))


def _last_named(said: list[Held]) -> str | None:
    for held in reversed(said):
        for number in held.given.numbers:
            if number.who.isdecimal():
                return number.who
        for item in held.given.facts:
            ranks = str(item.values.get("ranks", ""))
            if ranks.isdecimal():
                return ranks
    return None


def _names(given: EvidenceAttached, rank: str) -> bool:
    scopes = (f"rank:{rank}", rank)
    return (
        any(n.who == rank for n in given.numbers)
        or rank in given.sources
        or any(item.values.get(name) in scopes for item in given.facts for name in ("scope", "ranks", "rank"))
    )


def _renamed(given: EvidenceAttached, old: str, new: str) -> EvidenceAttached:
    """The two ranks change places, so that nothing is named twice."""
    swap = {old: new, new: old}

    def number(n: StatedNumber) -> StatedNumber:
        return msgspec.structs.replace(n, who=swap.get(n.who, n.who))

    def item(f: StatedFact) -> StatedFact:
        values = dict(f.values)
        for name in ("ranks", "rank"):
            if str(values.get(name)) in swap:
                swapped = swap[str(values[name])]
                values[name] = int(swapped) if isinstance(values[name], int) else swapped
        scope = str(values.get("scope", ""))
        if scope.startswith("rank:") and scope[5:] in swap:
            values["scope"] = f"rank:{swap[scope[5:]]}"
        return msgspec.structs.replace(f, values=values)

    return msgspec.structs.replace(
        given,
        numbers=[number(n) for n in given.numbers],
        sources={swap.get(who, who): label for who, label in given.sources.items()},
        facts=[item(f) for f in given.facts],
        in_words=[_reworded(w, old, new) for w in given.in_words],
        answers=[[q, f"rank:{new}" if s == f"rank:{old}" else s, a] for q, s, a in given.answers],
    )


def _reworded(text: str, old: str, new: str) -> str:
    return text.replace(f"rank {old} ", f"rank {new} ").replace(f"rank {old},", f"rank {new},")


def _value(act: Corrected, said: list[Held]) -> Correction:
    def meant(n: StatedNumber) -> bool:
        fits = act.column in (None, n.column) and (act.old_rank is None or n.who == str(act.old_rank))
        return fits and (act.old_value is None or abs(n.value - act.old_value) <= max(n.half_range, 1e-9))

    for held in reversed(said):
        found = [n for n in held.given.numbers if meant(n)]
        if found and act.new_value is not None:
            chosen = next((n for n in found if n.who.isdecimal()), found[0])
            name = COLUMNS.get(chosen.column, chosen.column.replace("_", " "))
            unit = " ms" if chosen.column.endswith("_ms") else ""
            words = f"{name} of rank {chosen.who} {figure(act.new_value)}{unit}, not {figure(chosen.value)}{unit}"
            return Correction((_revalued(held.given, chosen, act.new_value),), words)
    return Correction()


def _revalued(given: EvidenceAttached, old: StatedNumber, value: float) -> EvidenceAttached:
    """The evidence in which a number is another one."""
    new = msgspec.structs.replace(old, value=value, half_range=0.0, relative=False)
    numbers = [new if n == old else n for n in given.numbers]
    before = statements_in_words(as_statements(given.numbers))
    rest = [w for w in given.in_words if w not in before]
    return msgspec.structs.replace(
        given, numbers=numbers, in_words=[*statements_in_words(as_statements(numbers)), *rest]
    )
