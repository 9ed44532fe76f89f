"""Where a page of sessions ends, as an opaque word."""

from __future__ import annotations

import base64
import binascii

from ...knowledge.errors import UsageError
from .records import SessionRecord


def write_cursor(last: SessionRecord) -> str:
    """The cursor of the page after the one that ends with this session."""
    return base64.urlsafe_b64encode(f"{last.updated_at} {last.id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[str, str]:
    """Time and id at which the page before ended. Raises UsageError for a cursor that no page gave."""
    try:
        at, space, session_id = (
            base64.b64decode((cursor + "=" * (-len(cursor) % 4)).encode("ascii"), altchars=b"-_", validate=True)
            .decode()
            .partition(" ")
        )
    except (binascii.Error, ValueError):
        at = space = session_id = ""
    if not space:
        raise UsageError("no page has this cursor", remedy="Use the cursor of a page, or none for the first.")
    return at, session_id
