"""Numbers about ranks in a sentence, with the measure and ranks that earlier sentences or the open question supply."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ....traces.patterns import one_typo
from ....traces.readers.table import prose, ranks
from ....traces.readers.table.columns import Column
from ....traces.readers.table.numbers import NUMBER, unit_pattern
from ....traces.readers.table.tokens import LONGEST_LINE, tokens, unspent
from ..acts import Context, Measures, Statement, Unread
from .job import Size, size
from .vocabulary import measure_words

_UNIT = unit_pattern()
_VALUE = rf"~?{NUMBER}(?:\s*(?:-|–|to)\s*{NUMBER})?(?:\s*{_UNIT})?"
_NEAR_RANK = re.compile(r"\b(r[a-z]{2,5}?)(s?)(?=[\s#=]*\d)", re.I)
_SHORT_RANK = re.compile(r"(?<!\w)(?:r|rk|gpu|#)\s?(\d{1,5})(?!\w|\.\d)", re.I)
_TWO_RANKS = re.compile(
    r"\b(rank|gpu|worker)(\s*\d{1,5}\s*(?:and|&)\s*\d{1,5}\b)(?!\s*(?:ms|us|s|on|for|in|tokens|samples|of)\b|[.\d])",
    re.I,
)
_THAN_OTHERS = re.compile(
    r"\b(longer|slower|later|more|behind)\s+(?:than\s+)?(?:all\s+|the\s+)*(?:others?|rest|every(?:body|one)\s+else|its\s+peers|peers)\b"
    r"(?:\s+(?:ranks|gpus))?",
    re.I,
)
_THINGS = re.compile(r"\b(?:node|host|epoch|stage|layer|bucket|shard|version|seed|port|line)\s*#?\d+\b", re.I)
_STEP_TIME = re.compile(rf"\bstep(?=\s+~?{NUMBER}\s*{_UNIT})", re.I)
_ALL_BUT = re.compile(r"\ball\s+(?:but|except(?:\s+for)?)\s+", re.I)
_TAKEN_BACK = re.compile(rf"\W*\b(?:and\s+)?not\s+{_VALUE}(?=\W|$)", re.I)
_RATIO_SAID = re.compile(
    r"\b(?:twice|double|triple|thrice|half|\d+(?:\.\d+)?\s*(?:x|times)|\d+(?:\.\d+)?\s*(?:%|percent))(?:\W+\w+){0,2}?"
    r"\W+(?:as|longer|slower|faster|more|less|the time)\b",
    re.I,
)
_ACTS = (
    r"waits?|waited|takes?|took|arrive[sd]?|gets|got|reache[sd]|comes|came|enters|entered|needs|needed|spends|spent|has"
    r"|is|was|hits?|loads?|computes?|reads?"
)
_BARE_RANK = re.compile(
    rf"(?:^|(?<=[,;(]\s)|(?<=\band\s)|(?<=\bbut\s)|(?<=\bwhile\s))(\d{{1,5}})(?=\s+(?:{_ACTS})\b)", re.I
)
_VALUE_FOR = re.compile(rf"({_VALUE})\s+(for|on)\s+(\d{{1,5}})(?![\d.:%-]|\s*{_UNIT}|\s+(?:of|steps)\b)", re.I)
_PAIR = re.compile(rf"(?<![\d:.\w])(\d{{1,5}})\s*[:=]\s*({_VALUE})", re.I)
_ROW = re.compile(rf"^\s*(\d{{1,5}})[\s;|]+({_VALUE})\s*$", re.I)
_BARE_RANKS_AT = re.compile(
    r"(?:^|(?<=[,;]\s)|(?<=\band\s))(\d{1,5}(?:\s*(?:-|to)\s*\d{1,5})?)(?=\s+(?:are\s+|is\s+)?at\s+~?\d)", re.I
)
_ALL = re.compile(r"\b(?:all|both)(?=\s+(?:are\s+|is\s+)?(?:at\s+|around\s+|about\s+|roughly\s+)*~?\d)", re.I)
_STEPS_TAKE = re.compile(
    r"\bsteps?\s+(?:now\s+)?(?:takes?|took|is|are|lasts?)(?=\s+(?:(?:about|around|now|roughly)\s+)*~?\d)", re.I
)
_BEFORE = re.compile(
    rf"\W*\b(?:used to be|instead of|up from|down from|was|before)\s+(?:about\s+|around\s+)?{_VALUE}", re.I
)
_MEASURE_LAST = re.compile(rf"^(.*)\(([a-z][a-z ]*?),?\s*(?:in\s+)?({_UNIT})?\)\s*$", re.I)
_LIST = re.compile(
    rf"(?<![\d.\w])(?<!rank )(?<!ranks )(?<!gpus )({_VALUE}(?:(?:\s*[,|]\s*|\s+)(?:and\s+)?{_VALUE}){{2,}})", re.I
)
_TIGHT_LIST = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3}){2,}(?![\d,]*\.\d)(?!\d)")
_OR = re.compile(r"\s*[,|]\s*(?:and\s+)?|\s+(?:and\s+)?(?=[~\d])")
_DONE = re.compile(
    rf"\b(?:done|ends?|ended|finishe[sd]|finish|completes?|completed|over|through)\s+(?:at|by)\s+({NUMBER})\s*({_UNIT})?",
    re.I,
)
_OTHER_WAIT = re.compile(
    r"\b(?:for|on)\s+(?:the\s+)?(?:others?|rest|peers?|rank|gpu|all-?\s?reduce|barrier|nccl|last)\b", re.I
)
_OF_STEP = re.compile(
    rf"\s*\b(?:of|out of|in)\s+(?:an?|its|the|each|every)\s+(?:(?:about|around|roughly)\s+)?"
    rf"({NUMBER})\s*({_UNIT})?\s+steps?\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"\b(?:synthetic|random (?:tensors?|data|input|batch(?:es)?)|(?:fake|dummy) (?:data|input|batch(?:es)?|tensors?)"
    r"|last week|before the (?:upgrade|update|change|move)|in a good run|on the (?:old|other) (?:cluster|machine|node)"
    r"|without (?:the )?profiler)\b",
    re.I,
)
_COPIES = re.compile(
    r"\b(?:host[- ]to[- ]device|device[- ]to[- ]host|h2d|d2h|memory|pcie)\s+(?:transfers?|cop(?:y|ies))(?:\s+time)?\b",
    re.I,
)
_IDLE = re.compile(r"\bidle\b|\bgaps?\b", re.I)
_PER_STEP = re.compile(r"\b(?:per|a|each|every)\s+steps?\b(?!\s+(?:takes?|is|lasts?))", re.I)
_DIFFERS = re.compile(r"\b(?:differs?|varies|vary|ratio|factor|balance|imbalance|fold)\b", re.I)
_TRUSTED_BARE = 3
"""How many words beside ranks, measures and numbers a sentence may hold whose numbers have no unit."""
_LATE = re.compile(rf"({_VALUE})\s+(?:too\s+)?late\b(?!\s+than)", re.I)
_LAST_BY = re.compile(
    rf"\b(?:last|late|behind)\b[\s,]*(?:and\s+)?by\s+((?:about\s+|around\s+|roughly\s+)?{_VALUE})", re.I
)
_OF_RANK = re.compile(r"\bof\s+(\d{1,5})\b(?=\s+(?:is|are|takes?|needs?|lasts?)\b)", re.I)
_USED_TO = re.compile(
    rf"[\s,;(]*\b(?:used to be|up from|down from|instead of)\s+(?:about\s+|around\s+)?{_VALUE}\)?", re.I
)
_PAUSE = re.compile(
    r"(?:\bbut\b|\bbecause\b|\band\b|[,;.]|^)(?:(?!\bbut\b|\bbecause\b|\band\b)[^,;.])*?"
    r"\b(?:gc|garbage|pauses?|checkpoints?|recompil\w+|compil\w+)\b[^,;.]*",
    re.I,
)
_SCATTERED = re.compile(
    r"\b(?:all|none|some|both)\s+(?:\d+\s+)?(?:of\s+them\s+)?(?:do|have|leave|leaves|entered|enter)\b", re.I
)
_SOMETIMES = re.compile(
    r"\b(?:some (?:batches|steps|iterations)|sometimes|occasionally|spikes?|now and then|once in a while)\b", re.I
)
_ON_ALL = re.compile(r"\b(on|for)\s+(?:all|each|every)(?:\s+of\s+them)?(?=\s*(?:[.,;]|$))", re.I)
_NO_MEASURE = "no measure with the number: say arrival, input wait, forward, backward, compute, host or transfer"
_NO_RANK = "the number names no rank: for example rank 2 140 ms, others 20 ms"
_WHOSE = "it is open whose value is whose: for example rank 2 140 ms, others 20 ms"
_TWICE = "two values for one rank and measure: say which is whose, for example rank 2 140 ms, others 20 ms"
_RATIO = "a ratio has no milliseconds: say both times, for example rank 2 compute 320 ms, others 160 ms"


@dataclass(slots=True)
class Memory:
    """What a message has said so far: measure and ranks for the next sentence, and the latest arrival."""

    prose: prose.Memory = field(default_factory=prose.Memory)
    latest: float = -math.inf


def measures(sentence: str, memory: Memory, context: Context) -> tuple[Measures | Unread, ...]:
    """What numbers of the sentence say; empty if none does."""
    job = size(sentence, context)
    statements, sources, unused = _statements(sentence, memory, context)
    if len({(s.who, s.column, s.step) for s in statements}) < len(set(statements)):
        return (Unread(sentence, _TWICE),)
    if unused and re.search(r"\b(?:vs|versus|against)\b", sentence, re.I):
        return (Unread(sentence, _WHOSE),)
    if statements or sources:
        labels = {_who(who): label for who, label in sources}
        found = Measures(tuple(statements), sentence, labels, job.ranks, job.steps)
        timed = [text.strip() for text in unused if re.search(rf"\d\s*{_UNIT}", text)]
        return (found, *(Unread(text, _NO_MEASURE) for text in timed[:1]))
    return ()


def trouble(sentence: str, context: Context) -> str:
    """Why a sentence with numbers was not understood, or an empty text."""
    if ratio_of_a_rank(sentence):
        return _RATIO
    kinds = {token.kind for token in tokens(sentence[:LONGEST_LINE])}
    if not kinds & {"value", "list"}:
        return ""
    if "column" not in kinds and not open_measure(context):
        return _NO_MEASURE
    return _NO_RANK if "who" not in kinds else ""


def ratio_of_a_rank(sentence: str) -> bool:
    """Whether it says how many times longer a rank takes, which is no time."""
    sentence = sentence[:LONGEST_LINE]
    ranked = re.search(rf"\b(?:rank|gpu|worker)s?\s*\d|^\s*\d+\s+(?:{_ACTS})\b", sentence, re.I)
    return bool(ranked and _RATIO_SAID.search(sentence))


def _statements(
    sentence: str, memory: Memory, context: Context
) -> tuple[list[Statement], Sequence[tuple[ranks.Ranks, str]], list[str]]:
    if len(sentence) > LONGEST_LINE or not re.search(r"\d", sentence) and "read" not in sentence.lower():
        return [], (), []
    text, whole = _without_step(sentence)
    text, end = _without_end(spelled_out(text, context))
    if end is not None and not re.search(r"\d", text):
        return _transfer([], end, memory), (), []
    text = _measure_first(text)
    if _IDLE.search(text) or _SCATTERED.search(sentence) or _SOMETIMES.search(sentence):
        return [], (), []
    kinds = [token.kind for token in tokens(text) if token.kind != "comma"]
    bare = not re.search(rf"\d\s*{_UNIT}\b|\breads?\b", text, re.I)
    if bare and _left(text) > _TRUSTED_BARE:
        return [], (), []
    carried = _carried(text, kinds, memory, context)
    if not {"who", "list"} & set(kinds) and not re.search(rf"\d\s*{_UNIT}", text) and _left(text) > 1:
        return [], (), []
    if "column" not in kinds and carried is None and not re.search(r"\breads?\b", text, re.I):
        return [], (), []
    memory.prose.column = carried
    found, sources, unused = prose.sentence(text, memory.prose)
    if carried is None and "column" not in kinds:
        found = []
    waits_for_input = open_measure(context) == "input_wait_ms" and not _OTHER_WAIT.search(sentence)
    statements = [_statement(s, waits_for_input) for s in found if not math.isnan(s.quantity.value)]
    if _DIFFERS.search(sentence):
        statements = [s for s in statements if s.column.endswith("_ms")]
    return [*statements, *whole, *_transfer(statements, end, memory)], sources, unused


def of_another_run(sentence: str) -> bool:
    """Whether its numbers are of a run with other data, of another time or without the measurement."""
    clauses = re.split(r"[,;](?!\d)", sentence[:LONGEST_LINE])
    return any(re.search(r"\d", clause) and _ELSEWHERE.search(clause) for clause in clauses)


def of_a_pause(part: str) -> bool:
    """Whether a part of a sentence speaks of a pause of the host, whose length is no stage of the step."""
    return bool(_PAUSE.search(part))


def _without_step(text: str) -> tuple[str, list[Statement]]:
    """`300 ms of a 320 ms step` says how long the step is."""
    match = _OF_STEP.search(text)
    if match is None:
        return text, []
    found = prose.tokens(f"{match[1]} {match[2] or 'ms'}")
    factor = next((value.factor_ms for token in found for value in token.values), None) or 1.0
    step = Statement("all", "step_ms", float(match[1].replace(",", "")) * factor)
    return text[: match.start()] + text[match.end() :], [step]


def _measure_first(text: str) -> str:
    """`rank 0 200, rank 1 320 arrival` with the measure in front."""
    found = [token for token in tokens(text) if token.kind != "comma"]
    columns = [token for token in found if token.kind == "column"]
    values = [token for token in found if token.kind == "value"]
    if len(columns) != 1 or found[-1] is not columns[0] or len(values) < 2:
        return text
    before, _, after = text.rpartition(columns[0].text)
    return f"{columns[0].text} {before}{after}"


def _carried(text: str, kinds: list[str], memory: Memory, context: Context) -> Column | None:
    """The measure that holds for a sentence which names none; nothing but ranks and numbers may stand in it."""
    if "column" in kinds or not {"value", "list"} & set(kinds):
        return None
    numbered = " ".join(part for part in re.split(r"[,;](?!\d)", text) if re.search(r"\d", part))
    if _left(numbered) > 1 or not ({"who", "list"} & set(kinds)):
        return None
    measure = open_measure(context)
    return memory.prose.column or (Column(measure, "time" if measure.endswith("_ms") else "count") if measure else None)


def _left(text: str) -> int:
    """How many words neither a token nor the words around numbers take."""
    return sum(word not in measure_words() for word in re.findall(r"[^\W\d_]+", unspent(text).lower()))


def open_measure(context: Context) -> str:
    """The column that a bare number fills as an answer to the open question, or an empty text."""
    question = context.knowledge.questions.get(context.question.id) if context.question else None
    return question.measure if question else ""


def spelled_out(sentence: str, context: Context) -> str:
    """The sentence with ranks written as `rank 5` and lists as `20/20/140`."""
    sentence = _OF_RANK.sub(r"of rank \1", _LAST_BY.sub(r"arrives \1 later than the others", sentence))
    text = _USED_TO.sub("", _LATE.sub(r"\1 later than the others", _PAUSE.sub("", sentence)))
    text = _NEAR_RANK.sub(lambda m: f"rank{m[2]}" if one_typo("rank", m[1].lower()) else m[0], text)
    text = _PER_STEP.sub("", _COPIES.sub("copying", _ON_ALL.sub(r"\1 all ranks", _SHORT_RANK.sub(r"rank \1", text))))
    text = _TWO_RANKS.sub(r"\1s\2", text)
    text = _STEP_TIME.sub("step time", _THINGS.sub("", text))
    text = _TAKEN_BACK.sub("", _ALL_BUT.sub("all ranks but ", _THAN_OTHERS.sub(r"\1", text)))
    text = _TIGHT_LIST.sub(lambda m: m[0].replace(",", "/"), text)
    if last := _MEASURE_LAST.match(text):
        text = f"{last[2]}{f' ({last[3]})' if last[3] else ''}: {last[1]}"
    if steps := _STEPS_TAKE.search(text):
        text = text[: steps.start()] + "step time" + _BEFORE.sub("", text[steps.end() :])
    text = _ALL.sub("all ranks", _BARE_RANKS_AT.sub(_as_ranks, text))
    if open_measure(context) and (row := _ROW.match(text)):
        return f"rank {row[1]} {row[2]}"
    text = _BARE_RANK.sub(r"rank \1", text)
    text = _VALUE_FOR.sub(r"\1 \2 rank \3", text)
    if len(_PAIR.findall(text)) > 1 or re.match(r"\s*\d{1,5}\s*[:=]\s*\S", text):
        text = _PAIR.sub(r"rank \1 \2", text)
    return _LIST.sub(lambda m: "/".join(_OR.split(m[1])), text)


def _as_ranks(found: re.Match[str]) -> str:
    """`and 6-7 at 252` names ranks, unless it goes on with ranks named before: `ranks 0 and 1 at 200`."""
    named = re.search(r"\b(?:ranks?|gpus?|workers?)\s[\d,\s-]*\band\s$", found.string[: found.start()])
    return found[0] if named else f"ranks {found[1]}"


def _without_end(text: str) -> tuple[str, float | None]:
    match = _DONE.search(text)
    if match is None:
        return text, None
    unit = prose.tokens(f"{match[1]} {match[2]}") if match[2] else ()
    factor = next((value.factor_ms for token in unit for value in token.values), None) or 1.0
    return text[: match.start()] + text[match.end() :], float(match[1].replace(",", "")) * factor


def _transfer(statements: list[Statement], end: float | None, memory: Memory) -> list[Statement]:
    """`done at 380` after arrivals says how long the collective takes after the last of them."""
    arrivals = [s.value for s in statements if s.column == "arrival_ms" and not s.relative]
    memory.latest = max([memory.latest, *arrivals])
    if end is None or end < memory.latest or math.isinf(memory.latest):
        return []
    return [Statement("all", "transfer_ms", end - memory.latest)]


def _statement(said: prose.Statement, waits_for_input: bool) -> Statement:
    quantity = said.quantity
    key = "input_wait_ms" if waits_for_input and said.key == "wait_ms" else said.key
    half = 0.0 if math.isnan(quantity.half) else quantity.half
    return Statement(_who(said.who), key, quantity.value, half, said.step, said.relative)


def _who(who: ranks.Ranks) -> str:
    if isinstance(who, str):
        return who
    parts: list[str] = []
    ordered = sorted(set(who))
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            run = ordered[start:at]
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
            start = at
    return ",".join(parts)


def sized(job: Size, sentence: str) -> Measures | None:
    """Ranks and steps of the job alone."""
    return Measures((), sentence, {}, job.ranks, job.steps) if job.ranks or job.steps else None
