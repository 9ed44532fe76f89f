"""The OpenAPI document: as the application serves it, and as docs/openapi.json has it.

python -m latecomer.service.api.openapi PATH    writes it
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from ..problems import Problem
from .bodies import Pasted

DESCRIPTION = (
    "Sessions that find the rank which arrives late in a distributed training job. Say what is known, attach traces, "
    "answer what is asked; the diagnosis names what it rests on and what would change it. Whatever fails is "
    "application/problem+json. Writes take If-Match with the revision of the session."
)
TOKEN = "The LATECOMER_TOKEN of the service, where it was started with one; /livez and /readyz need none"
NAMED = (Problem, Pasted)
"""Models that responses and bodies name by reference alone."""


def install(app: FastAPI) -> None:
    """Let the application serve this document."""
    app.openapi = lambda: document(app)


def document(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1 of the application."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title="latecomer", version="1", description=DESCRIPTION, routes=app.routes, openapi_version="3.1.0"
        )
        known = schema["components"]["schemas"]
        for model in NAMED:
            described = model.model_json_schema(ref_template="#/components/schemas/{model}")
            known |= described.pop("$defs", {}) | {model.__name__: described}
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": TOKEN}}
        schema["security"] = [{}, {"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema


def text() -> str:
    """The document as committed; it does not depend on the machine."""
    from .app import create_app

    return json.dumps(document(create_app()), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), "utf-8")
