"""The common form in which lateness is measured: ranks x steps, from profiles or from typed tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .tables import Bools, Floats, Ints

Basis = Literal["own_time", "arrival", "stage"]


@dataclass(frozen=True, slots=True, eq=False)
class StepMatrix:
    """Per rank and step, in ms; NaN is unknown. Shapes: (ranks, steps).

    `own` is what lateness is measured on (`basis`). `stages` are exclusive parts of it. `before` is the part of
    `own` that lies before the step's own start (work of the previous step's tail). `wait` is time inside
    collectives before the last arrival, `transfer` (steps,) what remains of them, `step` (steps,) the step time.
    `steps` is [SUMMARY] for one row a rank. `noise_hint` is the half range of a typed range, where given.
    `transfer_half_ms` is half of a range that was typed for the transfer.
    `relative`: `own` does not start with the step (it was told from waits), so it says nothing of the step time.
    """

    ranks: tuple[int, ...]
    steps: Ints
    own: Floats
    stages: Mapping[str, Floats]
    before: Floats | None
    wait: Floats | None
    transfer: Floats | None
    step: Floats | None
    basis: Basis
    summary: bool = False
    noise_hint_ms: float | None = None
    profile: bool = False
    relative: bool = False
    transfer_half_ms: float = 0.0

    def pick(self, columns: Ints | Bools) -> StepMatrix:
        """The same matrix with only some steps."""

        def cut(values: Floats | None) -> Floats | None:
            return None if values is None else values[..., columns]

        return StepMatrix(
            self.ranks,
            self.steps[columns],
            self.own[:, columns],
            {name: values[:, columns] for name, values in self.stages.items()},
            cut(self.before),
            cut(self.wait),
            cut(self.transfer),
            cut(self.step),
            self.basis,
            self.summary,
            self.noise_hint_ms,
            self.profile,
            self.relative,
            self.transfer_half_ms,
        )

    def only(self, rows: Sequence[int]) -> StepMatrix:
        """The same matrix with only some ranks, by row."""
        index = list(rows)

        def cut(values: Floats | None) -> Floats | None:
            return None if values is None else values[index]

        return replace(
            self,
            ranks=tuple(self.ranks[i] for i in index),
            own=self.own[index],
            stages={name: values[index] for name, values in self.stages.items()},
            before=cut(self.before),
            wait=cut(self.wait),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SyncMatrix:
    """Per rank and matched collective, for the replay; ms. `own` and `stages` (ranks, syncs), `transfer` and
    `step` (syncs,), `blocking` (syncs,): whether ranks stand still until it completes."""

    ranks: tuple[int, ...]
    step: Ints
    own: Floats
    stages: Mapping[str, Floats]
    transfer: Floats
    blocking: Bools
    period_ms: Mapping[int, float]
