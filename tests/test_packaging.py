"""The wheel holds what the program needs: code, rule book, knowledge, the example."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
    assert documents
    assert not missing


def test_the_installed_wheel_diagnoses_the_example(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import latecomer.cli.main as m\n"
        f"assert m.__file__.startswith({str(site)!r}), m.__file__\n"
        "m.main()\n"
    )
    command = [sys.executable, "-c", code, "diagnose", "--example"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Rank 2 ")
