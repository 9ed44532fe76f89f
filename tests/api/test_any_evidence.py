"""Whatever a client states in the words of the vocabulary, however odd, the service never answers with a fault."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from latecomer.knowledge.loader import load
from latecomer.knowledge.model import FactKind, Field
from latecomer.service.api.app import create_app

from .fake import TABLE

EXAMPLES = int(os.environ.get("LATECOMER_API_EXAMPLES", "4"))
KINDS = {name: kind for name, kind in load().facts.items() if not kind.derived and kind.pass_ == 1}
SCOPES = st.sampled_from(["rank:2", "rank:0", "set:0,1", "common", "rotating", "hang", "rank:99", "rank:x", ""])
NUMBERS = st.sampled_from([0.0, -1.0, 0.5, 1.0, 2.0, 140.0, 1e-12, 1e9, -1e15])
WORDS = st.sampled_from(
    [
        *(
            "rank",
            "ranks",
            "2",
            "0-3",
            "-1",
            "1e400",
            "9" * 20,
            "140",
            "ms",
            "0",
            "%",
            "s",
            "10x",
            "µs",
            "²",
            "３",
            "1/0",
        ),
        *("input", "wait", "late", "step", "steps", "slower", "hang", "no", "yes", "unknown", "nan", "inf", "\u202e"),
        *("why", "how", "what if", "not", "undo", "revise", "skip", "e1", "e2", ":", ",", ".", "-", "|", "\n", "\t"),
        *("/why", "/how", "/undo", "/revise", "/whatif", "/show", "/facts", "NCCL", "upgrade the network", "safe to"),
        *("switch shards", "compute_imbalance", "garbage collection", "the rest 20", "about", "everyone else"),
    ]
)
MESSAGES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
QUICK = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def value(field: Field) -> SearchStrategy[Any]:
    """Values of the type of a field, from ordinary to absurd."""
    if field.values:
        return st.sampled_from(field.values)
    if field.type == "bool":
        return st.booleans()
    if field.type == "int":
        return st.sampled_from([0, 1, 2, 3, -1, 1000, 2**31, 2**53])
    return NUMBERS if field.type == "float" else SCOPES


def fact(name: str, kind: FactKind) -> SearchStrategy[dict[str, Any]]:
    """A fact of a kind, all fields known."""
    fields = {field: value(spec) for field, spec in kind.fields.items()}
    return st.fixed_dictionaries({"kind": st.just(name), "values": st.fixed_dictionaries(fields)})


FACTS = st.lists(st.one_of([fact(name, kind) for name, kind in KINDS.items()]), min_size=1, max_size=3)


class Api:
    """The API over a service in a loop of its own."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        app = create_app(database_url=url)
        self._lifespan = app.router.lifespan_context(app)
        self._do(self._lifespan.__aenter__())
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """An answer, which is no fault."""
        got = self._do(self._client.request(method, path, **request))
        assert got.status_code < 500, (method, path, request, got.text)
        return got

    def session(self, table: bool) -> str:
        """Path of a new session."""
        path = f"/v1/sessions/{self.ask('POST', '/v1/sessions').json()['id']}"
        if table:
            self.ask("POST", f"{path}/evidence/text", json={"text": TABLE})
        return path

    def close(self) -> None:
        self._do(self._client.aclose())
        self._do(self._lifespan.__aexit__(None, None, None))
        self._loop.close()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = Api(f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('any')}/sessions.db")
    yield made
    made.close()


@pytest.mark.slow
@QUICK
@given(facts=FACTS, table=st.booleans())
def test_any_facts(api: Api, facts: list[dict[str, Any]], table: bool) -> None:
    path = api.session(table)
    supposed = api.ask("POST", f"{path}/what-if", json={"facts": facts})
    attached = api.ask("POST", f"{path}/evidence/facts", json={"facts": facts})
    assert attached.status_code != 200 or supposed.status_code in (200, 422)
    for place in ("diagnosis", "facts", "findings", "questions", "how", "why", "history"):
        api.ask("GET", f"{path}/{place}")


@pytest.mark.slow
@QUICK
@given(texts=st.lists(MESSAGES, min_size=1, max_size=5), table=st.booleans())
def test_any_messages(api: Api, texts: list[str], table: bool) -> None:
    path = api.session(table)
    for text in texts:
        assert api.ask("POST", f"{path}/messages", json={"text": text}).status_code == 200
    api.ask("POST", f"{path}/what-if", json={"text": texts[0]})
    api.ask("PUT", f"{path}/evidence/e1", json={"text": texts[-1]})
    api.ask("DELETE", f"{path}/evidence/e1")
    assert api.ask("GET", f"{path}/diagnosis").json()["counterfactuals"] == "complete"
