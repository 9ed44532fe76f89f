"""Commands: `/why`, `/undo e3`, `/whatif rank 2's input were normal`."""

from __future__ import annotations

from difflib import get_close_matches

from ..acts import Act, Asked, Context, Revised, Skipped, TakenBack, Topic, Unknown, Unread
from ..commands import COMMANDS

_TOPICS: dict[str, Topic] = {
    "why": "why",
    "how": "how",
    "evidence": "evidence",
    "facts": "facts",
    "causes": "causes",
    "whatif": "what_if",
    "show": "show",
    "help": "help",
}
NAMES = tuple(command.name for command in COMMANDS)


def command(text: str, context: Context) -> Act:
    """The act of a message that begins with a slash."""
    name, _, rest = text[1:].partition(" ") if "\n" not in text.split(" ")[0] else text[1:].partition("\n")
    name, rest = name.strip().lower(), rest.strip()
    if name in _TOPICS:
        if name == "whatif" and not rest:
            return Unread(text, "/whatif needs what to suppose, for example: /whatif rank 2's input were normal")
        return Asked(_TOPICS[name], rest, text)
    if name == "undo":
        return TakenBack(rest or "last")
    if name == "revise":
        evidence, _, said = rest.partition(" ")
        return (
            Revised(evidence, said.strip()) if said.strip() else Unread(text, "/revise needs an id and the new words")
        )
    if name in ("skip", "unknown"):
        if context.question is None:
            return Unread(text, "no question is open")
        return (Skipped if name == "skip" else Unknown)(context.question.id, context.question.scope)
    if name in NAMES:
        return Unread(text[:200], f"/{name} is answered by the terminal, alone on its line")
    near = get_close_matches(name[:40], NAMES, 1, 0.5)
    return Unread(text[:200], f"no command is named /{name[:40]}" + (f"; nearest is /{near[0]}" if near else ""))
