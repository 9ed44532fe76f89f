"""Numbers in a rule's sentence as people read them."""

import pytest
from latecomer.rules.template import show


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-14.71, "than", "14.7 ms shorter than"),
        (0.6, "than", "0.6 ms longer than"),
        (-0.01, "than", "the same as"),
        (-0.01, "ms", "0 ms"),
        (None, "than", "unknown"),
        (0.834, "percent", "83 %"),
    ],
)
def test_values_are_written_in_words(value: float | None, form: str, text: str) -> None:
    assert show(value, form) == text
