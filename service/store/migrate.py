"""Brings a database to the newest schema. Blocks: run it in a thread."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from ...knowledge.errors import StoreError
from .schema import METADATA

_ALONE = threading.Lock()  # Alembic keeps the migration in progress in a global
_POSTGRES_LOCK = 0x6C61746563  # "latec": one migration at a time in a PostgreSQL database


def migrate(engine: Engine) -> None:
    """Upgrade to the newest revision in one transaction; whoever comes second finds it done. Raises StoreError
    for a database that a newer version made."""
    with _ALONE, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
        try:
            command.upgrade(config(connection), "head")
        except CommandError as error:
            remedy = "It was made by a newer latecomer: update this one, or give another database."
            raise StoreError(f"its schema is not known ({error})", remedy=remedy) from error


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration: the migrations beside this file, on a connection."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    made.attributes.update(connection=connection, metadata=METADATA)
    return made
