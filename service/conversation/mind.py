"""Reasoning over a session's evidence, with what was already reasoned kept at hand. Same evidence, same result."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from ...knowledge.model import Knowledge
from ...rules.candidates import candidates
from ...rules.counterfactuals import Assessment, Reasoned, ask, assessed_alike, reason
from ..diagnosis import documents
from ..diagnosis.reasoner import Reasoner
from ..diagnosis.schemas import Diagnosis
from ..diagnosis.service import Identity, diagnose, identify
from .evidence import Evidence, Recordings, assemble
from .state import SessionState

MOST_KEPT = 128
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """Evidence, the reasoning over it, and its identity."""

    evidence: Evidence
    now: Reasoned
    identity: Identity

    @property
    def key(self) -> Hashable:
        """Equal for equal facts with equal sources: sessions may share facts and never their sources."""
        return (self.identity.id, tuple(str(f.source) for f in self.now.facts))


class Mind:
    """Assembles, reasons, asks and diagnoses; thread-safe. `patient`: reasoning for what no reply waits for."""

    def __init__(self, reasoner: Reasoner, patient: Reasoner | None = None) -> None:
        self.reasoner = reasoner
        self._patient = patient or reasoner
        self._views: _Kept[Reasoned] = _Kept()
        self._questions: _Kept[tuple[Assessment, ...]] = _Kept()
        self._documents: _Kept[Diagnosis] = _Kept()
        self._looks: _Kept[Diagnosis] = _Kept()

    @property
    def knowledge(self) -> Knowledge:
        """What is known."""
        return self.reasoner.knowledge

    def view(self, state: SessionState, recordings: Recordings) -> View:
        """Evidence of a state and its verdict. Raises InputError where the evidence cannot be put together."""
        evidence = assemble(state, recordings, self.knowledge)
        facts = documents.canonical(evidence.facts, self.knowledge)
        identity = identify(facts, evidence.report, evidence.extras, reasoner=self.reasoner)
        key = (identity.evidence, tuple(str(f.source) for f in facts))
        now = self._views.get(key, lambda: reason(facts, self.knowledge, self.reasoner.infer))
        return View(evidence, now, identity)

    def questions(
        self,
        view: View,
        skip: frozenset[tuple[str, str]],
        *,
        first: int | None = None,
        keep: tuple[str, str] | None = None,
    ) -> tuple[Assessment, ...]:
        """Questions worth asking, best first, without those in `skip`; of the rest at least the `first` and `keep`."""
        return self._questions.get(
            (view.key, skip, first, keep),
            lambda: ask(view.now, self.knowledge, self.reasoner.infer, skip, first=first, keep=keep),
        )

    def apart(self, view: View, asked: frozenset[tuple[str, str]]) -> Assessment | None:
        """A question that a rule put forward and whose answer changes only what may be done meanwhile."""
        now = view.now
        found = candidates(now.facts, now.judgement, now.inference, self.knowledge)
        apart = [c for c in found if c.kind == "question" and c.proposed and self.knowledge.questions[c.id].apart]
        left = [c for c in apart if (c.id, c.scope) not in asked]
        return assessed_alike(left[0]) if left else None

    def diagnosis(self, view: View) -> Diagnosis:
        """The whole document with complete counterfactuals, without session and revision."""
        held = view.evidence
        return self._documents.get(
            view.key,
            lambda: diagnose(held.facts, held.report, held.extras, reasoner=self._patient, now=view.now),
        )

    def first_look(self, view: View) -> Diagnosis:
        """The document with the counterfactuals that rules put forward: enough for a reply, which does not wait for
        the rest; the whole where it is at hand."""
        held = view.evidence
        whole = self._documents.peek(view.key)
        return whole or self._looks.get(
            view.key,
            lambda: diagnose(
                held.facts, held.report, held.extras, reasoner=self.reasoner, now=view.now, first_look=True
            ),
        )


class _Kept(OrderedDict[Hashable, T]):
    """The results used last."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:  # pyright: ignore[reportIncompatibleMethodOverride]
        with self._lock:
            if key in self:
                self.move_to_end(key)
                return self[key]
        made = make()
        return self._keep(key, made)

    def peek(self, key: Hashable) -> T | None:
        """What is kept, without making it."""
        with self._lock:
            return super().get(key)

    def _keep(self, key: Hashable, made: T) -> T:
        with self._lock:
            self[key] = made
            while len(self) > MOST_KEPT:
                self.popitem(last=False)
        return made
