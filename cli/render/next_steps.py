"""`Next`: the plan with its predictions, the question to ask, and what a repair would give. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from ...service.diagnosis.schemas import Diagnosis, ExperimentDocument, QuestionDocument, Recoverable, Scope
from .bars import TITLES, number
from .words import count, named, names, sentence, wrapped

LEAST_GAIN_MS = 0.05


def next_steps(d: Diagnosis, width: int) -> Iterator[Text]:
    """The experiment if there is one, one question beside it (else two), and the gain."""
    if d.next.experiment is not None:
        yield from _experiment(d.next.experiment, names(d), width)
    for question in d.next.questions[: 1 if d.next.experiment else 2]:
        yield from _question(question, width)
    yield from _gains(d, width)


def _experiment(plan: ExperimentDocument, titles: Mapping[str, str], width: int) -> Iterator[Text]:
    held = f" Held: {', '.join(plan.hold)}." if plan.hold else ""
    yield from wrapped(f"{plan.title}: {sentence(plan.change)} {count(plan.steps, 'step')}.{held}", width)
    causes = {p.cause: named(p.cause, titles) for p in plan.predictions}
    size = max((len(name) for name in causes.values()), default=0)
    for prediction in plan.predictions:
        first = f"    {causes[prediction.cause].ljust(size)}  "
        yield from wrapped(prediction.text, width, indent=" " * (size + 6), first=first)
    yield from wrapped(f"Decides at: {sentence(plan.threshold)}", width)
    yield from wrapped(f"Stop early: {sentence(plan.abort.removeprefix('stop '))}", width)


def _question(question: QuestionDocument, width: int) -> Iterator[Text]:
    yield from wrapped(question.text, width, indent="    ", first="  ? ")
    yield from wrapped(f"({question.because})", width, indent="    ")


def _gains(d: Diagnosis, width: int) -> Iterator[Text]:
    several = len({gain.scope for gain in d.recoverables}) > 1
    if several:
        scopes = {scope.id: scope for scope in d.scopes}
        for gain in d.recoverables:
            yield from wrapped(f"{_alone(gain, scopes.get(gain.scope))}: {_gain(gain, d)}.", width)
    elif d.recoverable is not None:
        yield from wrapped(f"Gain if it works: {_gain(d.recoverable, d)}.", width)


def _gain(gain: Recoverable, d: Diagnosis) -> str:
    if gain.ms_per_step < LEAST_GAIN_MS:
        return "nothing while a later rank holds the step"
    step = f" of {number(d.measures.step_ms)} ms" if d.measures.step_ms is not None else ""
    sure = f" (95 % interval {number(gain.interval[0])}-{number(gain.interval[1])})" if gain.interval else ""
    return f"about {number(gain.ms_per_step)} ms{step} a step{sure}"


def _alone(gain: Recoverable, scope: Scope | None) -> str:
    stage = TITLES.get(gain.stage, gain.stage.replace("_", " "))
    if scope is None or not scope.ranks:
        return f"Gain from {stage} alone"
    who = f"rank {scope.members}'s" if len(scope.ranks) == 1 else f"ranks {scope.members}'"
    return f"Gain from {who} {stage} alone"
