"""Corrections: another rank, another value, taking back; and which side of a contradiction to trust."""

from __future__ import annotations

import re

from ....traces.patterns import Words, says
from ....traces.readers.table.numbers import NUMBER, unit_pattern
from ....traces.readers.table.prose import tokens
from ..acts import Context, Corrected, TakenBack, Trusted
from .vocabulary import vocabulary

_R = r"(?:ranks?|gpu|worker)"
_NO_TIME = r"\b(?!\s*(?:ms|us|s)\b|[.\d])"
_NOT = r"(?:not|instead of|rather than)"
_RANKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_R}\s*#?(?P<new>\d+)\W+(?:and\s+)?{_NOT}\s+(?:on\s+|for\s+)?(?:{_R}\s*#?)?(?P<old>\d+){_NO_TIME}",
        rf"(?:not|wasn'?t|isn'?t|instead of)\s+{_R}\s*#?(?P<old>\d+)\W+(?:but|it was|it'?s|it is|rather|that was)?"
        rf"\W*(?:it was\s+)?(?:{_R}\s*#?)?(?P<new>\d+){_NO_TIME}",
        rf"{_R}\s*#?(?P<old>\d+)\s+(?:should be|should have been|(?:is|was) (?:really|actually)|->|=>)\s+"
        rf"{_R}\s*#?(?P<new>\d+)",
        rf"(?:said|wrote|typed)\s+{_R}\s*#?(?P<old>\d+)\W+(?:but\s+)?(?:i\s+)?(?:meant|mean|it was|it is|it'?s)\s+"
        rf"(?:{_R}\s*#?)?(?P<new>\d+)",
    )
)
_MARK = (
    r"(?:actually|no|nope|sorry|oops|correction|i meant|i mean|i misspoke|wait|typo|my mistake|it was|it is|it'?s"
    r"|that was|should be|make that|rather)"
)
_NEW_RANK = re.compile(
    rf"^(?:{_MARK}[\s,:!.;-]+)+(?:for\s+|on\s+|the\s+|in\s+)?{_R}\s*#?(?P<new>\d+)"
    r"\s*(?:instead|actually|sorry|that is|i mean)?[.!]*$",
    re.IGNORECASE,
)
_VALUE = rf"({NUMBER})\s*({unit_pattern()})?"
_FIXED = rf"{_VALUE},?\s+(?:and\s+)?{_NOT}\s+{_VALUE}"
_FIX_RANK = re.compile(
    rf"\b{_R}\s*#?(?P<rank>\d+)\s+(?:(?:is|was|at|has|gets there|arrives|it'?s)\s+)*(?:at\s+)?{_FIXED}", re.IGNORECASE
)
_FIX = re.compile(rf"^(?:{_MARK}[\s,:!.;-]+)*{_FIXED}[.!]*$", re.IGNORECASE)
_NEW_VALUE = re.compile(rf"^(?:{_MARK}[\s,:!.;-]+)+{_VALUE}\s*(?:instead|actually|sorry)?[.!]*$", re.IGNORECASE)
_RANK = re.compile(rf"\b{_R}\s*#?(\d{{1,6}})", re.I)


def correction(sentence: str, words: Words, context: Context) -> Corrected | TakenBack | None:
    """What the sentence corrects or takes back, or None."""
    text = sentence.strip()
    for pattern in _RANKS:
        if (
            (found := pattern.search(text))
            and len(found["old"]) < 7
            and len(found["new"]) < 7
            and found["old"] != found["new"]
        ):
            return Corrected(sentence, int(found["old"]), int(found["new"]))
    if (found := _NEW_RANK.match(text)) and len(found["new"]) < 7:
        return Corrected(sentence, None, int(found["new"]))
    if changed := _value(sentence, text, context):
        return changed
    if says(vocabulary().taken_back, words):
        return TakenBack(_evidence(text, context))
    return None


def trusted(words: Words, context: Context) -> Trusted | None:
    """Which side counts, where the last reply asked for it."""
    if not context.contested:
        return None
    return next((Trusted(entry.what) for entry in vocabulary().trusted if says(entry.said, words)), None)


def _value(sentence: str, text: str, context: Context) -> Corrected | None:
    named = any(token.kind == "column" for token in tokens(text[:2000]))
    if (found := _FIX_RANK.search(text)) and not named and len(found["rank"]) < 7:
        new, unit, old, old_unit = found.groups()[1:5]
        return Corrected(sentence, int(found["rank"]), None, _ms(old, old_unit or unit), _ms(new, unit or old_unit))
    if found := _FIX.match(text):
        new, unit, old, old_unit = found.groups()
        return Corrected(sentence, None, None, _ms(old, old_unit or unit), _ms(new, unit or old_unit))
    if (found := _NEW_VALUE.match(text)) and not (context.question and len(found[1]) == 1):
        return Corrected(sentence, None, None, None, _ms(found[1], found[2]))
    return None


def _ms(number: str, unit: str | None) -> float:
    values = [value for token in tokens(f"{number} {unit or 'ms'}") for value in token.values]
    return values[0].value * (values[0].factor_ms or 1.0) if values else float(number.replace(",", ""))


def _evidence(text: str, context: Context) -> str:
    lowered = text.lower()
    for name in context.evidence_ids:
        if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", lowered):
            return name
    named = _RANK.search(text)
    return f"rank:{named[1]}" if named else "last"
