"""Damaged and hostile evidence: a weaker result that says so, or a clear error with exit status 4."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from latecomer.service.diagnosis.local import diagnose_paths

from .shared import ROOT, causes

EXAMPLE = ROOT / "service" / "example" / "job"
Spoil = Callable[[bytes], bytes]


def spoiled(folder: Path, spoil: Spoil, ranks: tuple[int, ...] = (0, 1, 2, 3)) -> Path:
    """The bundled example as plain JSON, spoiled on some ranks."""
    for rank in range(4):
        text = gzip.decompress((EXAMPLE / f"rank{rank}.pt.trace.json.gz").read_bytes())
        (folder / f"rank{rank}.json").write_bytes(spoil(text) if rank in ranks else text)
    return folder


def refused(folder: Path) -> str:
    """What the command says of evidence it refuses."""
    command = [sys.executable, "-m", "latecomer.cli.main", "diagnose", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 4 and not done.stdout and "Traceback" not in done.stderr
    assert "where:" in done.stderr and "do:" in done.stderr
    return done.stderr


def bare_list(text: bytes) -> bytes:
    start = text.index(b"[", text.index(b'"traceEvents"'))
    return text[start : text.rindex(b"]") + 1]


@pytest.mark.parametrize(
    "spoil",
    [
        bare_list,
        lambda text: text.replace(b'"name": "aten::', b'"name": "\x01\x02aten::', 40),
        lambda text: text.replace(b'"name": "aten::empty"', b'"name": "aten::"empty""', 20),
    ],
    ids=["bare list", "control characters", "stray quotes"],
)
def test_what_can_be_read_is_diagnosed(spoil: Spoil, tmp_path: Path) -> None:
    assert causes(diagnose_paths([spoiled(tmp_path, spoil)])) == {"rank:2": "input_delay"}


@pytest.mark.parametrize("word", [b"NaN", b"inf", b"N/A"])
def test_words_for_numbers_cost_the_event_and_are_reported(word: bytes, tmp_path: Path) -> None:
    def spoil(text: bytes) -> bytes:
        at = text.index(b'"dur"', len(text) // 2)
        return text[:at] + b'"dur": ' + word + text[text.index(b",", at) :]

    found = diagnose_paths([spoiled(tmp_path, spoil, ranks=(1,))])
    assert causes(found) == {"rank:2": "input_delay"}
    assert any("rank1" in note.file for note in found.read_report.notes)


def test_a_truncated_file_weakens_and_is_reported(tmp_path: Path) -> None:
    found = diagnose_paths([spoiled(tmp_path, lambda text: text[: len(text) * 2 // 3], ranks=(1,))])
    assert found.verdict != "established"
    assert any(note.code == "truncated" for note in found.read_report.notes)


def test_one_bad_file_among_good_ones_is_reported(tmp_path: Path) -> None:
    (spoiled(tmp_path, bytes) / "rank9.json").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    found = diagnose_paths([tmp_path])
    assert causes(found) == {"rank:2": "input_delay"}
    assert any("PNG" in note.detail for note in found.read_report.notes)


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    spoiled(tmp_path, bytes)
    (tmp_path / "again_rank0.json").write_bytes((tmp_path / "rank0.json").read_bytes())
    assert "two" in refused(tmp_path)


def test_two_jobs_in_one_folder_are_refused(tmp_path: Path) -> None:
    spoiled(tmp_path, lambda text: text.replace(b'"world_size": 4', b'"world_size": 8'), ranks=(3,))
    assert "different jobs" in refused(tmp_path)


def test_an_empty_folder_and_a_picture_are_refused(tmp_path: Path) -> None:
    assert "no files" in refused(tmp_path)
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    assert "PNG" in refused(tmp_path)


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    body = b'{"traceEvents": [' + b" " * (200 << 20)
    (tmp_path / "rank0.json.gz").write_bytes(gzip.compress(body, 9))
    refused(tmp_path)


def test_a_dangling_link_is_reported(tmp_path: Path) -> None:
    (spoiled(tmp_path, bytes) / "rank9.json").symlink_to(tmp_path / "gone.json")
    found = diagnose_paths([tmp_path])
    assert any("rank9" in note.file for note in found.read_report.notes)
