"""Completes diagnoses after the reply: the reply does not wait for the last counterfactual (DESIGN section 4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import structlog

from ...knowledge.errors import LatecomerError
from ..conversation.mind import Mind, View
from ..diagnosis.schemas import Diagnosis
from ..store.store import Store
from .schemas import DiagnosisSummary

MOST_WAITING = 200
"""Diagnoses that wait to be completed; of more the oldest is left out, and completed when it is asked for."""
Key = tuple[str, int]


class Completion:
    """One at a time, behind the turns."""

    def __init__(self, store: Store, mind: Mind) -> None:
        self._store, self._mind = store, mind
        self._waiting: OrderedDict[Key, tuple[DiagnosisSummary, View]] = OrderedDict()
        self._worker: asyncio.Task[None] | None = None

    def want(self, session: str, summary: DiagnosisSummary, view: View) -> None:
        """Complete it soon."""
        self._waiting[session, summary.revision] = (summary, view)
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())

    async def now(self, session: str, summary: DiagnosisSummary, view: View) -> Diagnosis:
        """The complete document of a diagnosis, kept."""
        self._waiting.pop((session, summary.revision), None)
        made = await asyncio.to_thread(self._mind.diagnosis, view)
        document = made.model_copy(
            update={
                "session": session,
                "revision": summary.revision,
                "supersedes": summary.supersedes,
                "created_at": summary.created_at,
            }
        )
        if made.id == summary.id:
            await self._store.put_document(session, summary.revision, document.model_dump_json().encode())
        return document

    async def close(self) -> None:
        """Leave what is not begun; it is completed when it is asked for."""
        self._waiting.clear()
        if self._worker is not None:
            await asyncio.gather(self._worker, return_exceptions=True)

    async def _work(self) -> None:
        while self._waiting:
            (session, _), (summary, view) = self._waiting.popitem(last=False)
            try:
                await self.now(session, summary, view)
            except LatecomerError as error:
                structlog.get_logger().info("diagnosis not completed", session=session, error=str(error))
