"""Completes diagnoses after the reply: the reply does not wait for the last counterfactual (DESIGN section 4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from ...knowledge.errors import LatecomerError
from ..conversation.mind import Mind, View
from ..diagnosis.schemas import Diagnosis
from ..logs import logger
from ..store.store import Store
from .schemas import DiagnosisSummary

MOST_WAITING = 200
"""Diagnoses that wait to be completed; of more the oldest is left out, and completed when it is asked for."""
QUIET_S = 0.5
"""How long no turn was taken before a diagnosis is completed unasked."""
Key = tuple[str, int]


class Completion:
    """One at a time, the newest of each session, begun unasked only while no turn is being taken."""

    def __init__(self, store: Store, mind: Mind) -> None:
        self._store, self._mind = store, mind
        self._waiting: OrderedDict[Key, tuple[DiagnosisSummary, View]] = OrderedDict()
        self._running: dict[Key, asyncio.Task[Diagnosis]] = {}
        self._worker: asyncio.Task[None] | None = None
        self._turns = 0
        self._taken = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """While a turn is being taken nothing is begun unless somebody asks for it."""
        self._turns += 1
        self._taken += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._quiet.set()

    def want(self, session: str, summary: DiagnosisSummary, view: View) -> None:
        """Complete it soon. An older one of the session that still waits is left until it is asked for."""
        self._waiting.pop((session, summary.revision - 1), None)
        self._waiting[session, summary.revision] = (summary, view)
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())

    async def now(self, session: str, summary: DiagnosisSummary, look: Callable[[], Awaitable[View]]) -> Diagnosis:
        """The complete document of a diagnosis, kept. `look` gives its evidence where it is not at hand. Who asks for
        what is being completed waits for that; it goes on where nobody waits any more."""
        key = (session, summary.revision)
        if key not in self._running:
            waiting = self._waiting.pop(key, None)
            view = waiting[1] if waiting else await look()
            if key not in self._running:
                self._running[key] = task = asyncio.create_task(self._complete(session, summary, view))
                task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(self._running[key])

    async def close(self) -> None:
        """Leave what is not begun; it is completed when it is asked for."""
        self._waiting.clear()
        self._quiet.set()
        begun = [*self._running.values(), *([self._worker] if self._worker else [])]
        await asyncio.gather(*begun, return_exceptions=True)

    async def _complete(self, session: str, summary: DiagnosisSummary, view: View) -> Diagnosis:
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

    async def _until_quiet(self) -> None:
        """Wait until no turn was taken for a while: a service that is busy answers, and completes what is asked for."""
        while True:
            await self._quiet.wait()
            before = self._taken
            await asyncio.sleep(QUIET_S)
            if (before == self._taken and self._quiet.is_set()) or not self._waiting:
                return

    async def _work(self) -> None:
        while self._waiting:
            await self._until_quiet()
            if not self._waiting:
                return
            (session, _), (summary, view) = self._waiting.popitem(last=False)

            async def at_hand(view: View = view) -> View:
                return view

            try:
                await self.now(session, summary, at_hand)
            except LatecomerError as error:
                logger().warning("diagnosis not completed", session=session, error=str(error))
            except Exception:  # one that fails must not keep the others from being completed
                logger().exception("diagnosis not completed", session=session)
