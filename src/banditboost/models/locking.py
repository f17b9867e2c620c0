"""One lock for each model, so that threads may share it: each call is done before the next one begins.

docs/threads.md states the rules.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from banditboost.types import Array


class Locked:
    """Holds the lock. Copies and pickles are made while nobody learns, and get a lock of their own."""

    def __init__(self) -> None:
        self._make_lock()

    def _make_lock(self) -> None:
        self._lock = threading.RLock()
        # For the calls of every round: `with` costs three times as much, as much as a few trees. They acquire
        # it within `try`, since an interruption may come between the two.
        self._acquire, self._release = self._lock.acquire, self._lock.release

    def _kept(self) -> dict[str, Any]:
        """What a copy has of the original."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_lock", "_acquire", "_release")
        }

    def _records(self) -> Iterable[Array]:
        """The record arrays among what is kept."""
        return ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = self.__new__(type(self))
        memo[id(self)] = made
        with self._lock:
            made.__setstate__(copy.deepcopy(self._kept(), memo))
        return made

    def __getstate__(self) -> dict[str, Any]:
        """A copy, for pickle reads it when the lock is free again.

        (What refers to the model itself is left to pickle.)
        """
        with self._lock:
            memo: dict[int, Any] = {id(array): _exact_copy(array) for array in self._records()}
            return copy.deepcopy(self._kept(), memo | {id(self): self})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_lock()


def _exact_copy(array: Array) -> Array:
    """With what lies between the fields of a record, so that a model that has not changed gives the same
    pickle, byte for byte.
    """
    copied: Array = array.view(np.uint8).copy().view(array.dtype)
    return copied
