"""What clients send."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from ..diagnosis.parts import Part
from ..sessions.schemas import FactInput
from .dependencies import Text, no_nul
from .limits import PASTED_CHARACTERS, TEXT_CHARACTERS

MOST_FACTS = 2_000
FACT_CHARACTERS = 4_000
LARGEST = 2**53
"""Beyond it JSON numbers are not exact."""
STATED = {"kind": "timestamp_meaning", "values": {"meaning": "device_start"}}


def bounded(fact: FactInput) -> FactInput:
    """The fact, unless a number or a text of it is beyond what a store keeps."""
    for name, value in (("kind", fact.kind), *fact.values.items()):
        no_nul(name)
        if isinstance(value, str) and len(no_nul(value)) > FACT_CHARACTERS:
            raise ValueError(f"{name[:64]} is longer than {FACT_CHARACTERS} characters")
        if not isinstance(value, str) and abs(value) > LARGEST:
            raise ValueError(f"{name[:64]} is beyond {LARGEST:g}")
    return fact


GivenFact = Annotated[FactInput, AfterValidator(bounded)]


class NewSession(Part):
    """A session to begin."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Job 4711 is slow since Monday"}]})
    title: Text = Field(default="", max_length=200, description="What to call it; default: its first words")


class Message(Part):
    """What the user says."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "4 ranks; rank 2 waits about 140 ms for data, the rest 20"}]}
    )
    text: Text = Field(min_length=1, max_length=TEXT_CHARACTERS, description="A message as a person types it")


class Pasted(Part):
    """A pasted table or log."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "rank input_wait_ms step_ms\n0 20 300\n1 21 300\n2 140 300\n3 19 300"}]
        }
    )
    text: Text = Field(min_length=1, max_length=PASTED_CHARACTERS, description="The text, lines as they were")


class Facts(Part):
    """Facts of the vocabulary, with their fields."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"facts": [STATED]}]})
    facts: tuple[GivenFact, ...] = Field(min_length=1, max_length=MOST_FACTS, description="Facts")


class Correction(Part):
    """What a piece of evidence should have said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "rank 3, not rank 2"}]})
    text: Text = Field(min_length=1, max_length=TEXT_CHARACTERS, description="The evidence in the right words")


class Supposition(Part):
    """What to suppose: facts, words, or both."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "rank 2's input wait were as on the other ranks"}]}
    )
    facts: tuple[GivenFact, ...] = Field(default=(), max_length=MOST_FACTS, description="Facts to suppose")
    text: Text = Field(default="", max_length=TEXT_CHARACTERS, description="The supposition in words")
