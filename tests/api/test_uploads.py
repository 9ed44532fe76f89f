"""Uploads: streamed to disk within limits, with harmless names, and gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from latecomer.service.api import evidence
from latecomer.service.api.limits import Limits
from latecomer.service.api.uploads import safe_name
from latecomer.traces.codec import decode

from .fake import TABLE, FakeService
from .serving import asked, problem

Uploads = list[tuple[Path, list[tuple[str, bytes]]]]
FILES = "/v1/sessions/s1/evidence/files"
SMALL = Limits(file=50, upload=4000, files=2)


def uploaded(service: FakeService, limits: Limits | None = None, **request: Any) -> httpx.Response:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(FILES, **request)

    service.logs["s1"] = []
    return asked(action, service, limits=limits)


def parts(*files: tuple[str, bytes]) -> list[Any]:
    return [("files", one) for one in files]


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    """What was uploaded, by name, and the folder it was in; nothing reads it as a trace."""
    seen: Uploads = []

    def take(files: Sequence[Path], folder: Path) -> bytes:
        seen.append((folder, [(file.name, file.read_bytes()) for file in files]))
        return b"tables"

    monkeypatch.setattr(evidence, "tables_of", take)
    return seen


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders of uploads are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_files_come_whole_in_order_and_leave_nothing(uploads: Uploads) -> None:
    service, content = FakeService(), bytes(range(256)) * 1000
    sent = parts(("rank0/t.json", content), ("rank1/t.json", b"\r\n--x\r\n"), ("2", b""), ("2", b"two"))
    got = uploaded(service, files=sent)
    assert (got.status_code, service.tables, got.json()["said"][0]["text"]) == (
        200,
        [b"tables"],
        "t.json, t.json, 2, 2",
    )
    ((folder, files),) = uploads
    assert files == [("t.json", content), ("t.json", b"\r\n--x\r\n"), ("2", b""), ("2", b"two")] and not folder.exists()


def test_tables_name_files_as_they_were_uploaded() -> None:
    tables = []
    for _ in range(2):
        service = FakeService()
        assert uploaded(service, files=parts(("a/steps.md", TABLE.encode()))).status_code == 200
        tables += service.tables
    assert decode(tables[0]).sources == ("steps.md",) and tables[0] == tables[1]


def test_files_that_are_no_evidence_are_named_as_they_were_uploaded() -> None:
    got = problem(uploaded(FakeService(), files=parts(("x/none.bin", bytes(range(256))))), 422)
    assert got["type"].endswith(":input") and got["where"].startswith("none.bin") and "latecomer-upload" not in str(got)


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a.json", "a.json"),
        ("..", "file-1"),
        ("", "file-1"),
        (".bashrc", "bashrc"),
        ("a\x00b\n.json", "a_b_.json"),
        ("x" * 500 + ".json.gz", "x" * 112 + ".json.gz"),
        ("rank 2=späť.json", "rank 2=späť.json"),
        ("$(rm -rf);'\"|.json", "__rm -rf_____.json"),
    ],
)
def test_hostile_names(given: str, safe: str) -> None:
    assert safe_name(given, 0) == safe


@pytest.mark.parametrize(
    ("files", "status"),
    [
        (parts(("a", b"x" * 50), ("b", b"x" * 50)), 200),
        (parts(("a", b"x" * 51)), 413),
        (parts(("a", b""), ("b", b""), ("c", b"")), 413),
        (parts(("a", b"x" * 5000)), 413),
        ([("note", (None, b"no file"))], 422),
    ],
)
def test_limits(uploads: Uploads, files: list[Any], status: int) -> None:
    got = uploaded(FakeService(), SMALL, files=files)
    assert got.status_code == status
    if status != 200:
        problem(got, status)
        assert not uploads


HEAD = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n'


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data", b"", 422),
        ("multipart/form-data; boundary=b", b"", 422),
        ("multipart/form-data; boundary=b", b"nonsense", 422),
        ("multipart/form-data; boundary=b", HEAD + b"\r\nhalf", 422),
        ("multipart/form-data; boundary=b", HEAD + b"X: " + b"y" * 9000 + b"\r\n\r\nz\r\n--b--\r\n", 422),
        ("multipart/form-data; boundary=b", HEAD + b"\r\nz\r\n--b--\r\n", 200),
        (f"multipart/form-data; boundary={'b' * 300}", b"", 422),
    ],
)
def test_bodies_that_are_no_upload(uploads: Uploads, folders: Path, kind: str, body: bytes, status: int) -> None:
    got = uploaded(FakeService(), content=body, headers={"Content-Type": kind})
    assert got.status_code == status, got.text
    if status != 200:
        problem(got, status)
    assert not list(folders.iterdir())


def test_an_upload_to_no_session_is_not_stored() -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(FILES.replace("s1", "s9"), files=parts(("a", b"x")))

    problem(asked(action), 404)
