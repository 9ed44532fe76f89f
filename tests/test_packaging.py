"""The wheel holds what the program needs: code, rule book, knowledge, the example."""

import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from latecomer.service.store.schema import HEAD

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("knowledge/", "traces/", "rules/", "service/", "cli/")

pytestmark = pytest.mark.slow


def tracked() -> list[str]:
    """Files of the repository that are there."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [file for file in listed.splitlines() if (ROOT / file).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of a copy of the tracked files, so that nothing is left in the tree."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for file in tracked():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_bytes((ROOT / file).read_bytes())
    pip = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", str(target), str(source)]
    subprocess.run(pip, check=True, capture_output=True)
    return next(target.glob("*.whl"))


def test_the_wheel_holds_every_document(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    documents = [f for f in tracked() if f.startswith(FOLDERS) and (f.endswith(".yaml") or "/example/job/" in f)]
    missing = [f for f in documents if f"latecomer/{f}" not in held]
    assert {"service/conversation/topics.yaml", "knowledge/facts.yaml"} <= set(documents)
    assert not missing
    migrations = [f for f in tracked() if f.startswith("service/store/migrations/")]
    assert len(migrations) > 2 and not [f for f in migrations if f"latecomer/{f}" not in held]


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return target


def run(site: Path, code: str, folder: Path, *arguments: str) -> str:
    """What a program prints that imports the installed wheel."""
    first = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        f"import latecomer.cli.main as m; assert m.__file__.startswith({str(site)!r}), m.__file__\n"
    )
    command = [sys.executable, "-c", first + code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_installed_wheel_diagnoses_the_example(site: Path, tmp_path: Path) -> None:
    assert run(site, "m.main()", tmp_path, "diagnose", "--example").startswith("Rank 2 ")


CHAT = """
import asyncio
from latecomer.service.sessions.service import SessionService

async def chat():
    service = await SessionService.open(sys.argv[1])
    session = await service.create()
    reply = await service.say(session.id, "rank 2 input wait 140 ms, the others 20")
    await service.close()
    print(reply.diagnosis.leading.cause)

asyncio.run(chat())
"""


def test_the_installed_wheel_opens_a_store_at_head_and_chats(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    assert run(site, CHAT, tmp_path, f"sqlite:///{file}") == "input_delay\n"
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
