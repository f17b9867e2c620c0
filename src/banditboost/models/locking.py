"""One lock for each model, so that threads may share it: each call is done before the next one begins.

docs/threads.md states the rules.

An exception from outside (Ctrl-C, a time limit) must not leave the lock behind. So it is taken and given
back by `with`, whose two steps Python does not interrupt, and `with` and what it guards stand on one line: a
tracer finds no line between them, either.
"""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np

from banditboost.types import Array

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")
_Model = TypeVar("_Model", bound="Locked")


def locked(
    method: Callable[Concatenate[_Model, _Arguments], _Returned],
) -> Callable[Concatenate[_Model, _Arguments], _Returned]:
    """Let a method run alone, on a model on which nothing is left to be finished."""

    @functools.wraps(method)
    def call(self: _Model, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Returned:
        with self._lock: return method(self._settled(), *arguments, **named)  # fmt: skip # noqa: E701

    return cast(Callable[Concatenate[_Model, _Arguments], _Returned], call)


class Turn:
    """The lock of a model, and what the call that had it last has left to be done.

    With slots, since every round reads them.
    """

    __slots__ = ("lock", "unfinished")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.unfinished: Any = None


class Locked:
    """Holds the lock. Copies and pickles are made while nobody learns, and get a lock of their own."""

    def __init__(self) -> None:
        self._make_lock()

    def _make_lock(self) -> None:
        self._turn = Turn()

    @property
    def _lock(self) -> Any:
        return self._turn.lock

    def _settled(self) -> Self:
        """The model itself, after what an interrupted call has begun is finished."""
        return self

    def _kept(self) -> dict[str, Any]:
        """What a copy has of the original."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def _records(self) -> Iterable[Array]:
        """The record arrays among what is kept."""
        return ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = self.__new__(type(self))
        memo[id(self)] = made
        made.__setstate__(self._copy_kept(memo))
        return made

    @locked
    def _copy_kept(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(self._kept(), memo)

    @locked
    def __getstate__(self) -> dict[str, Any]:
        """A copy, for pickle reads it when the lock is free again.

        (What refers to the model itself is left to pickle.)
        """
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
