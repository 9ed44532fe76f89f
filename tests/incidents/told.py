"""What an engineer says and pastes, through the conversation: the diagnosis, and the first questions it asks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from latecomer.service.diagnosis.schemas import Diagnosis

from ..conversations.talk import Talk, mind

PATIENCE = 6
"""How often "don't know" is said at most to hear more questions."""


def tell(messages: Sequence[str]) -> Diagnosis:
    """The diagnosis after these messages."""
    return mind().diagnosis(_told(tuple(messages)).outcomes[-1].view)


def questions_asked(messages: Sequence[str], n: int = 3) -> list[str]:
    """Ids of the first questions of the conversation, those after the last message answered "don't know"."""
    talk = Talk()
    for text in messages:
        talk.say(text)
    for _ in range(PATIENCE):
        if len(talk.asked) >= n or talk.state.question is None:
            break
        talk.say("don't know")
    return [name.partition("@")[0] for name in talk.asked[:n]]


@cache
def _told(messages: tuple[str, ...]) -> Talk:
    talk = Talk()
    for text in messages:
        talk.say(text)
    return talk
