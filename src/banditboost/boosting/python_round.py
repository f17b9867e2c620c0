"""The round of a booster whose weak learners are Python objects: they are asked before the compiled part, and
taught after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import repeat
from operator import setitem
from typing import Any

import numpy as np

from banditboost.compiled.border import arrays_in, is_named_tuple
from banditboost.models.calls import LEARNED, Calls
from banditboost.models.settings import same_record
from banditboost.rows.checking import open_memo
from banditboost.types import Array
from banditboost.weak_learners.python_committee import PythonCommittee


class PythonCalls(Calls):
    """The calls of a booster without trees.

    Its forest is empty: nobody votes in the compiled part, nobody learns there. A verdict is learned aside,
    in copies of what the booster has learned; when the learners were taught, too, the copies are written back
    in one call. So a verdict at which a learner fails was not heard, and can be told again.
    """

    __slots__ = (
        "_aside",
        "_ask",
        "_committee",
        "_compiled",
        "_first_learner",
        "_learned",
        "_state",
        "_taught",
    )
    in_python = True

    def __init__(
        self, kind: Any, state: Any, committee: PythonCommittee, ask: Callable[[Array, Array], None]
    ) -> None:
        super().__init__(kind, state)
        self._committee, self._state, self._ask = committee, state, ask
        self._compiled = Calls(kind, state)
        aside = state._replace(learned=_copied(state.learned), ledger=state.ledger.copy())
        self._aside = Calls(kind, aside)
        self._learned, self._taught = (arrays_in((given.learned, given.ledger)) for given in (state, aside))
        # As it is written: machine code for one call from Python is not worth the wait for it.
        first_learner = kind.compiled_round.first_learner
        self._first_learner = getattr(first_learner, "py_func", first_learner)
        self.decide, self.learn = self._decide, self._learn

    def _decide(
        self, model: Any, row: Array, round_: int, seed: int, memo: Array, n_allowed: int, counted: int
    ) -> int:
        start = int(self._state.settings.row_start)
        bad = open_memo(self._state.features, row, round_, memo, start)
        if bad >= 0:
            return -1 - int(bad)
        self._ask(memo[start:], memo)
        return self._compiled.decide(model, row, round_, seed, memo, n_allowed, counted)

    def _learn(
        self,
        model: Any,  # noqa: ARG002 (it is learned aside)
        memo: Array,
        told: float,
        n_allowed: int,
        closes: int,
        seed: int,
    ) -> int:
        _write(self._taught, self._learned)
        aside = self._aside
        status = aside.learn(aside.model, memo, told, n_allowed, closes, seed)
        if status != LEARNED:
            return status
        row, scratch = memo[int(self._state.settings.row_start) :], self._state.scratch
        if self._committee.with_costs:
            self._committee.learn_costs(row, scratch.costs, scratch.labels, scratch.importance)
        else:
            first = int(self._first_learner(self._state, memo, told))
            self._committee.learn(row, scratch.labels, scratch.importance, first)
        _write(self._learned, self._taught)
        return LEARNED


def _copied(value: Any) -> Any:
    if is_named_tuple(value):
        return type(value)(*map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else same_record(value)


def _write(into: list[Array], given: list[Array]) -> None:
    """Copy arrays into others of their shapes, in one call that nothing interrupts."""
    one: Any = setitem
    deque(map(one, into, repeat(...), given), maxlen=0)
