"""Sessions, their events, blobs and documents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("headline", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_updated_at", "sessions", ["updated_at", "id"])
    _part(
        "events",
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    _part("blobs", sa.Column("sha256", sa.Text, nullable=False), sa.Column("data", sa.LargeBinary, nullable=False))
    _part(
        "documents",
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


def _part(table: str, key: sa.Column, *columns: sa.Column) -> None:
    """A table of what belongs to a session and goes with it."""
    op.create_table(
        table,
        sa.Column("session_id", sa.Text, nullable=False),
        key,
        *columns,
        sa.PrimaryKeyConstraint("session_id", key.name, name=f"pk_{table}"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=f"fk_{table}_session_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    for table in ("documents", "blobs", "events", "sessions"):
        op.drop_table(table)
