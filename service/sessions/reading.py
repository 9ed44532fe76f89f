"""What is known of a session: evidence, facts, diagnoses, explanations and events. Reads only."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from ...knowledge.errors import NotFoundError, UsageError
from ...rules.explain import find_scope, how, why, why_not
from ..conversation.context import context_of
from ..conversation.events import decode_event
from ..conversation.mind import Mind, View
from ..conversation.suppose import suppose_words, supposed_view, supposition
from ..diagnosis.documents import becomes, fact_document, finding_document
from ..diagnosis.parts import FactDocument, FindingDocument
from ..diagnosis.plans import question_document
from ..diagnosis.schemas import Diagnosis, QuestionDocument
from ..store.store import Store
from . import inputs, views
from .completion import Completion
from .live import Live, LiveSessions
from .schemas import (
    DiagnosisSummary,
    EventDocument,
    EvidenceDocument,
    FactInput,
    How,
    WhatIf,
    WhyNotCause,
    WhyQuestion,
)

POLL_S = 1.0
"""How long a watcher waits before it looks for events that another process wrote."""


class SessionReading:
    """Every method raises NotFoundError for a session that does not exist."""

    def __init__(self, store: Store, mind: Mind) -> None:
        self._store, self._mind = store, mind
        self._live = LiveSessions(store)
        self._news: defaultdict[str, asyncio.Condition] = defaultdict(asyncio.Condition)
        self._completion = Completion(store, mind)

    # ---- what is known -----------------------------------------------------------------------------------

    async def evidence(self, session: str) -> tuple[EvidenceDocument, ...]:
        """All evidence, also what was taken back."""
        return tuple(views.evidence_document(h) for h in (await self._now(session)).state.evidence)

    async def history(self, session: str) -> tuple[DiagnosisSummary, ...]:
        """Every diagnosis of the session, oldest first."""
        stored = await self._store.events(session)
        return views.summaries((s, decode_event(s.data)) for s in stored if s.kind == "diagnosis_emitted")

    async def diagnosis(self, session: str, revision: int | None = None) -> Diagnosis:
        """A diagnosis with complete counterfactuals: the last, or one of the history. Raises NotFoundError where the
        session has none of that revision, or where it was made with another rule book and not kept."""
        live = await self._now(session)
        last = live.diagnosis
        if revision is None and last is None:
            document = await asyncio.to_thread(self._mind.diagnosis, await self._view(live))
            return document.model_copy(update={"session": session})
        known = [last] if last and revision in (None, last.revision) else await self.history(session)
        wanted = next((s for s in known if s and revision in (None, s.revision)), None)
        if wanted is None:
            raise NotFoundError(f"the session has no diagnosis {revision}", where=session)
        kept = await self._store.document(session, wanted.revision)
        if kept is not None:
            return Diagnosis.model_validate_json(kept)
        document = await self._completion.now(session, wanted, lambda: self._view_at(live, wanted))
        if document.id != wanted.id and revision is not None:
            raise NotFoundError(
                f"diagnosis {revision} was made with another rule book and its document was not kept", where=session
            )
        return document

    async def facts(self, session: str) -> tuple[FactDocument, ...]:
        """Facts the diagnosis rests on, measured and stated."""
        view = await self._view(await self._now(session))
        return tuple(fact_document(f) for f in view.now.facts)

    async def findings(self, session: str) -> tuple[FindingDocument, ...]:
        """What rules concluded, each with the facts it used."""
        view = await self._view(await self._now(session))
        return tuple(finding_document(f) for f in view.now.inference.findings)

    async def questions(self, session: str) -> tuple[QuestionDocument, ...]:
        """Questions worth asking, the open one among them, best first."""
        live, view = await self._both(session)
        closed = live.state.asked - _open_key(live)
        found = await asyncio.to_thread(self._mind.questions, view, closed)
        return tuple(question_document(a, view.now.judgement, self._mind.knowledge) for a in found)

    async def why(self, session: str, question: str | None = None) -> WhyQuestion:
        """Why a question is asked (the open one). Raises UsageError for one that is not worth asking now."""
        live, view = await self._both(session)
        wanted = question or (live.state.question.id if live.state.question else "")
        found = await asyncio.to_thread(self._mind.questions, view, frozenset())
        chosen = next((a for a in found if a.candidate.id == wanted), None)
        if chosen is None:
            there = ", ".join(dict.fromkeys(a.candidate.id for a in found)) or "none"
            raise UsageError(f"{wanted or 'no question'} is not open", remedy=f"Worth asking now: {there}.")
        judgement = view.now.judgement
        effects = tuple(views.effect(s) for s in why(chosen, judgement))
        return WhyQuestion(question=question_document(chosen, judgement, self._mind.knowledge), effects=effects)

    async def how(self, session: str, scope: str | None = None) -> How:
        """How causes came to their probabilities. Raises UsageError for a scope that was not judged."""
        _, view = await self._both(session)
        judged = find_scope(view.now.judgement, scope)
        return views.how_document(judged.scope, how(view.now.judgement, scope), self._mind)

    async def why_not(self, session: str, cause: str, scope: str | None = None) -> WhyNotCause:
        """Why a cause does not lead. Raises UsageError where it cannot apply."""
        _, view = await self._both(session)
        return views.why_not_document(why_not(view.now.judgement, cause, scope))

    async def what_if(self, session: str, facts: Sequence[FactInput] = (), text: str = "") -> WhatIf:
        """The diagnosis if facts or words were true. Raises UsageError where nothing can be supposed from them."""
        live, view = await self._both(session)

        def suppose() -> WhatIf:
            context = context_of(live.state, view, self._mind)
            given = suppose_words(text, context, live.state, self._mind, view) if text else None
            checked = inputs.checked_facts(facts, self._mind.knowledge)
            more = supposition((), checked, live.state) if given is None else None
            if given is None and more is None:
                raise UsageError("nothing in it can be supposed", remedy="For example: rank 2 input wait 20 ms.")
            after = supposed_view(given or more, live.state, live.recordings, self._mind)  # type: ignore[arg-type]
            known = {(f.kind, f.values) for f in view.now.facts}
            supposed = tuple(fact_document(f) for f in after.now.facts if (f.kind, f.values) not in known)
            return WhatIf(
                supposed=supposed,
                before=becomes(view.now.judgement),
                after=becomes(after.now.judgement),
                diagnosis=self._mind.diagnosis(after),
            )

        return await asyncio.to_thread(suppose)

    # ---- events ------------------------------------------------------------------------------------------

    async def events(self, session: str, *, after: int = 0, limit: int | None = None) -> tuple[EventDocument, ...]:
        """Events of the log."""
        return tuple(views.event_document(e) for e in await self._store.events(session, after, limit))

    async def watch(self, session: str, *, after: int = 0) -> AsyncIterator[EventDocument]:
        """Past events, then new ones as they come, until the session is deleted."""
        while True:
            try:
                found = await self._store.events(session, after)
            except NotFoundError:
                return
            for event in found:
                after = event.seq
                yield views.event_document(event)
            if not found:
                await self._wait(session)

    async def _wait(self, session: str) -> None:
        condition = self._news[session]
        async with condition:
            try:
                await asyncio.wait_for(condition.wait(), POLL_S)
            except TimeoutError:
                return

    async def _tell(self, session: str) -> None:
        if session in self._news:
            async with self._news[session]:
                self._news[session].notify_all()

    # ---- state -------------------------------------------------------------------------------------------

    async def _now(self, session: str) -> Live:
        record = await self._store.get(session)
        return await self._live.at_head(session, record.revision)

    async def _view(self, live: Live) -> View:
        return await asyncio.to_thread(self._mind.view, live.state, live.recordings)

    async def _both(self, session: str) -> tuple[Live, View]:
        live = await self._now(session)
        return live, await self._view(live)

    async def _view_at(self, live: Live, wanted: DiagnosisSummary) -> View:
        """The evidence as it stood at the turn of a diagnosis."""
        if live.state.turn == wanted.turn:
            return await self._view(live)
        stored = [e for e in await self._store.events(live.id) if e.turn <= wanted.turn]
        return await self._view(await self._live.after(Live(live.id, 0), stored))


def _open_key(live: Live) -> frozenset[tuple[str, str]]:
    question = live.state.question
    return frozenset([(question.id, question.scope)]) if question else frozenset()
