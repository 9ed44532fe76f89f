"""Ends and beginnings of sentences. Pure."""

from __future__ import annotations


def stopped(text: str) -> str:
    """With a full stop where it has no end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def upper(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]


def lower(text: str) -> str:
    """Without a capital."""
    return text[:1].lower() + text[1:]
