"""Whatever is sent, the service answers as its OpenAPI document says, and never with a fault."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from latecomer.knowledge.loader import load
from latecomer.rules.loader import load_book
from latecomer.service.api.app import create_app
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .fake import TABLE

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
RULE = load_book(knowledge=load()).rules[0].id
EXAMPLES = int(os.environ.get("LATECOMER_API_EXAMPLES", "4"))
FOLDER = tempfile.TemporaryDirectory(prefix="latecomer-test-")
SCHEMA = schemathesis.openapi.from_asgi(
    "/openapi.json", create_app(database_url=f"sqlite+aiosqlite:///{FOLDER.name}/sessions.db")
)


class Sessions:
    """Ids of sessions that are there."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._id = ""

    def one(self, method: str) -> str:
        """A session with some evidence; a fresh one after a request that may have deleted it."""
        if not self._id or method == "DELETE":
            created = self._document["/v1/sessions"]["POST"].Case(body={}, media_type="application/json").call()
            self._id = created.json()["id"]
            said = self._document["/v1/sessions/{session}/evidence/text"]["POST"].Case(
                path_parameters={"session": self._id}, body=TABLE, media_type="text/plain"
            )
            assert said.call().status_code == 200
        return self._id


SESSIONS = Sessions(SCHEMA)


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
def test_any_request(case: schemathesis.Case) -> None:
    _aim(case)
    case.call_and_validate(checks=CHECKS)


def _aim(case: schemathesis.Case) -> None:
    """Let most requests be about something that is there: random names hardly ever are."""
    for name, there in (("evidence", "e1"), ("cause", "compute_imbalance"), ("rule", RULE)):
        if len(str(case.path_parameters.get(name, ""))) % 4:
            case.path_parameters[name] = there
    if len(str(case.path_parameters.get("session", ""))) % 4:
        case.path_parameters["session"] = SESSIONS.one(case.method)
    if len(str(case.headers.get("If-Match", ""))) % 4:
        del case.headers["If-Match"]
