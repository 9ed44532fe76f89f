"""The OpenAPI document: committed as it is, every operation named, its examples of the form it gives."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from latecomer.service.api import openapi
from latecomer.service.api.app import create_app

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
DOCUMENT = openapi.document(create_app())
OPERATIONS: list[tuple[str, dict[str, Any]]] = [
    (path, operation) for path, item in DOCUMENT["paths"].items() for operation in item.values()
]


def examples() -> Iterator[Any]:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for example in schema.get("examples", ()):
            yield pytest.param(name, example, id=name)


def test_the_committed_document_is_current() -> None:
    remedy = "python -m latecomer.service.api.openapi docs/openapi.json"
    assert COMMITTED.read_text("utf-8") == openapi.text(), remedy


@pytest.mark.parametrize(("name", "example"), list(examples()))
def test_examples_are_valid(name: str, example: Any) -> None:
    schema = copy.deepcopy(DOCUMENT) | {"$ref": f"#/components/schemas/{name}"}
    jsonschema_rs.Draft202012Validator(schema).validate(example)


@pytest.mark.parametrize(("path", "operation"), OPERATIONS, ids=[one["operationId"] for _, one in OPERATIONS])
def test_operations_are_described(path: str, operation: dict[str, Any]) -> None:
    assert operation["description"] and operation["tags"]
    assert "application/problem+json" in operation["responses"]["default"]["content"]
    assert all(parameter.get("description") for parameter in operation.get("parameters", ())), path
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        reference = str(body["schema"].get("$ref", body["schema"]))
        if media == "application/json":
            named = reference.rpartition("/")[2]
            assert "anyOf" in reference or DOCUMENT["components"]["schemas"][named]["examples"]


def test_operation_ids_are_unique_and_the_version_is_3_1() -> None:
    names = [operation["operationId"] for _, operation in OPERATIONS]
    assert len(names) == len(set(names)) and DOCUMENT["openapi"].startswith("3.1")
