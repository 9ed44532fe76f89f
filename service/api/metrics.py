"""Figures of one application for Prometheus. No label names a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counts of one application, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "latecomer_requests", "Requests answered", ("route", "method", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "latecomer_request_seconds",
            "Time until the whole answer was sent; event streams left out",
            ("route", "method"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._turns = Counter("latecomer_turns", "Turns of sessions", ("kind",), registry=self._registry)
        self._streams = Gauge("latecomer_open_streams", "Open event streams", registry=self._registry)

    def answered(self, route: str, method: str, status: int, seconds: float | None) -> None:
        """Count a request; `seconds` is None for a stream."""
        self._requests.labels(route, method, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(route, method).observe(seconds)

    def turn(self, kind: str) -> None:
        """Count a turn: a message, evidence of a form, withdraw or revise."""
        self._turns.labels(kind).inc()

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count a stream while it is open."""
        with self._streams.track_inprogress():
            yield

    def text(self) -> bytes:
        """All figures in the text format of Prometheus."""
        return generate_latest(self._registry)
