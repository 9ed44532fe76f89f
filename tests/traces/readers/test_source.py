"""Opening evidence: gzip by content, limits, and what is no text."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from latecomer.knowledge.errors import InputError
from latecomer.traces.limits import Limits
from latecomer.traces.readers import kineto, parallel, sidelog
from latecomer.traces.readers.source import Source, Stream, require_text
from latecomer.traces.tables import Tables

from .helpers import generator

made = generator()


def test_gzip_is_known_by_content_and_members_are_joined() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0"
    assert b"".join(Stream(Source.of(packed))) == b"one two"
    assert Source.of(packed).head(2) == b"on" and Source.of(b"plain").head() == b"plain"


def test_pieces_hold_about_what_the_limit_says() -> None:
    text = bytes(range(256)) * 40_000
    for stored in (text, gzip.compress(text)):
        pieces = list(Stream(Source.of(stored), Limits(piece_bytes=1 << 20)))
        assert b"".join(pieces) == text and max(map(len, pieces)) < 3 << 20 and len(pieces) > 3


def test_a_bomb_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b'{"traceEvents": [')
        for _ in range(96):
            file.write(b" " * (1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"bomb\.json\.gz.*expands"):
        kineto.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 << 20


def test_the_cap_is_configurable() -> None:
    with pytest.raises(InputError, match="larger than 1,000 bytes"):
        list(Stream(Source.of(b"x" * 2000), Limits(max_bytes=1000)))


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_truncated_gzip_yields_what_can_be_read(keep: float, tmp_path: Path) -> None:
    path = made.write(made.Job(ranks=1, steps=8, gz=True), tmp_path)[0]
    tables = kineto.read(path.read_bytes()[: int(path.stat().st_size * keep)], name="cut.json.gz")
    assert tables.steps and "gzip-damaged" in [note.code for note in tables.report]


def test_corrupt_gzip_is_an_error_or_a_note() -> None:
    stored = bytearray(gzip.compress(b'{"traceEvents": [' + b'{"ph": "X"},' * 9000 + b"{}]}"))
    stored[12:20] = b"\xff" * 8
    with pytest.raises(InputError, match="gzip"):
        kineto.read(bytes(stored), name="bad.gz")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image"),
        (b"PK\x03\x04zip", "a zip archive"),
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"\x01\x02\0\0binary", "binary data"),
        (b"PAR1data", "a Parquet file"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what):
        require_text(Source.of(data).head(), Source.of(data, "thing"))
    with pytest.raises(InputError, match=what):
        kineto.read(data)


def test_a_missing_file_names_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone"):
        kineto.read(tmp_path / "gone.json")
    with pytest.raises(InputError, match="cannot be"):
        kineto.read(tmp_path)


def test_side_log_keeps_good_lines() -> None:
    good = b'{"step": 3, "rank": 1, "t_start_unix_ns": 5000, "input_wait_ms": 2}\n'
    tables = sidelog.read(good + b'{"step": 4, "rank"\n')
    assert sidelog.sniff(good) > 0.9 and tables.steps and tables.steps.start_us.tolist() == [5.0]
    assert [note.code for note in tables.report] == ["lines-dropped"] and tables.batches is None
    with pytest.raises(InputError):
        sidelog.read(b"{}\n")


def test_processes_give_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = made.write(made.Job(ranks=2, steps=3), tmp_path)
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    paths.insert(1, tmp_path / "image.png")
    monkeypatch.setattr(parallel, "WORTH_A_PROCESS_BYTES", 1)
    seen: list[Path] = []
    found = parallel.read_all(paths, workers=2, progress=lambda path, _: seen.append(path))
    assert sorted(seen) == sorted(paths) and isinstance(found[1], InputError) and "PNG" in str(found[1])
    assert [tables.ranks[0].rank for tables in found if isinstance(tables, Tables)] == [0, 1]
