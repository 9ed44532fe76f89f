"""The tables. A change here needs a new file in migrations/versions and its revision in HEAD."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

HEAD = "0001"
"""Revision of the newest migration."""

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def _session_key() -> Column[str]:
    return Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("headline", Text, nullable=False),
    Index(None, "updated_at", "id"),
)

EVENTS = Table(
    "events",
    METADATA,
    _session_key(),
    Column("seq", Integer, primary_key=True),
    Column("at", String(32), nullable=False),
    Column("kind", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("data", Text, nullable=False),
)

BLOBS = Table(
    "blobs",
    METADATA,
    _session_key(),
    Column("sha256", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

DOCUMENTS = Table(
    "documents",
    METADATA,
    _session_key(),
    Column("revision", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
