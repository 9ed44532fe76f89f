"""What a message states, in numbers, facts and answers, as one piece of evidence. Pure but for what `Mind` keeps."""

from __future__ import annotations

from ...knowledge.facts import Fact, fact
from ...rules.candidates import in_words as fill_words
from ...rules.candidates import is_bound, is_settled, scope_values, suppose
from ..diagnosis.sentences import stopped
from .acts import Answered, Measures, Told
from .applied import Applied
from .events import EvidenceAttached, QuestionClosed, as_numbers, stated
from .mind import Mind, View
from .state import SessionState, fold
from .words import ranks_named, statements_in_words

Statements = list[Measures | Told | Answered]


def without_settled(acts: Statements, done: Applied, mind: Mind) -> Statements:
    """Words do not answer what numbers of the same message, or earlier ones, have measured."""
    early = [a for a in acts if isinstance(a, Answered) and not _is_open(a, done.state)]
    if not early:
        return acts
    numbers = [s for a in acts if isinstance(a, Measures) for s in a.statements]
    ranks = next((a.ranks for a in acts if isinstance(a, Measures | Told) and a.ranks), None)
    given = EvidenceAttached(id="e0", form="statement", label="", numbers=as_numbers(numbers), ranks=ranks)
    facts = mind.view(fold([(done.turn, given)], done.state), done.recordings).now.facts
    settled = {a for a in early if is_settled(a.question, a.scope, facts, mind.knowledge)}
    done.known = bool(settled)
    return [a for a in acts if not (isinstance(a, Answered) and a in settled)]


def _is_open(act: Answered, state: SessionState) -> bool:
    return state.question is not None and state.question.id == act.question


def state_words(acts: Statements, done: Applied, mind: Mind, before: View, *, replaces: str | None) -> None:
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
        id=done.state.next_id,
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


def _facts(acts: Statements, done: Applied, mind: Mind, before: View) -> tuple[list[Fact], list[list[str]], list[str]]:
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
    """The facts that an answer means on the evidence as it stood; none yet where its scope is not known."""
    question = mind.knowledge.questions[act.question]
    chosen = next(a for a in question.answers if a.id == act.answer)
    if is_bound(question) and not act.scope:
        return []
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


def _label(acts: Statements) -> str:
    return " / ".join(dict.fromkeys(a.quote.strip() for a in acts if a.quote.strip()))[:120]
