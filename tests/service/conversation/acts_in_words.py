"""Acts as one line each, for cases in YAML."""

from __future__ import annotations

from latecomer.knowledge import load
from latecomer.service.conversation import acts
from latecomer.service.conversation.acts import Act, Context, OpenQuestion
from latecomer.service.conversation.understanding import understand

SCOPE = "rank:2"


def context(asked: str = "", ranks: int | None = None, contested: str = "") -> Context:
    """What is known: an open question about rank 2, the world size, three pieces of evidence."""
    knowledge = load()
    answers = tuple((answer.id, answer.text) for answer in knowledge.questions[asked].answers) if asked else ()
    question = OpenQuestion(asked, SCOPE, answers) if asked else None
    return Context(knowledge, question, ranks, contested=contested, evidence_ids=("e1", "e2", "e3"))


def understood(text: str, known: Context) -> tuple[list[str], set[str]]:
    """Acts other than Told in words, and all that was told."""
    found = understand(text, known)
    return [in_words(act) for act in found if not isinstance(act, acts.Told)], told(found)


def told(found: tuple[Act, ...]) -> set[str]:
    """What Told acts say: `claim network_blame`, `framework DDP`, `ranks 8`."""
    said: set[str] = set()
    for act in found:
        if isinstance(act, acts.Told):
            said |= {" ".join(str(value) for _, value in f.values) for f in act.facts if f.kind == "told"}
            said |= {" ".join([f.kind, *(str(value) for _, value in f.values)]) for f in act.facts if f.kind != "told"}
            said |= {f"{name} {n}" for name, n in (("ranks", act.ranks), ("steps", act.steps)) if n}
    return said


def in_words(act: Act) -> str:
    """One act, for example `Measures 5 arrival 410; others arrival 251±1`."""
    match act:
        case acts.Measures():
            size = [f"{name} {n}" for name, n in (("ranks", act.ranks), ("steps", act.steps)) if n]
            labels = [f"{who} reads {label}" for who, label in act.sources.items()]
            return "Measures " + "; ".join([*map(_statement, act.statements), *labels, *size])
        case acts.Answered():
            return f"Answered {act.question} {act.answer}" + (f" @{act.scope}" if act.scope != SCOPE else "")
        case acts.Corrected():
            ranks = (
                [f"rank {act.old_rank}->{act.new_rank}"] if act.old_rank is not None or act.new_rank is not None else []
            )
            values = [f"{act.old_value}->{act.new_value}"] if act.new_value is not None else []
            return " ".join(["Corrected", *ranks, *values])
        case acts.Asked():
            return f"Asked {act.topic} {act.subject}".strip()
        case acts.Unread():
            return "Unread"
        case acts.Pasted():
            return f"Pasted {len(act.text.splitlines())} lines"
        case acts.TakenBack():
            return f"TakenBack {act.evidence}"
        case acts.Revised():
            return f"Revised {act.evidence} {act.text}"
        case acts.Trusted():
            return f"Trusted {act.what}"
        case _:
            return f"{type(act).__name__} {getattr(act, 'question', '')}".strip()


def _statement(said: acts.Statement) -> str:
    half = f"±{said.half_range:g}" if said.half_range else ""
    step = f" step {said.step}" if said.step >= 0 else ""
    return f"{said.who} {said.column.removesuffix('_ms')} {said.value:g}{half}{step}{' more' if said.relative else ''}"
