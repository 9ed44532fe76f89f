"""The commands of the chat, in one place: what they are called, what they take, what they do. Help and docs read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `here`: the terminal answers it itself; else it is a message like any other."""

    name: str
    takes: str
    does: str
    here: bool = False


COMMANDS = (
    Command("why", "[QUESTION]", "why the open question is asked, and what each answer would do"),
    Command("how", "[SCOPE]", "how the causes came to their probabilities, with rules and weights"),
    Command("evidence", "", "what was attached and said, with its ids"),
    Command("facts", "", "the facts it rests on, with their sources"),
    Command("causes", "", "every cause with its probability"),
    Command("whatif", "WORDS", "what the diagnosis would be if the words were true; nothing is kept"),
    Command("undo", "[ID]", "take the last evidence back, or the one with that id"),
    Command("revise", "ID WORDS", "say evidence anew"),
    Command("skip", "", "leave the open question for later"),
    Command("unknown", "", "you do not know the answer to the open question"),
    Command("show", "[N]", "the whole diagnosis, or its reason N with rule and premises"),
    Command("heat", "", "lateness by rank and step", here=True),
    Command("attach", "PATH...", "read traces where they lie and attach them", here=True),
    Command("export", "[FILE]", "write the diagnosis as JSON", here=True),
    Command("help", "", "these commands", here=False),
    Command("quit", "", "leave; the session is kept", here=True),
)


def help_lines() -> Iterator[str]:
    """A line a command."""
    shown = [(f"/{c.name} {c.takes}".rstrip(), c.does) for c in COMMANDS]
    width = max(len(left) for left, _ in shown)
    yield "Answer in your own words, paste a table or a log, or ask back. Commands:"
    yield from (f"  {left:<{width}}  {does}" for left, does in shown)
