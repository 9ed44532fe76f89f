"""Sets the project up and runs it, with nothing but Python 3.11 or 3.12 and a C compiler.

    python3 start.py                    set up, diagnose the bundled example, then chat about it (in a terminal)
    python3 start.py test [ARGS...]     set up, then run the tests (arguments go to pytest)
    python3 start.py run ARGS...        set up, then run `latecomer ARGS...`
    python3 start.py setup              set up only

The environment is .venv beside this file, or the folder named by LATECOMER_VENV. A second run finds it as it
was left and starts at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = Path(os.environ.get("LATECOMER_VENV", HERE / ".venv")).absolute()
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "latecomer.stamp"
LINKS = HERE / "build" / "links" / "latecomer"
EXAMPLE = HERE / "service" / "example" / "job"
FOLDERS = ("knowledge", "traces", "rules", "service", "cli")
SUPPORTED = ((3, 11), (3, 12))


def main(args: list[str]) -> int:
    """Set up, then do what was asked; the exit status is that of the last command."""
    command, rest = (args[0], args[1:]) if args else ("example", [])
    if command not in ("example", "test", "run", "setup"):
        print(__doc__, file=sys.stderr)
        return 0 if command in ("-h", "--help") else 2
    python = supported_python()
    if isinstance(python, str):
        print(f"start.py: {python}", file=sys.stderr)
        return 2
    if not set_up(python):
        return 1
    if command == "setup":
        return 0
    if command == "test":
        return run(str(PYTHON), "-m", "pytest", *rest)
    latecomer = str(VENV / "bin" / "latecomer")
    if command == "run":
        return run(latecomer, *rest, folder=None)
    status = run(latecomer, "diagnose", "--example", folder=None)
    if status != 0 or not sys.stdin.isatty():
        return status
    print(f"\nlatecomer chat {short(EXAMPLE)}", flush=True)
    return run(latecomer, "chat", "--title", "the bundled example", str(EXAMPLE), folder=None)


def supported_python() -> Path | str:
    """A Python the rule engine supports: this one, or one on PATH; or a message that says what is missing."""
    if sys.version_info[:2] in SUPPORTED:
        return Path(sys.executable)
    for major, minor in reversed(SUPPORTED):
        found = shutil.which(f"python{major}.{minor}")
        if found and subprocess.run([found, "-c", "import venv"], capture_output=True).returncode == 0:
            return Path(found)
    here = ".".join(map(str, sys.version_info[:3]))
    return f"needs Python 3.11 or 3.12 (the limit of the rule engine); this is {here}. Run: python3.12 start.py"


def compiler_missing() -> bool:
    """Whether no C compiler is at hand (durable-rules is built from source)."""
    compiler = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
    return not any(shutil.which(name) for name in (compiler, "cc", "gcc", "clang"))


def set_up(python: Path) -> bool:
    """Create the environment where lock, project file or Python changed. False if a step failed."""
    link_tree()
    wanted = fingerprint(python)
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return True
    if compiler_missing():
        print("start.py: needs a C compiler for the rule engine. Debian: apt-get install gcc", file=sys.stderr)
        return False
    began = time.monotonic()
    fresh = ["--clear"] if STAMP.exists() else []  # an environment somebody else made is added to, not emptied
    steps = (
        ("creating", [str(python), "-m", "venv", *fresh, str(VENV)]),
        ("installing the locked dependencies into", pip("--require-hashes", "-r", "requirements.lock")),
        ("installing latecomer into", pip("--no-deps", "--editable", ".")),
    )
    for title, command in steps:
        print(f"start.py: {title} {short(VENV)}", file=sys.stderr, flush=True)
        if run(*command) != 0:
            print(f"start.py: that failed; remove {short(VENV)} and try again", file=sys.stderr)
            return False
    STAMP.write_text(wanted)
    print(f"start.py: ready after {time.monotonic() - began:.0f} s", file=sys.stderr)
    return True


def fingerprint(python: Path) -> str:
    """Hash of all that the environment is made from."""
    digest = hashlib.sha256(str(python).encode())
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()


def link_tree() -> None:
    """build/links/latecomer/<folder>: by it type checkers see the folders under the name they install as."""
    LINKS.mkdir(parents=True, exist_ok=True)
    for folder in FOLDERS:
        link = LINKS / folder
        if not link.is_symlink():
            link.symlink_to(Path("../../..") / folder, target_is_directory=True)


def pip(*args: str) -> list[str]:
    """A pip command in the environment."""
    return [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *args]


def run(*command: str, folder: Path | None = HERE) -> int:
    """Run a command, in the project's folder unless told; its exit status."""
    try:
        return subprocess.run(command, cwd=folder).returncode
    except KeyboardInterrupt:
        return 130


def short(path: Path) -> str:
    """A path as seen from the project's folder where it lies inside."""
    return str(path.relative_to(HERE)) if path.is_relative_to(HERE) else str(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
