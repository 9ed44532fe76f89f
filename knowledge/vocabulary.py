"""Checks facts against the vocabulary and fills the fact templates of questions and experiments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .errors import KnowledgeError
from .facts import Fact, Scalar, Source, fact

if TYPE_CHECKING:
    from .model import FactKind, FactTemplate, Field

DEFAULTS: Mapping[str, Scalar] = {"str": "unknown", "int": 0, "float": 0.0, "bool": False}
"""What a template may leave out; a rule that tests such a field must name it in the template."""


def check_value(entry: Field, value: Scalar, where: str) -> Scalar:
    """The value in the field's type. Raises KnowledgeError where it does not fit."""
    if entry.type == "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise KnowledgeError(f"{value} is not a finite number", where=where)
        return float(value)
    expected = {"str": str, "int": int, "bool": bool}.get(entry.type)
    if expected is None or type(value) is not expected:
        raise KnowledgeError(f"{value!r} is not of type {entry.type}", where=where)
    if entry.values and value not in entry.values:
        raise KnowledgeError(f"{value!r} is not one of {', '.join(entry.values)}", where=where)
    return value


def check_fact(kinds: Mapping[str, FactKind], item: Fact) -> Fact:
    """See Knowledge.check."""
    kind = kinds.get(item.kind)
    if kind is None:
        raise KnowledgeError(f"no fact kind is named {item.kind}", where=str(item.source))
    given = dict(item.values)
    unknown = given.keys() - kind.fields.keys()
    if unknown:
        raise KnowledgeError(f"{item.kind} has no field {', '.join(sorted(unknown))}", where=str(item.source))
    missing = [n for n, f in kind.fields.items() if n not in given and not f.optional]
    if missing:
        raise KnowledgeError(f"{item.kind} lacks {', '.join(missing)}", where=str(item.source))
    checked = {
        name: check_value(entry, given[name], f"{item.kind}.{name}")
        for name, entry in kind.fields.items()
        if name in given
    }
    return fact(item.kind, checked, quality=item.quality, source=item.source)


def fill_template(kinds: Mapping[str, FactKind], template: FactTemplate, scope: Mapping[str, Scalar]) -> Fact:
    """See Knowledge.fill."""
    name = str(template["fact"])
    kind = kinds.get(name)
    if kind is None:
        raise KnowledgeError(f"no fact kind is named {name}")
    values: dict[str, Scalar] = {}
    for field_name, entry in kind.fields.items():
        if field_name in template:
            given = template[field_name]
            values[field_name] = scope[given[1:]] if isinstance(given, str) and given.startswith("$") else given
        elif not entry.optional:
            values[field_name] = entry.values[0] if entry.values else DEFAULTS[entry.type]
    return check_fact(kinds, fact(name, values, quality="supposed", source=Source("supposition")))
