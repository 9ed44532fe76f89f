"""The house: arrows between folders, one importer of the engine, safe loading, small files, packages listed."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("knowledge", "traces", "rules", "service", "cli")
MAY_IMPORT = {
    "knowledge": {"knowledge"},
    "traces": {"traces", "knowledge"},
    "rules": {"rules", "knowledge"},
    "service": {"service", "traces", "rules", "knowledge"},
    "cli": {"cli", "service", "knowledge"},
}
TOP_LEVEL = {*FOLDERS, "tests", "bench", "docs"}
MOST_LINES = 400
PYTHON_FILES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))


def modules(path: Path) -> Iterator[str]:
    """Absolute names of what a file imports."""
    package = ["latecomer", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name)
def test_arrows_go_one_way(path: Path) -> None:
    allowed = MAY_IMPORT[path.relative_to(ROOT).parts[0]]
    inside = {m.split(".")[1] for m in modules(path) if m.startswith("latecomer.")}
    assert inside <= allowed, f"{name(path)} imports {sorted(inside - allowed)}"


def test_the_files_were_found() -> None:
    assert {p.relative_to(ROOT).parts[0] for p in PYTHON_FILES} == set(FOLDERS)
    assert "latecomer.traces.job.find_files" in set(modules(ROOT / "service" / "evidence.py"))


def test_one_module_imports_the_engine() -> None:
    importers = {name(p) for p in PYTHON_FILES if any(m.split(".")[0] == "durable" for m in modules(p))}
    assert importers == {"rules/engine.py"}


@pytest.mark.parametrize(
    ("library", "folder"),
    [
        *((name, "service/store") for name in ("sqlalchemy", "alembic", "aiosqlite", "psycopg")),
        *((name, "service/api") for name in ("fastapi", "starlette", "uvicorn")),
    ],
)
def test_libraries_of_the_store_and_of_the_api_stay_there(library: str, folder: str) -> None:
    importers = {name(p) for p in PYTHON_FILES if library in {m.split(".")[0] for m in modules(p)}}
    assert not [p for p in importers if not p.startswith(f"{folder}/")]


def test_importing_the_client_loads_neither_server_nor_store_nor_rules() -> None:
    """What it imports on the way counts too."""
    code = "import sys, latecomer.service.client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "latecomer.service.client.asynchronous" in loaded
    heavy = ("fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "durable", "latecomer.rules", "numpy")
    assert not [m for m in loaded if m.startswith(tuple(f"{h}." for h in heavy)) or m in heavy]


def test_nothing_unpickles() -> None:
    assert not [name(p) for p in PYTHON_FILES if {m.split(".")[0] for m in modules(p)} & {"pickle", "dill", "shelve"}]


def test_yaml_is_loaded_safely() -> None:
    for path in PYTHON_FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yaml":
                assert "unsafe" not in node.attr.lower(), name(path)
                assert node.attr not in {"Loader", "FullLoader", "full_load", "load_all"}, name(path)


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name)
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


def test_top_level_folders() -> None:
    found = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "__"))}
    assert found - {"build", "dist", "latecomer.egg-info"} == TOP_LEVEL


def test_every_package_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found = {"latecomer." + ".".join(p.parent.relative_to(ROOT).parts) for p in PYTHON_FILES}
    assert set(project["tool"]["setuptools"]["packages"]) == found
