"""What understanding has to know of a session. Pure."""

from __future__ import annotations

from .acts import Context
from .mind import Mind, View
from .state import SessionState


def context_of(state: SessionState, view: View, mind: Mind) -> Context:
    """What understanding has to know."""
    judgement = view.now.judgement
    top = judgement.leading
    contested = state.contested
    return Context(
        knowledge=mind.knowledge,
        question=state.question,
        ranks=state.ranks or len(view.evidence.ranks) or None,
        scopes=tuple((s.scope, s.ranks) for s in judgement.scopes),
        leader=(top.cause or "") if top else "",
        live=tuple(b.cause for b in top.live) if top else (),
        contested=contested.found.about if contested else "",
        evidence_ids=tuple(h.given.id for h in state.standing),
    )
