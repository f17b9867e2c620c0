"""The compiled round of a model, bound to its arrays: what `decide` and `learn` call, and what `play` loops
over.

    decide(model, row, round, seed, memo)        the label to show; if number f of the row is no good, -1 - f
    learn(model, memo, feedback, taught, seed)   LEARNED, or what has to be done before it is called again
    witness(model, memo, right, sums)            what a simulation notes, which knows the right label
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba import float64, int64

from banditboost.compiled.border import TABLE, Table, caller

# What `learn` returns: all is learned; or what has to be done first. Any other number says how many learners
# were taught before the trees ran out of room: make some, and call it again with that number.
LEARNED, NO_LEARNERS, SHORT_MEMO = -1, -2, -3
NOT_BEGUN = -1
"""What `learn` is given at first in place of the number of learners that were taught."""

_ROW, _MEMO = (
    float64[:],
    float64[::1],
)  # the numbers of a row may lie apart: a column of a matrix, for example
_DECIDE = _ROW, int64, int64, _MEMO
_LEARN = _MEMO, int64, int64, int64
_WITNESS = _MEMO, int64, float64[:, ::1]
call_decide = caller(int64, TABLE, *_DECIDE)
call_learn = caller(int64, TABLE, *_LEARN)
call_witness = caller(numba.void, TABLE, *_WITNESS)


class Calls:
    """A round's functions, and `model`, which is what they are to be given first.

    Made anew when an array of the model is replaced. `kind` is the model's class, which has the round: the
    compiler is not among what a model refers to, and is neither copied nor measured with it.

    Each function is compiled when it is first called: a first decision need not wait for what learning takes
    to compile.
    """

    __slots__ = ("__weakref__", "_has_learners", "_kind", "_table", "_type", "decide", "learn", "model")
    in_python = False
    """Whether rounds have to go through Python, since learners are Python objects."""
    decide: Callable[..., int]
    learn: Callable[..., int]

    def __init__(self, kind: Any, state: Any) -> None:
        self._kind, round_ = kind, kind.compiled_round
        if numba.config.DISABLE_JIT:
            self.model, self.decide, self.learn = state, round_.decide, round_.learn
        else:
            self._table = Table(state)
            self._type = self._table.kind
            self.model = self._table.address
            self._has_learners = round_.learners_are_compiled(state)
            # They do not hold on to this object: else the arrays of calls that were replaced would live until
            # Python looks for garbage.
            me = weakref.ref(self)
            self.decide, self.learn = partial(_first_decide, me), partial(_first_learn, me)

    def _compile_learners(self) -> None:
        """Compile how trees learn, which is a piece of machine code of its own that all boosters share.

        The table of a model that was made before that does not have its address yet.
        """
        if not self._has_learners:
            self._kind.compiled_round.compile_learners(self._table.value)
            self._table.refresh()
            self._has_learners = True

    def for_play(self) -> tuple[Any, Any, Any]:
        """Decide, learn and witness (0 if there is none) as a loop calls them: by their addresses, or as they
        are.
        """
        witness: Any = self._kind.compiled_round.witness or 0
        if numba.config.DISABLE_JIT:
            return self.decide, self.learn, witness
        if self.in_python:
            return self.decide, self.learn, witness and witness.code((self._type, *_WITNESS))
        self._compile_learners()
        known: dict[str, tuple[int, int, int]] = self._kind.compiled_round.addresses
        if self._type.name not in known:
            decide = self._kind.compiled_round.decide.address((self._type, *_DECIDE))
            learn = self._kind.compiled_round.learn.address((self._type, *_LEARN))
            seen = witness and witness.address((self._type, *_WITNESS))
            known[self._type.name] = decide, learn, seen
        return known[self._type.name]

    def replace(self, name: str, part: Any) -> None:
        """Let a part of the model that has grown take the place of what it was."""
        if numba.config.DISABLE_JIT:
            self.model = self.model._replace(**{name: part})
        else:
            self._table.replace(name, part)


def _first_decide(of: weakref.ref[Calls], *arguments: Any) -> int:
    calls: Any = of()
    calls.decide = calls._kind.compiled_round.decide.code((calls._type, *_DECIDE))
    shown: int = calls.decide(*arguments)
    return shown


def _first_learn(of: weakref.ref[Calls], *arguments: Any) -> int:
    calls: Any = of()
    calls._compile_learners()
    calls.learn = calls._kind.compiled_round.learn.code((calls._type, *_LEARN))
    status: int = calls.learn(*arguments)
    return status
