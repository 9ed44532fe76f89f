"""What holds for every request: problems, request ids, revisions, limits, who may ask, figures."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from latecomer.knowledge.errors import EngineError, InputError, KnowledgeError, LatecomerError, StoreError, UsageError
from latecomer.service.api.limits import Limits

from .fake import FakeService
from .serving import asked, problem

SAY = "/v1/sessions/s1/messages"


def answered(method: str, path: str, *, service: Any = None, options: dict[str, Any] | None = None, **request: Any):
    """The answer to one request, after a session s1 was begun."""

    async def action(client: httpx.AsyncClient) -> httpx.Response:
        return await client.request(method, path, **request)

    service = service or FakeService()
    service.logs["s1"] = []
    return asked(action, service, **(options or {}))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/sessions", 404),
        ("GET", "/v1/sessions/", 404),
        ("PATCH", "/v1/sessions", 405),
        ("GET", "/v1/sessions/nobody", 404),
        ("GET", "/v1/sessions/%00", 422),
        ("GET", "/v1/sessions/..%2f..%2fetc", 404),
        ("GET", f"/v1/sessions/{'x' * 65}", 422),
        ("GET", "/v1/sessions?limit=0", 422),
        ("GET", "/v1/sessions?cursor=%00", 422),
        ("GET", "/v1/sessions/s1/events?after=99999999999999999999", 422),
        ("GET", "/v1/rules/no.such", 404),
        ("GET", "/v1/rules?family=none", 404),
    ],
)
def test_what_is_not_there_is_a_problem(method: str, path: str, status: int) -> None:
    problem(answered(method, path), status)


@pytest.mark.parametrize(
    ("kind", "body", "statuses"),
    [
        ("application/json", b"{", {422}),
        ("application/json", b"", {422}),
        ("application/json", b"\xff\xfe", {400, 422}),
        ("application/json", b'{"text": "\\u0000"}', {422}),
        ("application/json", b'{"text": "\\ud800"}', {422}),
        ("application/json", b'{"text": ""}', {422}),
        ("application/json", b'{"text": "hi", "more": 1}', {422}),
        ("application/json", b'{"text": NaN}', {422}),
        ("application/json", b'{"text": ' + b"9" * 5000 + b"}", {400, 422}),
        ("application/json", b"[" * 200_000, {400, 422}),
        ("application/json", json.dumps({"text": "x" * 20_001}).encode(), {422}),
        ("text/plain", b"hi", {415}),
        ("multipart/form-data", b"hi", {415}),
    ],
)
def test_bodies_that_are_none(kind: str, body: bytes, statuses: set[int]) -> None:
    got = answered("POST", SAY, content=body, headers={"Content-Type": kind})
    problem(got, got.status_code)
    assert got.status_code in statuses


@pytest.mark.parametrize(
    "value", ["1" + "0" * 400, "1e308", "-9007199254740994", "NaN", '"\\u0000"', f'"{"x" * 5000}"']
)
def test_facts_beyond_what_a_store_keeps(value: str) -> None:
    body = f'{{"facts": [{{"kind": "job", "values": {{"steps": {value}}}}}]}}'
    got = answered("POST", "/v1/sessions/s1/evidence/facts", content=body, headers={"Content-Type": "application/json"})
    assert problem(got, 422)["errors"]


@pytest.mark.parametrize(
    ("error", "status", "slug"),
    [
        (UsageError("u", remedy="r"), 422, "usage"),
        (InputError("i", where="a.json:3", remedy="r"), 422, "input"),
        (KnowledgeError("k", where="/secret/path", remedy="r"), 422, "knowledge"),
        (StoreError("s", where="/secret/path", remedy="r"), 503, "store"),
        (EngineError("e", where="/secret/path", remedy="r"), 500, "engine"),
    ],
)
def test_errors_of_the_product(error: LatecomerError, status: int, slug: str) -> None:
    service = FakeService()
    service.fails = error
    got = problem(answered("POST", SAY, service=service, json={"text": "hi"}), status)
    assert got["type"] == f"urn:latecomer:problem:{slug}"
    assert (got["detail"], got["remedy"]) == (error.what, error.remedy)
    assert got.get("where") == (error.where or None if isinstance(error, InputError) else None)


def test_a_fault_tells_nothing_of_the_inside() -> None:
    service = FakeService()
    service.fails = RuntimeError("secret")
    got = answered("POST", SAY, service=service, json={"text": "hi"})
    problem(got, 500)
    assert "secret" not in got.text and "Traceback" not in got.text


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1.2_3", True), ("x" * 65, False), ("a b", False), ("a\x7f", False), ("", False)]
)
def test_request_ids(given: str, kept: bool) -> None:
    got = answered("GET", "/livez", headers={"X-Request-ID": given}).headers["x-request-id"]
    assert (got == given) is kept and got


def test_a_writer_that_saw_another_revision_gets_the_one_of_now() -> None:
    async def action(client: httpx.AsyncClient) -> list[httpx.Response]:
        tag = (await client.post("/v1/sessions")).headers["etag"]
        return [await client.post(SAY, json={"text": "hi"}, headers={"If-Match": tag}) for _ in range(2)]

    first, second = asked(action)
    assert (first.status_code, first.headers["etag"]) == (200, '"1"')
    got = problem(second, 409)
    assert (got["revision"], got["type"]) == (1, "urn:latecomer:problem:conflict") and got["remedy"]


@pytest.mark.parametrize(
    ("tag", "status"), [('"0"', 200), ('W/"0"', 200), ("*", 200), ("0", 200), ("x", 412), ('"-1"', 412), ("٣", 412)]
)
def test_if_match(tag: str, status: int) -> None:
    got = answered("POST", SAY, json={"text": "hi"}, headers=[(b"If-Match", tag.encode())])
    assert got.status_code == status


def test_deleting_honours_the_revision() -> None:
    problem(answered("DELETE", "/v1/sessions/s1", headers={"If-Match": '"7"'}), 409)
    assert answered("DELETE", "/v1/sessions/s1", headers={"If-Match": '"0"'}).status_code == 204


@pytest.mark.parametrize("chunked", [True, False])
def test_long_bodies_are_refused_with_and_without_a_length(chunked: bool) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 100

    body = chunks() if chunked else b" " * 3000
    headers = {"Content-Type": "application/json"}
    problem(answered("POST", SAY, content=body, headers=headers, options={"limits": Limits(json=2000)}), 413)


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/v1/sessions", "Bearer right", 200),
        ("/v1/sessions", "bearer right", 200),
        ("/v1/sessions", "Bearer wrong", 401),
        ("/v1/sessions", "Basic right", 401),
        ("/v1/sessions", "", 401),
        ("/metrics", "", 401),
        ("/openapi.json", "", 401),
        ("/livez", "", 200),
        ("/readyz", "", 200),
    ],
)
def test_token(path: str, token: str, status: int) -> None:
    got = answered("GET", path, headers={"Authorization": token}, options={"token": "right"})
    assert got.status_code == status
    if status == 401:
        problem(got, 401)
        assert got.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "elsewhere.example"}, 403),
        ({"Host": "[::1"}, 403),
        ({"Origin": "http://[x"}, 403),
    ],
)
def test_pages_of_other_sites_may_not_ask_a_local_service(headers: dict[str, str], status: int) -> None:
    got = answered("GET", "/v1/sessions", headers=headers, options={"loopback_only": True})
    assert got.status_code == status


def test_figures_name_routes_and_no_sessions() -> None:
    async def action(client: httpx.AsyncClient) -> str:
        await client.post("/v1/sessions")
        await client.post(SAY, json={"text": "hi"})
        await client.get("/v1/nothing")
        return (await client.get("/metrics")).text

    text = asked(action)
    route = 'route="/v1/sessions/{session}/messages"'
    assert f'latecomer_requests_total{{method="POST",{route},status="200"}} 1.0' in text
    assert 'latecomer_requests_total{method="GET",route="unmatched",status="404"} 1.0' in text
    assert 'latecomer_turns_total{kind="message"} 1.0' in text and "latecomer_open_streams 0.0" in text
    assert f'latecomer_request_seconds_count{{method="POST",{route}}} 1.0' in text and "s1" not in text


def test_readiness_says_why_not() -> None:
    service = FakeService()
    service.fails = EngineError("the engine does not answer", remedy="Restart it.")
    assert problem(answered("GET", "/readyz", service=service), 503)["detail"] == "the engine does not answer"
    assert answered("GET", "/livez", service=service).json() == {"state": "live"}
