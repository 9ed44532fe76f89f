"""Weighs the arguments for and against each cause of one scope (DESIGN section 4). Pure.

A level is a fixed weight in dB against "none of these"; of an independence group only the strongest argument for a
cause and the strongest against it count; posterior = prior x 10^(sum of dB / 10), normalised over the causes that can
apply and "none of these", whose weight stays 0. An unknown weighs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..knowledge.thresholds import threshold
from .model import FactDict, Finding, Inference, Level

NONE = "none_of_these"
Strength = Literal["weak", "moderate", "strong", "decisive", "veto"]
LEVELS: Mapping[str, Level] = {"weak": "weak", "moderate": "moderate", "strong": "strong", "decisive": "decisive"}


@dataclass(frozen=True, slots=True)
class Argument:
    """A finding that bears on a cause of a scope. `weight_db` is signed; `counted` as the group rule decides."""

    finding: Finding
    cause: str
    level: Strength
    group: str
    weight_db: float
    mechanism: str | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Belief:
    """A cause inside a scope, with the arguments for and against it, strongest first."""

    cause: str
    prior: float
    weight_db: float
    probability: float
    vetoed: bool
    mechanism: str | None
    mechanisms_db: tuple[tuple[str, float], ...]
    arguments: tuple[Argument, ...]

    @property
    def supporting(self) -> tuple[Argument, ...]:
        """Arguments for the cause."""
        return tuple(a for a in self.arguments if a.weight_db > 0)

    @property
    def opposing(self) -> tuple[Argument, ...]:
        """Arguments against the cause, vetoes included."""
        return tuple(a for a in self.arguments if a.weight_db <= 0)


def kind_of(item: FactDict) -> str:
    """Kind of an engine fact. Some facts have a field named `kind`, so the engine's own name of it comes first."""
    return str(next(item[name] for name in ("_kind", "fact", "kind") if name in item))


def arguments_of(inference: Inference, scope: str) -> list[Argument]:
    """Every argument and veto that findings bring for a scope."""
    found: list[Argument] = []
    for finding in inference.findings:
        for item in finding.consequences:
            if item.get("scope") != scope:
                continue
            if kind_of(item) == "@argue":
                found.append(_argument(finding, item))
            elif kind_of(item) == "@veto":
                found.append(Argument(finding, str(item["cause"]), "veto", "veto", 0.0))
    return found


def _argument(finding: Finding, item: FactDict) -> Argument:
    level = LEVELS[str(item["level"])]
    sign = -1.0 if item.get("side") == "against" else 1.0
    mechanism = item.get("mechanism")
    return Argument(
        finding=finding,
        cause=str(item["cause"]),
        level=level,
        group=str(item["group"]),
        weight_db=sign * threshold(f"level_{level}_db"),
        mechanism=str(mechanism) if mechanism else None,
    )


def weigh(priors: Mapping[str, float], arguments: Sequence[Argument]) -> tuple[Belief, ...]:
    """Posterior of each cause, most probable first, ties by name."""
    own = {cause: _count(a for a in arguments if a.cause == cause) for cause in sorted({*priors, NONE})}
    weights_db = {cause: math.fsum(a.weight_db for a in found if a.counted) for cause, found in own.items()}
    vetoed = {cause: any(a.level == "veto" for a in found) for cause, found in own.items()}
    mass = {c: 0.0 if vetoed[c] else priors.get(c, 0.0) * 10 ** (weights_db[c] / 10) for c in own}
    total = math.fsum(mass.values()) or 1.0
    beliefs = [_belief(c, priors.get(c, 0.0), weights_db[c], mass[c] / total, vetoed[c], own[c]) for c in own]
    return tuple(sorted(beliefs, key=lambda b: (-b.probability, b.cause)))


def _belief(
    cause: str, prior: float, weight_db: float, probability: float, vetoed: bool, found: tuple[Argument, ...]
) -> Belief:
    mechanisms_db = _mechanisms_db(found)
    return Belief(cause, prior, weight_db, probability, vetoed, _singled_out(mechanisms_db), mechanisms_db, found)


def _count(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Mark, per group and side, all but the strongest as not counted. An argument against a mechanism leaves the
    cause alone, since the cause's other mechanisms stay open."""
    ordered = sorted(arguments, key=lambda a: (-abs(a.weight_db), a.finding.rule, a.finding.id, a.mechanism or ""))
    seen: set[tuple[str, bool]] = set()
    marked: list[Argument] = []
    for item in ordered:
        slot = (item.group, item.weight_db > 0)
        weighs = item.level != "veto" and not (item.mechanism and item.weight_db < 0)
        marked.append(replace(item, counted=weighs and slot not in seen))
        if weighs:
            seen.add(slot)
    return tuple(marked)


def _mechanisms_db(arguments: Sequence[Argument]) -> tuple[tuple[str, float], ...]:
    """Net weight of each mechanism argued about, strongest of each group and side, heaviest first."""
    best: dict[tuple[str, str, bool], float] = {}
    for item in arguments:
        if item.mechanism:
            slot = (item.mechanism, item.group, item.weight_db > 0)
            best[slot] = max(best.get(slot, 0.0), item.weight_db, key=abs)
    names = {slot[0] for slot in best}
    net = {name: math.fsum(db for slot, db in best.items() if slot[0] == name) for name in names}
    return tuple(sorted(net.items(), key=lambda pair: (-pair[1], pair[0])))


def _singled_out(mechanisms_db: Sequence[tuple[str, float]]) -> str | None:
    """The mechanism that stands at least one moderate argument above open and above its next rival."""
    if not mechanisms_db:
        return None
    step = threshold("level_moderate_db")
    rival = max(0.0, mechanisms_db[1][1]) if len(mechanisms_db) > 1 else 0.0
    return mechanisms_db[0][0] if mechanisms_db[0][1] - rival >= step else None


def margin_db(beliefs: Sequence[Belief]) -> float:
    """Odds of the first over the second, dB; at most 100."""
    if len(beliefs) < 2 or beliefs[1].probability <= 0.0:
        return 100.0
    return min(100.0, 10 * math.log10(beliefs[0].probability / beliefs[1].probability))
