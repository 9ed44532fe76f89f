"""Uploads: streamed to disk within limits, with harmless names, and gone afterwards."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from latecomer.service.api.limits import Limits
from latecomer.service.api.uploads import safe_name

from .fake import FakeService
from .serving import asked, problem

FILES = "/v1/sessions/s1/evidence/files"
SMALL = Limits(file=50, upload=4000, files=2)


def uploaded(service: FakeService, limits: Limits | None = None, **request: Any) -> httpx.Response:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(FILES, **request)

    service.logs["s1"] = []
    return asked(action, service, limits=limits)


def parts(*files: tuple[str, bytes]) -> list[Any]:
    return [("files", one) for one in files]


def test_files_come_whole_in_order_and_leave_nothing() -> None:
    service = FakeService()
    content = bytes(range(256)) * 1000
    got = uploaded(service, files=parts(("rank0/t.json", content), ("rank1/t.json", b"\r\n--x\r\n"), ("empty", b"")))
    assert got.status_code == 200 and got.headers["etag"] == '"1"'
    assert service.uploads == [("t.json", content), ("t.json", b"\r\n--x\r\n"), ("empty", b"")]
    assert len(service.folders) == 2 and not [folder for folder in service.folders if folder.exists()]


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
def test_limits(files: list[Any], status: int) -> None:
    service = FakeService()
    got = uploaded(service, SMALL, files=files)
    assert got.status_code == status
    if status != 200:
        problem(got, status)
        assert not service.uploads


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
def test_bodies_that_are_no_upload(kind: str, body: bytes, status: int) -> None:
    got = uploaded(FakeService(), content=body, headers={"Content-Type": kind})
    assert got.status_code == status, got.text
    if status != 200:
        problem(got, status)


def test_an_upload_to_no_session_is_not_stored() -> None:
    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(FILES.replace("s1", "s9"), files=parts(("a", b"x")))

    problem(asked(action), 404)
