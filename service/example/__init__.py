"""The bundled example: four ranks of a real job, one of which starves. See README.md beside this file."""

from __future__ import annotations

from pathlib import Path

JOB = Path(__file__).parent / "job"
"""Folder with one profiler trace and one step log a rank."""
