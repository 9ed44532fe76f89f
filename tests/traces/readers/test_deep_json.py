"""JSON nested without end is refused by every reader, never an exception of the decoder."""

from __future__ import annotations

import pytest
from latecomer.knowledge.errors import InputError
from latecomer.traces.readers.registry import read_file


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b'{"rank": 1, "x": ' + b"[" * 50_000])
def test_nesting_without_end_is_refused(deep: bytes) -> None:
    with pytest.raises(InputError):
        read_file(deep, name="deep.json")
