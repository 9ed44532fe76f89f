"""Reads rules/book and site packs into a RuleBook. Every error is a KnowledgeError that names file and line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ..knowledge.errors import KnowledgeError
from ..knowledge.loader import load as load_knowledge
from ..knowledge.model import Knowledge
from .book_model import RuleBook
from .check import Fault, check_book, check_rule
from .model import Rule

BUILT_IN = Path(__file__).parent / "book"
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_book(directories: Sequence[Path] = (), knowledge: Knowledge | None = None) -> RuleBook:
    """The built-in rules and those of further directories (<family>/<name>.yaml), checked against the knowledge.

    Raises KnowledgeError (file:line) for the first document that is malformed, dangling, unreachable or a duplicate.
    """
    known = knowledge or load_knowledge()
    places: dict[str, Path] = {}
    rules: list[Rule] = []
    for root in (BUILT_IN, *directories):
        for path in _files(root):
            rule = _read(path, root)
            if rule.id in places:
                raise KnowledgeError(f"{rule.id} is already defined in {places[rule.id]}", where=_where(path, ("id",)))
            places[rule.id] = path
            rules.append(rule)
    return _checked(rules, known, places)


def build_book(rules: Iterable[Rule], knowledge: Knowledge) -> RuleBook:
    """A book of rules made in memory, checked in the same way; errors name the rule."""
    return _checked(list(rules), knowledge, {})


def _checked(rules: Sequence[Rule], knowledge: Knowledge, places: dict[str, Path]) -> RuleBook:
    ordered = tuple(sorted(rules, key=lambda rule: rule.id))
    try:
        for rule in ordered:
            check_rule(rule, knowledge)
        check_book(ordered, knowledge)
    except Fault as fault:
        path = places.get(fault.rule)
        raise KnowledgeError(
            f"{fault.rule}: {fault.what}", where=_where(path, fault.at) if path else "", remedy=fault.remedy
        ) from None
    encoded = b"\n".join(msgspec.json.encode(rule, order="sorted") for rule in ordered)
    return RuleBook(ordered, hashlib.sha256(encoded).hexdigest(), knowledge.facts)


def _files(root: Path) -> list[Path]:
    if not root.is_dir():
        raise KnowledgeError("no such directory of rules", where=str(root))
    return sorted(p for p in root.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())


def _read(path: Path, root: Path) -> Rule:
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=_SAFE)  # noqa: S506  # a safe loader
    except OSError as error:
        raise KnowledgeError(f"cannot read it: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise KnowledgeError("it is not UTF-8 text", where=f"{path}:1") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise KnowledgeError(f"not YAML: {getattr(error, 'problem', error)}", where=f"{path}:{line}") from error
    rule = _convert(raw, path)
    parts = path.relative_to(root).with_suffix("").parts
    if rule.id != ".".join(parts):
        raise KnowledgeError(
            f"id is {rule.id}, but the file is {'/'.join(parts)}",
            where=_where(path, ("id",)),
            remedy="A rule <family>.<name> lies in <family>/<name>.yaml.",
        )
    return rule


def _convert(raw: object, path: Path) -> Rule:
    try:
        return msgspec.convert(raw, Rule)
    except msgspec.ValidationError as error:
        message, at = _located(str(error))
        raise KnowledgeError(message, where=_where(path, at)) from error


def _located(message: str) -> tuple[str, tuple[str | int, ...]]:
    """Message and path of a validation error, `... - at `$.argue[0].level``; the unknown key itself where it is one."""
    text, _, place = message.partition(" - at `$")
    at: list[str | int] = []
    for part in place.rstrip("`").replace("[", ".[").split("."):
        if part.startswith("["):
            index = part.strip("[]")
            at.append(int(index) if index.isdigit() else index)
        elif part:
            at.append(part)
    if "unknown field" in text:
        at.append(text.split("`")[1])
    return text, tuple(at)


def _where(path: Path, at: Sequence[str | int]) -> str:
    """file:line of the deepest part of a document path that exists."""
    try:
        node = yaml.compose(path.read_text("utf-8"), Loader=_SAFE)
    except (OSError, yaml.YAMLError):
        return f"{path}:1"
    line = 1
    for step in at:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == str(step)), None)
            if pair is None:
                continue
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return f"{path}:{line}"
