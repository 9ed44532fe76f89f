"""The published JSON Schema is the one the code produces, and every member is described."""

import json
from pathlib import Path

import pytest
from latecomer.service.diagnosis.schemas import Diagnosis, Heat, schema_json

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "schema" / "diagnosis.schema.json"


def test_committed_schema_is_current() -> None:
    assert COMMITTED.read_text("utf-8") == schema_json()


def test_every_member_is_described() -> None:
    schema = json.loads(schema_json())
    parts = {"Diagnosis": schema, **schema["$defs"]}
    bare = [
        f"{part}.{name}"
        for part, body in parts.items()
        for name, member in body.get("properties", {}).items()
        if not member.get("description")
    ]
    assert bare == []


def test_document_names_its_version() -> None:
    assert Diagnosis.model_fields["schema_"].default == "latecomer.diagnosis/1"


def test_heat_is_bounded() -> None:
    with pytest.raises(ValueError, match="at most 64"):
        Heat(ranks=tuple(range(65)), steps=(0,), lateness_ms=())
