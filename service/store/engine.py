"""Database URL -> engines that are set up for durable writes, and errors that say what to do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool

from ...knowledge.errors import InputError, StoreError

VARIABLE = "LATECOMER_DATABASE_URL"
BUSY_MS = 10_000
"""How long a writer of SQLite waits for another process's transaction."""
CONNECT_S = 10
CONNECTIONS = 8
"""Kept open by a process; whoever finds all lent waits, which costs less than one more for a single query."""
WRITES = "latecomer_writes"
_KINDS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite+aiosqlite"}
_REMEDY = f"Give postgresql://USER@HOST/NAME or sqlite:///PATH (option or {VARIABLE}), or none for a file of your own."


def database_url(given: str | None) -> URL:
    """The URL to use: what is given, what the environment names, or the file in the user's data folder. Raises
    StoreError for one that cannot be read or is of another kind of database."""
    text = given or os.environ.get(VARIABLE)
    if not text:
        return URL.create(_KINDS["sqlite"], database=str(user_data_path("latecomer") / "latecomer.db"))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # their words may repeat the URL, and with it a password
        raise StoreError("the database URL cannot be read", where="database URL", remedy=_REMEDY) from None
    if url.drivername not in {*_KINDS, *_KINDS.values()}:
        raise StoreError("this kind of database is not supported", where=url.drivername, remedy=_REMEDY)
    url = url.set(drivername=_KINDS.get(url.drivername, url.drivername))
    if not is_sqlite(url) or in_memory(url):
        return url
    return url.set(database=str(Path(url.database or "").expanduser().absolute()))


def is_sqlite(url: URL) -> bool:
    """Whether it is SQLite, in a file or in memory."""
    return url.get_backend_name() == "sqlite"


def in_memory(url: URL) -> bool:
    """Whether the database lives and dies with its connection."""
    return is_sqlite(url) and url.database in (None, "", ":memory:")


def place(url: URL) -> str:
    """The database in words for an error: no password, no options."""
    return (url.database or "memory") if is_sqlite(url) else url.set(query={}).render_as_string(hide_password=True)


def async_engine(url: URL) -> AsyncEngine:
    """The engine of the store. A database in memory has one connection, lent to one transaction at a time."""
    engine = create_async_engine(
        url,
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1 if in_memory(url) else CONNECTIONS,
        max_overflow=0,
        pool_pre_ping=not is_sqlite(url),
        hide_parameters=True,
        connect_args=_connect_args(url),
    )
    _prepare(engine.sync_engine)
    return engine


def sync_engine(url: URL) -> Engine:
    """The engine of the migration: one connection, every transaction a write; SQLite files are put into WAL."""
    driver = "sqlite" if is_sqlite(url) else url.drivername
    engine = create_engine(
        url.set(drivername=driver),
        poolclass=NullPool,
        hide_parameters=True,
        connect_args=_connect_args(url),
        execution_options={WRITES: True},
    )
    _prepare(engine)
    if is_sqlite(url):
        event.listen(engine, "connect", _use_wal)
    return engine


def create_file(url: URL) -> None:
    """Folder and file of a SQLite database, readable by their owner alone. Blocks."""
    path = Path(url.database or "")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=True)


@contextmanager
def reported(url: URL) -> Iterator[None]:
    """Whatever the driver raises leaves as StoreError, or as InputError where a value was the reason."""
    try:
        yield
    except (DataError, UnicodeError, OverflowError) as error:
        remedy = "Texts may hold no NUL and no half of a surrogate pair, numbers have limits."
        raise InputError("a value cannot be stored", where=place(url), remedy=remedy) from error
    except (DBAPIError, PoolTimeout, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        why = next(iter(str(cause).strip().splitlines()), "")
        remedy = "Check that the file can be written." if is_sqlite(url) else "Check server, name, user and password."
        if any(secret in str(cause) for secret in _secrets(url)):
            raise StoreError("the database cannot be used", where=place(url), remedy=remedy) from None
        raise StoreError(f"the database cannot be used: {why}", where=place(url), remedy=remedy) from error


def _secrets(url: URL) -> list[str]:
    """Passwords of a URL, wherever it holds them."""
    named = [str(value) for name, value in url.query.items() if "password" in name]
    return [secret for secret in (url.password or "", *named) if secret]


def _connect_args(url: URL) -> dict[str, Any]:
    if is_sqlite(url):
        return {"timeout": BUSY_MS / 1000}
    return {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_S}


def _prepare(engine: Engine) -> None:
    """SQLite: durable commits, foreign keys, and transactions that are ours to begin, since a reader that turns
    writer half-way cannot wait for another writer. Reads need none: each is one statement."""
    if engine.dialect.name != "sqlite":
        return

    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_MS}", "foreign_keys=ON", "synchronous=FULL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begun(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _use_wal(connection: Any, _record: object) -> None:
    """Change the journal to WAL, which the file keeps. SQLite does not wait here when the file is busy, so we do."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except connection.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
