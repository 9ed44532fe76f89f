"""Acts of a message become events, and what the service says to each. Pure but for what `Mind` keeps at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from ...knowledge.errors import InputError
from ...knowledge.facts import Fact, fact
from ...rules.candidates import in_words as fill_words
from ...rules.candidates import is_settled, scope_values, suppose
from ...traces.readers.table import read_text
from ..sessions.schemas import Said
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
from .context import context_of
from .correct import corrected
from .events import (
    AnyEvent,
    EvidenceAttached,
    EvidenceWithdrawn,
    QuestionClosed,
    RankCorrected,
    SideTrusted,
    as_numbers,
    stated,
)
from .evidence import Recordings
from .mind import Mind, View
from .pasted import in_words
from .state import SessionState, fold
from .understanding import understand
from .words import quoted, ranks_named, statements_in_words, stopped, upper

BACKGROUND = ("told", "claim")
"""Kinds of fact that no rule weighs."""
EXAMPLE = "rank 2 input wait 140 ms, the others 20"


@dataclass(slots=True)
class Applied:
    """Events and words so far, and the state they lead to. `back`: free questions to answer on the new evidence."""

    state: SessionState
    recordings: Recordings
    turn: int
    events: list[AnyEvent] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    back: list[Asked] = field(default_factory=list)
    closed: bool = False
    unread: bool = False

    @property
    def changed(self) -> bool:
        """Whether the evidence did."""
        return any(isinstance(e, EvidenceAttached | EvidenceWithdrawn | SideTrusted) for e in self.events)

    @property
    def weighs(self) -> bool:
        """Whether anything came or went that rules may weigh: more than background and beliefs."""
        return any(_weighs(e) for e in self.events)

    def add(self, *events: AnyEvent) -> None:
        """Events, and the state after them."""
        self.events += events
        self.state = fold([(self.turn, e) for e in events], self.state)

    def say(self, kind: str, text: str, ref: str = "") -> None:
        """One thing said."""
        self.said.append(Said.model_validate({"kind": kind, "text": text, "ref": ref}))

    @property
    def next_id(self) -> str:
        """Id of the next piece of evidence."""
        return f"e{len(self.state.evidence) + 1}"


def apply(acts: Sequence[Act], state: SessionState, recordings: Recordings, mind: Mind, before: View) -> Applied:
    """What the acts mean for the session. `before`: the evidence as it stood."""
    done = Applied(state, recordings, state.turn)
    statement = _without_settled([a for a in acts if isinstance(a, Measures | Told | Answered)], done, mind)
    _state(statement, done, mind, before, replaces=None)
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


def _weighs(event: AnyEvent) -> bool:
    if not isinstance(event, EvidenceAttached):
        return isinstance(event, EvidenceWithdrawn | SideTrusted)
    told = bool(event.facts) and all(f.kind in BACKGROUND for f in event.facts)
    return not told and bool(event.numbers or event.facts or event.sources or event.form in ("text", "tables"))


def _readable(done: Applied, mind: Mind) -> str:
    """An example of what can be read now."""
    question = done.state.question
    example = mind.knowledge.questions[question.id].example if question else ""
    if not example and question and question.answers:
        example = question.answers[0][1]
    return f"I can read, for example: {example or EXAMPLE}"


# ---- statements ------------------------------------------------------------------------------------------


def _without_settled(
    acts: list[Measures | Told | Answered], done: Applied, mind: Mind
) -> list[Measures | Told | Answered]:
    """Words do not answer what numbers of the same message, or earlier ones, have measured."""
    early = [a for a in acts if isinstance(a, Answered) and not _is_open(a, done.state)]
    if not early:
        return acts
    numbers = [s for a in acts if isinstance(a, Measures) for s in a.statements]
    ranks = next((a.ranks for a in acts if isinstance(a, Measures | Told) and a.ranks), None)
    given = EvidenceAttached(id="e0", form="statement", label="", numbers=as_numbers(numbers), ranks=ranks)
    facts = mind.view(fold([(done.turn, given)], done.state), done.recordings).now.facts
    settled = {a for a in early if is_settled(a.question, a.scope, facts, mind.knowledge)}
    return [a for a in acts if not (isinstance(a, Answered) and a in settled)]


def _is_open(act: Answered, state: SessionState) -> bool:
    return state.question is not None and state.question.id == act.question


def _state(
    acts: Sequence[Measures | Told | Answered], done: Applied, mind: Mind, before: View, *, replaces: str | None
) -> None:
    """One piece of evidence of everything a message states, so that one command takes it back."""
    numbers = [s for a in acts if isinstance(a, Measures) for s in a.statements]
    sources = {who: label for a in acts if isinstance(a, Measures) for who, label in a.sources.items()}
    ranks = [a.ranks for a in acts if isinstance(a, Measures | Told) and a.ranks]
    steps = [a.steps for a in acts if isinstance(a, Measures | Told) and a.steps]
    facts, answers, words = _facts(acts, done, mind, before)
    words = [*statements_in_words(numbers), *_sources(sources), *words]
    if ranks and ranks[-1] != done.state.ranks:
        words.insert(0, f"{ranks[-1]} ranks")
    if steps:
        words.append(f"{steps[-1]} steps")
    if not (numbers or sources or facts or answers or words):
        return
    first = not done.state.evidence
    given = EvidenceAttached(
        id=done.next_id,
        form="statement",
        label=_label(acts),
        numbers=as_numbers(numbers),
        sources=sources,
        facts=[stated(f) for f in facts],
        in_words=words,
        ranks=ranks[-1] if ranks else None,
        steps=steps[-1] if steps else None,
        replaces=replaces,
        answers=answers,
    )
    done.add(given, *(QuestionClosed(question=q, scope=s, how="answered") for q, s, _ in answers))
    done.closed = done.closed or bool(answers)
    if words:
        hint = "  /facts shows it, /undo takes it back." if first else ""
        done.say("understood", f"{'Corrected' if replaces else 'Understood'}: {'; '.join(words)}.{hint}", given.id)
    for item in facts:
        if item.kind == "claim":
            belief = mind.knowledge.misconceptions[str(item["misconception"])]
            done.say("belief", f"{stopped(belief.answer)} {stopped(belief.instead)}", str(item["misconception"]))


def _facts(
    acts: Sequence[Measures | Told | Answered], done: Applied, mind: Mind, before: View
) -> tuple[list[Fact], list[list[str]], list[str]]:
    """Facts that are new, answers with their question and scope, and both in words."""
    known = {(f.kind, f.values) for f in before.now.facts}
    facts: list[Fact] = []
    answers: list[list[str]] = []
    words: list[str] = []
    for act in acts:
        if isinstance(act, Told):
            new = [f for f in act.facts if (f.kind, f.values) not in known]
            facts += new
            words += act.in_words if new else ()
        elif isinstance(act, Answered):
            made = answer_facts(act, mind, before)
            facts += made
            answers.append([act.question, act.scope, act.answer])
            asked = done.state.question
            text = answer_in_words(act, mind, before)
            here = asked is not None and asked.id == act.question
            words.append(text if here else f"{act.question.replace('_', ' ')}: {text}")
    return facts, answers, list(dict.fromkeys(w for w in words if w))


def answer_facts(act: Answered, mind: Mind, before: View) -> list[Fact]:
    """The facts that an answer means on the evidence as it stood."""
    question = mind.knowledge.questions[act.question]
    chosen = next(a for a in question.answers if a.id == act.answer)
    values = scope_values(before.now.judgement, act.scope)
    made = suppose(before.now.facts, chosen.facts, values, mind.knowledge)
    return [fact(f.kind, dict(f.values), quality="stated", source=f.source) for f in made]


def answer_in_words(act: Answered, mind: Mind, before: View) -> str:
    """The answer as it was shown."""
    chosen = next(a for a in mind.knowledge.questions[act.question].answers if a.id == act.answer)
    return fill_words(chosen.text, scope_values(before.now.judgement, act.scope))


def _sources(sources: dict[str, str]) -> list[str]:
    verbs = ((who, label, "reads" if who.isdecimal() else "read") for who, label in sources.items())
    return [f"{ranks_named(who)} {verb} {label}" for who, label, verb in verbs]


def _label(acts: Sequence[Measures | Told | Answered]) -> str:
    return " / ".join(dict.fromkeys(a.quote.strip() for a in acts if a.quote.strip()))[:120]


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
        id=done.next_id,
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
        done.add(msgspec.structs.replace(_renamed(given, done.next_id), swapped=swapped))
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
        _state(statement, done, mind, before, replaces=act.evidence)
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
        again = _renamed(back[0].given, done.next_id)
        done.add(again)
        done.say("understood", f"Counts again: {'; '.join(again.in_words)}.", again.id)


def _trust(act: Trusted, done: Applied) -> None:
    contested = done.state.contested
    if contested is None:
        done.say("note", "Nothing is contradicted.")
        return
    done.add(SideTrusted(about=contested.found.about, side=act.what))
    side = "what was recorded" if act.what == "recorded" else "what you said"
    done.say("understood", f"{upper(contested.found.about)}: {side} counts.")
