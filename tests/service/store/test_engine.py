"""Which database is opened, how it is set up, and what an error says and keeps to itself."""

from __future__ import annotations

import asyncio
import socket
import stat
import traceback
from contextlib import suppress
from pathlib import Path

import pytest
from latecomer.knowledge.errors import StoreError
from latecomer.service.store.engine import VARIABLE, database_url, reported
from latecomer.service.store.store import Store
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from .databases import database

SECRET = "s3cr3t/pw"


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def refused(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        asyncio.run(Store.open(url))
    return caught.value


@pytest.mark.parametrize(
    ("given", "driver", "database"),
    [
        ("postgresql://u@h/n", "postgresql+psycopg", "n"),
        ("postgres://u@h/n", "postgresql+psycopg", "n"),
        ("postgresql+psycopg://u@h/n", "postgresql+psycopg", "n"),
        ("sqlite:////tmp/x.db", "sqlite+aiosqlite", "/tmp/x.db"),
        ("sqlite:///x.db", "sqlite+aiosqlite", str(Path.cwd() / "x.db")),
        ("sqlite:///~/x.db", "sqlite+aiosqlite", str(Path.home() / "x.db")),
        ("sqlite://", "sqlite+aiosqlite", None),
    ],
)
def test_urls(given: str, driver: str, database: str | None) -> None:
    url = database_url(given)
    assert (url.drivername, url.database) == (driver, database)


def test_without_a_url_the_environment_then_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    database = Path(database_url(None).database or "")
    assert database.name == "latecomer.db" and "latecomer" in database.parent.name
    monkeypatch.setenv(VARIABLE, "postgresql://u@h/n")
    assert database_url(None).database == "n"


def test_a_file_is_durable_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "latecomer.db"

    async def pragmas() -> dict[str, object]:
        await (await Store.open(f"sqlite:///{path}")).close()
        store = await Store.open(f"sqlite:///{path}")
        try:
            async with store._read() as connection:
                names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
                return {name: await connection.scalar(text(f"PRAGMA {name}")) for name in names}
        finally:
            await store.close()

    found = asyncio.run(pragmas())
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr3t%2Fpw@127.0.0.1:{port}/n",
        "postgresql://127.0.0.1:{port}/n?user=u&password=s3cr3t%2Fpw",
        "postgresql://u:s3cr3t/pw@127.0.0.1:{port}/n",
        "mysql://u:s3cr3t%2Fpw@127.0.0.1:{port}/n",
        "s3cr3t/pw",
    ],
)
def test_no_error_names_a_password(url: str) -> None:
    error = refused(url.format(port=unused_port()))
    assert error.remedy
    shown = "".join(traceback.format_exception(error))
    assert SECRET not in shown and "s3cr3t%2Fpw" not in shown.replace(url, "")


@pytest.mark.parametrize("password", ["u:s3cr3t%2Fpw@127.0.0.1/n", "127.0.0.1/n?user=u&password=s3cr3t%2Fpw"])
def test_words_of_the_driver_that_hold_the_password_are_left_out(password: str) -> None:
    with pytest.raises(StoreError) as caught, reported(database_url(f"postgresql://{password}")):
        raise OSError(f"refused for u with {SECRET}")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_came_back_is_used_again(tmp_path: Path) -> None:
    async def run(url: str) -> None:
        store = await Store.open(url)
        async with store._read() as connection:
            with suppress(DBAPIError, StoreError):
                await connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        assert (await store.create("a", "")).id == "a"
        await store.close()

    with database("postgresql", tmp_path) as url:
        asyncio.run(run(url))


@pytest.mark.parametrize("content", [b"this is not a database" * 100, None])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    error = refused(f"sqlite:///{path}")
    assert error.where == str(path) and error.remedy
