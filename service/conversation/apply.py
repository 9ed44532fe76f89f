"""Acts of a message become events, and what the service says to each. Pure but for what `Mind` keeps at hand."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...knowledge.errors import InputError
from ...traces.readers.table import read_text
from ..diagnosis.sentences import stopped, upper
from .acts import (
    Act,
    Answered,
    Asked,
    Corrected,
    Measures,
    Pasted,
    Revised,
    Skipped,
    TakenBack,
    Told,
    Trusted,
    Unknown,
    Unread,
)
from .applied import Applied
from .context import context_of
from .correct import corrected
from .events import AnyEvent, EvidenceAttached, EvidenceWithdrawn, QuestionClosed, RankCorrected, SideTrusted
from .evidence import Recordings
from .mind import Mind, View
from .pasted import in_words
from .state import SessionState
from .stating import state_words, without_settled
from .understanding import understand
from .words import quoted

EXAMPLE = "rank 2 input wait 140 ms, the others 20"


def apply(
    acts: Sequence[Act],
    first: Sequence[AnyEvent],
    state: SessionState,
    recordings: Recordings,
    mind: Mind,
    before: View,
) -> Applied:
    """What the acts mean for the session. `first`: events of the turn that the state holds already; `before`: the
    evidence as it stood."""
    done = Applied(state, recordings, state.turn, tuple(first))
    statement = without_settled([a for a in acts if isinstance(a, Measures | Told | Answered)], done, mind)
    state_words(statement, done, mind, before, replaces=None)
    for act in acts:
        match act:
            case Pasted():
                _paste(act, done)
            case Corrected():
                _correct(act, done)
            case Revised():
                _revise(act, done, mind, before)
            case TakenBack():
                _take_back(act, done)
            case Trusted():
                _trust(act, done)
            case Unknown() | Skipped():
                how = "unknown" if isinstance(act, Unknown) else "skipped"
                done.add(QuestionClosed(question=act.question, scope=act.scope, how=how))
                done.closed = True
                done.say("note", "All right." if how == "unknown" else "Left for later.")
            case Asked():
                done.back.append(act)
            case Unread():
                done.unread = True
                reason = f": {stopped(act.why)}" if act.why else "."
                done.say("not_understood", f"I could not read {quoted(act.quote)}{reason} {_readable(done, mind)}")
            case _:
                pass
    return done


def _readable(done: Applied, mind: Mind) -> str:
    """An example of what can be read now."""
    question = done.state.question
    example = mind.knowledge.questions[question.id].example if question else ""
    if not example and question and question.answers:
        example = question.answers[0][1]
    return f"I can read, for example: {example or EXAMPLE}"


# ---- tables, corrections, withdrawal ---------------------------------------------------------------------


def _paste(act: Pasted, done: Applied, *, replaces: str | None = None) -> None:
    name = f"turn {done.turn}"
    try:
        tables = read_text(act.text, name=name, world_size=done.state.ranks)
    except InputError as error:
        done.unread = True
        done.say("not_understood", f"I could not read the pasted text: {stopped(error.what)} {error.remedy}")
        return
    words = in_words(tables)
    given = EvidenceAttached(
        id=done.state.next_id,
        form="text",
        label="pasted table",
        in_words=words,
        text=act.text,
        ranks=done.state.ranks,
        replaces=replaces,
    )
    done.recordings = {**done.recordings, given.id: tables}
    done.add(given)
    done.say("understood", f"Read: {'; '.join(words)}.", given.id)


def _correct(act: Corrected, done: Applied) -> None:
    found = corrected(act, done.state)
    if not found.changed:
        done.unread = True
        done.say("not_understood", f"I see nothing that {quoted(act.quote)} corrects. /evidence shows what was said.")
        return
    swapped = list(found.ranks or ())
    for given in found.changed:
        done.add(msgspec.structs.replace(_renamed(given, done.state.next_id), swapped=swapped))
    if swapped:
        done.add(RankCorrected(old=swapped[0], new=swapped[1]))
    done.say("understood", f"Corrected: {found.in_words}.", done.state.evidence[-1].given.id)


def _renamed(given: EvidenceAttached, name: str) -> EvidenceAttached:
    return msgspec.structs.replace(given, id=name, replaces=given.id)


def _revise(act: Revised, done: Applied, mind: Mind, before: View) -> None:
    if done.state.held(act.evidence) is None:
        done.unread = True
        done.say("not_understood", f"There is no evidence {act.evidence}. /evidence lists it.")
        return
    acts = understand(act.text, context_of(done.state, before, mind))
    statement = [a for a in acts if isinstance(a, Measures | Told | Answered)]
    pasted = next((a for a in acts if isinstance(a, Pasted)), None)
    if pasted is not None:
        _paste(pasted, done, replaces=act.evidence)
    elif statement:
        state_words(statement, done, mind, before, replaces=act.evidence)
    else:
        done.unread = True
        done.say("not_understood", f"I could not read {quoted(act.text)}. {_readable(done, mind)}")


def _take_back(act: TakenBack, done: Applied) -> None:
    standing = done.state.standing
    held = done.state.held(act.evidence) if act.evidence != "last" else (standing[-1] if standing else None)
    if held is None:
        done.say("note", "There is nothing to take back." if act.evidence == "last" else f"No evidence {act.evidence}.")
        return
    done.add(EvidenceWithdrawn(id=held.given.id, because="taken back"))
    back = [h for h in done.state.evidence if h.given.id == held.given.replaces]
    done.say("understood", f"Taken back: {'; '.join(held.given.in_words) or held.given.label}.", held.given.id)
    if held.given.swapped:
        done.add(RankCorrected(old=held.given.swapped[1], new=held.given.swapped[0]))
    if back:
        again = _renamed(back[0].given, done.state.next_id)
        _record_again(again, back[0].given.id, done)
        done.add(again)
        done.say("understood", f"Counts again: {'; '.join(again.in_words)}.", again.id)


def _record_again(again: EvidenceAttached, old: str, done: Applied) -> None:
    """The tables of evidence that counts again, as a replay of the log would find them."""
    if again.form == "text":
        tables = read_text(again.text, name=f"turn {done.turn}", world_size=again.ranks)
        done.recordings = {**done.recordings, again.id: tables}
    elif old in done.recordings:
        done.recordings = {**done.recordings, again.id: done.recordings[old]}


def _trust(act: Trusted, done: Applied) -> None:
    contested = done.state.contested
    if contested is None:
        done.say("note", "Nothing is contradicted.")
        return
    done.add(SideTrusted(about=contested.found.about, side=act.what))
    side = "what was recorded" if act.what == "recorded" else "what you said"
    done.say("understood", f"{upper(contested.found.about)}: {side} counts.")
