"""What comes after the evidence: contradictions, the next question, or the conclusion. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...rules.candidates import in_words, scope_values
from ...rules.counterfactuals import Assessment
from ..diagnosis.plans import question_document
from ..diagnosis.schemas import Diagnosis, QuestionDocument
from ..diagnosis.sentences import lower, stopped, upper
from ..sessions.schemas import Said, State
from .acts import Asked
from .answers import Asking, answer, mitigation_in_words, plan_in_words
from .applied import Applied
from .context import context_of
from .events import AnyEvent, ContradictionFound, QuestionAsked, QuestionClosed
from .mind import Mind, View
from .state import REMINDER, SessionState
from .suppose import what_if
from .words import becomes_in_words

NAMED = ("probable", "established")
CAPTURE = "longer-capture"
MOST_REVISIONS = 3
PATIENCE = 4
"""After so many times "don't know" in a row the service stops asking, and says what to capture."""
MOST_ALSO = 3


@dataclass(frozen=True, slots=True)
class Spoken:
    """Events and words."""

    events: tuple[AnyEvent, ...] = ()
    said: tuple[Said, ...] = ()


def disagreements(state: SessionState, view: View) -> Spoken:
    """What was said against what was recorded, where nobody was asked yet: says so and asks which to trust."""
    known = {c.found.about for c in state.contradictions}
    events: list[AnyEvent] = []
    said: list[Said] = []
    for found in view.evidence.disagreements:
        if found.about in known:
            continue
        known.add(found.about)
        events.append(
            ContradictionFound(about=found.about, recorded=found.recorded, stated=found.stated, evidence=found.evidence)
        )
        text = (
            f"That contradicts the recording: {found.about} is {found.recorded}, {found.stated}. The recording counts "
            "until you say otherwise. Which should I trust?\n  1 the recording   2 what you said"
        )
        said.append(Said(kind="contradiction", text=text, ref=found.evidence))
    return Spoken(tuple(events), tuple(said))


@dataclass(frozen=True, slots=True)
class GoneOn:
    """How a turn ends: the open question, the events of it, the words, and where the session stands."""

    question: QuestionDocument | None
    events: tuple[AnyEvent, ...]
    said: tuple[Said, ...]
    state: State


def go_on(state: SessionState, view: View, mind: Mind, done: Applied, *, waiting: bool) -> GoneOn:
    """Answers to free questions, then the next question or the conclusion. `waiting`: a contradiction was just
    asked about, which comes first."""
    worth = mind.questions(view, _closed(state), first=1, keep=_key(state))
    open_now = _open(state, view, mind, worth)
    said = [_answered(asked, state, view, mind, done, open_now) for asked in done.back]
    if waiting or state.contested is not None:
        return GoneOn(None, (), tuple(said), "asking")
    if open_now is not None:
        if (done.back or done.changed) and not state.reminded:
            text = f"{REMINDER} {open_now.candidate.text}"
            said.append(Said(kind="question", text=text, ref=open_now.candidate.id))
        return GoneOn(question_document(open_now, view.now.judgement, mind.knowledge), (), tuple(said), "asking")
    tired = state.not_known >= PATIENCE and not _settled(view)
    chosen = worth[0] if worth else _apart(view, mind, state.asked)
    if chosen is not None and not tired:
        said.append(Said(kind="question", text=question_in_words(chosen, view, mind), ref=chosen.candidate.id))
        document = question_document(chosen, view.now.judgement, mind.knowledge)
        return GoneOn(document, (*_settled_question(state), asking(chosen)), tuple(said), "asking")
    if done.weighs or done.closed:
        said += [*conclusion(view, mind), *(_also(state, view, mind) if tired else ())]
    elif not said:
        text = "Nothing is asked now. /show has the diagnosis; whatever else you know may change it."
        said += _also(state, view, mind) or [Said(kind="note", text=text)]
    stands: State = "concluded" if _settled(view) else "inconclusive"
    return GoneOn(None, _settled_question(state), tuple(said), stands)


def _settled_question(state: SessionState) -> tuple[AnyEvent, ...]:
    """The evidence has answered the open question."""
    if state.question is None:
        return ()
    return (QuestionClosed(question=state.question.id, scope=state.question.scope, how="settled"),)


def _also(state: SessionState, view: View, mind: Mind) -> list[Said]:
    """What could still be answered, after several times "don't know"."""
    worth = mind.questions(view, _closed(state), first=MOST_ALSO)[:MOST_ALSO]
    if not worth:
        return []
    head = "I keep the session. Any of these would help when you know it:"
    return [Said(kind="note", text="\n".join([head, *(f"  - {a.candidate.text}" for a in worth)]))]


def _key(state: SessionState) -> tuple[str, str] | None:
    """Id and scope of the open question."""
    return (state.question.id, state.question.scope) if state.question else None


def _closed(state: SessionState) -> frozenset[tuple[str, str]]:
    """Questions not to ask again: all that were asked, but the open one."""
    return state.asked - {_key(state)}


def _open(state: SessionState, view: View, mind: Mind, worth: Sequence[Assessment]) -> Assessment | None:
    """The question asked before, where an answer to it still counts."""
    key = _key(state)
    if key is None:
        return None
    found = next((a for a in worth if (a.candidate.id, a.candidate.scope) == key), None)
    apart = _apart(view, mind, _closed(state)) if found is None else None
    return found or (apart if apart is not None and apart.candidate.id == key[0] else None)


def _settled(view: View) -> bool:
    return view.now.judgement.verdict in (*NAMED, "healthy")


def asking(chosen: Assessment) -> QuestionAsked:
    """The event of a question."""
    candidate = chosen.candidate
    shown = [[o.id, o.text] for o in candidate.outcomes]
    return QuestionAsked(question=candidate.id, scope=candidate.scope, text=candidate.text, answers=shown)


def question_in_words(chosen: Assessment, view: View, mind: Mind) -> str:
    """The question, its reason in half a line, and the answers to choose from."""
    candidate = chosen.candidate
    entry = mind.knowledge.questions[candidate.id]
    values = scope_values(view.now.judgement, candidate.scope)
    reason = f'(asking because {in_words(entry.because, values)}; /why for more, "don\'t know" is fine)'
    lines = [candidate.text, reason]
    lines += [f"  e.g. {entry.example}"] if entry.example else []
    lines += [f"  {n} {o.text}" for n, o in enumerate(candidate.outcomes, 1)]
    return "\n".join(lines)


def _apart(view: View, mind: Mind, asked: frozenset[tuple[str, str]]) -> Assessment | None:
    """A question whose answer changes what may be done and not the verdict: asked last, once something is named."""
    return mind.apart(view, asked) if view.now.judgement.verdict in NAMED else None


def _answered(
    asked: Asked, state: SessionState, view: View, mind: Mind, done: Applied, open_now: Assessment | None
) -> Said:
    if asked.topic == "what_if":
        text = what_if(asked.subject, context_of(state, view, mind), state, done.recordings, mind, view)
    else:
        text = answer(asked, Asking(mind, state, view, open_now)) or "I have no answer to that."
    return Said(kind="answer", text=text, ref=asked.topic)


# ---- the conclusion --------------------------------------------------------------------------------------


def conclusion(view: View, mind: Mind) -> list[Said]:
    """The statement (L30), what to run, what would change the verdict, and apart from it what limits harm."""
    document = mind.first_look(view)
    said = [Said(kind="diagnosis", text=f"{document.statement} ({document.verdict.replace('_', ' ')})")]
    plan = plan_in_words(document)
    if plan and document.verdict != "healthy":
        said.append(Said(kind="plan", text="\n".join(["To run next:", *plan]), ref=_plan_id(document)))
    elif document.verdict == "insufficient_evidence":
        said.append(Said(kind="plan", text=_capture(mind), ref=CAPTURE))
    if document.revise_if:
        lines = [
            f"  - {stopped(r.text)} -> {becomes_in_words(r.becomes, mind.knowledge)}"
            for r in document.revise_if[:MOST_REVISIONS]
        ]
        said.append(Said(kind="note", text="\n".join(["I would change my mind if", *lines]), ref="revise_if"))
    meanwhile = mitigation_in_words(document)
    if meanwhile and document.verdict in NAMED:
        said.append(Said(kind="mitigation", text="\n".join(["Meanwhile, apart from the diagnosis:", *meanwhile])))
    return said


def _capture(mind: Mind) -> str:
    """The recording that would tell a late rank from all the rest."""
    plan = mind.knowledge.experiments[CAPTURE]
    return f"What would decide it: {lower(stopped(plan.title))} {upper(stopped(plan.change))}"


def _plan_id(document: Diagnosis) -> str:
    return document.next.experiment.id if document.next.experiment else ""
