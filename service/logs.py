"""Structured logs: silent until `to_stderr` is called, so that a program which embeds the service prints nothing."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

_ROOT = logging.getLogger("latecomer")
_ROOT.addHandler(logging.NullHandler())
_ROOT.propagate = False


def logger() -> Any:
    """The logger of the service; one JSON object a line, with the request id of the request at hand."""
    return structlog.wrap_logger(
        _ROOT,
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def to_stderr(level: int = logging.INFO) -> None:
    """Write the log of this process to stderr, that of the HTTP server from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    _ROOT.addHandler(handler)
    _ROOT.setLevel(level)
    logging.getLogger("uvicorn").addHandler(handler)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
