"""The schema in code and the one the migrations make are the same."""

from __future__ import annotations

import asyncio

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from latecomer.knowledge.errors import StoreError
from latecomer.service.store.engine import database_url as read_url
from latecomer.service.store.engine import sync_engine
from latecomer.service.store.migrate import config
from latecomer.service.store.schema import HEAD, METADATA
from latecomer.service.store.store import Store
from sqlalchemy import inspect, text


def open_and_close(url: str) -> None:
    async def run() -> None:
        await (await Store.open(url)).close()

    asyncio.run(run())


def test_tables_are_those_of_the_migrations(database_url: str) -> None:
    open_and_close(database_url)
    with sync_engine(read_url(database_url)).begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA) == []
        for table in ("events", "blobs", "documents"):
            (key,) = inspect(connection).get_foreign_keys(table)
            assert key.get("options") == {"ondelete": "CASCADE"}
        command.downgrade(config(connection), "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    open_and_close(database_url)


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(config()).get_current_head() == HEAD


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    open_and_close(database_url)
    with sync_engine(read_url(database_url)).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer latecomer"):
        open_and_close(database_url)
