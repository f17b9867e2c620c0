"""The round of a booster whose weak learners are Python objects: they are asked before the compiled part, and
taught after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.compiled.border import is_named_tuple
from banditboost.models.calls import LEARNED, Calls
from banditboost.rows.checking import open_memo
from banditboost.types import Array
from banditboost.weak_learners.python_committee import PythonCommittee


class PythonCalls(Calls):
    """The calls of a booster without trees.

    Its forest is empty: nobody votes in the compiled part, nobody learns there.
    """

    __slots__ = ("_ask", "_committee", "_compiled", "_first_learner", "_learned", "_state")
    in_python = True

    def __init__(
        self, kind: Any, state: Any, committee: PythonCommittee, ask: Callable[[Array, Array], None]
    ) -> None:
        super().__init__(kind, state)
        self._compiled = Calls(kind, state)
        self._committee, self._state, self._ask = committee, state, ask
        # As it is written: machine code for one call from Python is not worth the wait for it.
        first_learner = kind.compiled_round.first_learner
        self._first_learner = getattr(first_learner, "py_func", first_learner)
        self._learned = _leaves_of(state.learned)
        self.decide, self.learn = self._decide, self._learn

    def _decide(self, model: Any, row: Array, round_: int, seed: int, memo: Array) -> int:
        start = int(self._state.settings.row_start)
        bad = open_memo(self._state.features, row, round_, memo, start)
        if bad >= 0:
            return -1 - int(bad)
        self._ask(memo[start:], memo)
        return self._compiled.decide(model, row, round_, seed, memo)

    def _learn(self, model: Any, memo: Array, feedback: int, taught: int, seed: int) -> int:
        """If a learner fails, the verdict was not heard, and can be told again."""
        before = [part.copy() for part in self._learned]
        status = self._compiled.learn(model, memo, feedback, taught, seed)
        if status != LEARNED:
            return status
        settings, scratch = self._state.settings, self._state.scratch
        first = int(self._first_learner(self._state, memo))
        try:
            self._committee.learn(memo[int(settings.row_start) :], scratch.labels, scratch.importance, first)
        except BaseException:
            for part, old in zip(self._learned, before, strict=True):
                _write_back(part, old)
            raise
        return LEARNED


def _leaves_of(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves_of(part)] if is_named_tuple(value) else [value]


def _write_back(part: Any, old: Any) -> None:
    if isinstance(part, np.ndarray):
        part[...] = old
    else:
        for name in part.dtype.names:
            part[name] = old[name]
