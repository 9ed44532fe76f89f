"""Results of a pure function over recordings, kept for the objects used last: the same object, the same result."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from ...traces.tables import Tables

MOST_KEPT = 32
T = TypeVar("T")


class Remembered(Generic[T]):
    """A function of tables that is computed once for the same objects; thread-safe. The objects are kept with the
    result, so that no other takes their identity."""

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._kept: OrderedDict[tuple[int, ...], tuple[tuple[Tables, ...], T]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *tables: Tables) -> T:
        """The result for these tables."""
        key = tuple(map(id, tables))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made = self._make(*tables)
        with self._lock:
            self._kept[key] = (tables, made)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made
