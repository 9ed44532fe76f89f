"""How much the service takes in one request. Bytes, unless said otherwise."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
TEXT_CHARACTERS = 20_000
"""A message. Logs and tables go to evidence/text."""
PASTED_CHARACTERS = MIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of request bodies."""

    json: int = MIB
    text: int = 16 * MIB
    tables: int = 256 * MIB
    file: int = 2 * GIB
    upload: int = 8 * GIB
    files: int = 4096
    """Files of one upload."""

    def of(self, path: str) -> int:
        """Limit of the body of a request to this path."""
        if path.endswith("/evidence/files"):
            return self.upload
        if path.endswith("/evidence/tables"):
            return self.tables
        return self.text if path.endswith("/evidence/text") else self.json
