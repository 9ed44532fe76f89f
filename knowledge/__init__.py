"""What the domain knows: fact vocabulary, causes, questions, experiments, mitigations, misconceptions."""

from __future__ import annotations

from .errors import EngineError, InputError, KnowledgeError, LatecomerError, UsageError
from .facts import NO_SOURCE, Fact, Quality, Scalar, Source, fact, fact_key, replace_by_key
from .loader import load
from .model import Knowledge
from .thresholds import threshold

__all__ = [
    "NO_SOURCE",
    "EngineError",
    "Fact",
    "InputError",
    "Knowledge",
    "KnowledgeError",
    "LatecomerError",
    "Quality",
    "Scalar",
    "Source",
    "UsageError",
    "fact",
    "fact_key",
    "load",
    "replace_by_key",
    "threshold",
]
