"""Databases for tests: SQLite in a fresh folder, PostgreSQL in a schema of its own that is dropped after.

Elsewhere: `from tests...store.databases import database_url as database_url` in a conftest.py gives the fixture.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest
from latecomer.service.store.engine import database_url as read_url
from latecomer.service.store.engine import sync_engine
from sqlalchemy import make_url, text

POSTGRES = os.environ.get("LATECOMER_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/test")
KINDS = ("sqlite", "postgresql")


@cache
def postgres_answers() -> bool:
    """Whether something listens where PostgreSQL should."""
    url = make_url(POSTGRES)
    try:
        socket.create_connection((url.host or "127.0.0.1", url.port or 5432), timeout=2).close()
    except OSError:
        return False
    return True


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """URL of an empty database. Skips the test where PostgreSQL is asked for and does not listen."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'latecomer.db'}"
        return
    if not postgres_answers():
        pytest.skip("no PostgreSQL listens; name one with LATECOMER_TEST_POSTGRES_URL")
    schema = f"t{uuid4().hex}"
    _execute(f"CREATE SCHEMA {schema}")
    try:
        url = make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={schema}"})
        yield url.render_as_string(hide_password=False)
    finally:
        _execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database: the test runs once on each kind."""
    with database(request.param, tmp_path) as url:
        yield url


def _execute(statement: str) -> None:
    with sync_engine(read_url(POSTGRES)).begin() as connection:
        connection.execute(text(statement))
