"""How an incident came out against its labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from latecomer.service.diagnosis.schemas import Diagnosis

from .incident import Incident, incidents
from .labels import allowed, asked, claims, ranks_fit
from .told import questions_asked, tell

FIRST_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdict allowed, questions asked, ranks, and the forbidden claims that were made."""

    incident: Incident
    diagnosis: Diagnosis
    questions: tuple[str, ...]

    @property
    def verdict(self) -> bool:
        """Whether the label allows the verdict."""
        return allowed(self.incident.expected.hypothesis, self.diagnosis)

    @property
    def ask(self) -> bool:
        """Whether one of the questions that must be asked is among the first."""
        must = self.incident.expected.must_ask
        return not must or any(asked(label, self.questions) for label in must)

    @property
    def ranks(self) -> bool:
        """Whether no other rank is named than the label's."""
        expected = self.incident.expected
        return ranks_fit(expected.rank, expected.rank_kind, self.diagnosis)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Claims that must not be made and were."""
        return tuple(text for text in self.incident.expected.must_not_claim if claims(text, self.diagnosis))


@cache
def judged(name: str) -> Judged:
    """The incident of that id, told and asked."""
    incident = next(i for i in incidents() if i.id == name)
    return Judged(incident, tell(incident.says), tuple(questions_asked(incident.says, FIRST_QUESTIONS)))
