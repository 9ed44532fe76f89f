"""Where the shared traces lie, and the generator of made-up ones."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


def shared(*parts: str) -> Path:
    """A file or folder of the shared traces; skips the test where they are absent."""
    base = Path(os.environ.get("LATECOMER_SHARED_TRACES", ROOT / "../shared/traces"))
    path = base.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent")
    return path


def generator() -> ModuleType:
    """bench/generate_kineto.py as a module."""
    name = "generate_kineto"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
        assert spec and spec.loader
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]
