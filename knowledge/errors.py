"""The one error tree of the product. An error names what happened, where, and what to do.

LatecomerError
|- KnowledgeError   a knowledge or rule document is wrong (file and line)
|- InputError       evidence cannot be used (file and place)
|- EngineError      an inference failed or ran past a limit
|- StoreError       sessions cannot be read or written now
|- ConflictError    somebody else wrote to the session meanwhile
|- UnreachableError the service does not answer
`- UsageError       the caller asked for something that contradicts itself
   `- NotFoundError or that does not exist
"""

from __future__ import annotations


class LatecomerError(Exception):
    """Base of every error the product raises on purpose."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.remedy}" if self.remedy else ""
        return f"{place}{self.what}{advice}"


class KnowledgeError(LatecomerError):
    """A YAML document of knowledge/ or rules/book is malformed or inconsistent."""


class InputError(LatecomerError):
    """A file or pasted text cannot be used as evidence."""


class EngineError(LatecomerError):
    """Inference failed, or was stopped at a limit."""


class UsageError(LatecomerError):
    """The request names something that does not exist or contradicts itself."""


class NotFoundError(UsageError):
    """The session, revision, question or rule that is named does not exist."""


class ConflictError(LatecomerError):
    """The session has another revision than the writer saw; nothing was written."""


class StoreError(LatecomerError):
    """The store cannot be opened, does not answer, or refuses to write. Never names a password."""


class UnreachableError(LatecomerError):
    """The service cannot be reached, or went away in the middle of an answer."""
