"""The compiled round of a model, bound to its arrays: what `decide` and `learn` call, and what `play` loops
over.

    decide(model, row, round, seed, memo, n_allowed, counted)
        the label to show; if number f of the row is no good, -1 - f; or UNFINISHED
    learn(model, memo, told, n_allowed, closes, seed)
        LEARNED, or why it is not; told is a share of the rewards in [0, 1], or the right label
    witness(model, memo, right, sums)
        what a simulation notes, which knows the right label

The first n_allowed labels in `scratch.allowed` may be shown; 0 stands for all. If `counted` is 1, the round
counts as decided when the call is done; if `closes` is OWN, it must be one of the model's own that was not
learned before, and is learned then; if it is LOGGED, the label was shown by another policy, and what was told
counts apart. Both calls do all they have to do or nothing, but for a lesson for which
the trees have no room: the model keeps it, `learn` returns NO_ROOM, and goes on with it when it is called
with GO_ON in place of what is told.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Self

import numba
from numba import float64, int64

from banditboost.compiled.border import TABLE, Table, caller
from banditboost.models.settings import words_of
from banditboost.types import Array

# What `learn` returns: all is learned; or nothing was, for this reason; or what is left is to be learned when
# there is room for it.
LEARNED, NO_LEARNERS, SHORT_MEMO, CLOSED, NO_ROOM = -1, -2, -3, -4, -5
ELSEWHERE, OWN, LOGGED = 0, 1, 2
"""Who has decided what `learn` is told of: a branch, the model itself, or the policy of a log."""
UNFINISHED = -(1 << 62)
"""What `decide` and `learn` return, having done nothing, while a lesson is not finished."""
GO_ON = -1
"""In place of what is told: go on with the lesson that is not finished."""

_ROW, _MEMO = (
    float64[:],
    float64[::1],
)  # the numbers of a row may lie apart: a column of a matrix, for example
_DECIDE = _ROW, int64, int64, _MEMO, int64, int64
_LEARN = _MEMO, float64, int64, int64, int64
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

    Beside them stands what every round needs of the model, in slots: Python reads these several times faster
    than the attributes of an object that was changed as a draft is.
    """

    __slots__ = (
        "__weakref__",
        "_has_learners",
        "_kind",
        "_table",
        "_type",
        "active",
        "blank",
        "counters",
        "decide",
        "encode",
        "labels",
        "learn",
        "model",
        "row_shape",
        "seed",
        "shares",
    )
    in_python = False
    """Whether rounds have to go through Python, since learners are Python objects."""
    decide: Callable[..., int]
    learn: Callable[..., int]
    blank: Array  # a memo that is copied each round
    encode: Callable[[dict[Any, Any]], Array | None]  # a dict row as float64; None if it brings anything odd
    labels: tuple[Hashable, ...]
    active: Array | None  # the labels that are shown, if some were removed
    seed: int  # of the draws
    row_shape: tuple[int, ...] | None  # of array rows that were found good
    shares: Array | None  # where `decide` leaves the probabilities, if memos have no room for them

    def __init__(self, kind: Any, state: Any, before: Calls | None = None) -> None:
        """With the calls that these take the place of, only what is new has to be looked at."""
        self._kind, round_ = kind, kind.compiled_round
        self.counters = words_of(state.learned.counts)
        if numba.config.DISABLE_JIT:
            self.model, self.decide, self.learn = state, round_.decide, round_.learn
        else:
            self._has_learners = round_.learners_are_compiled(state)
            self._bind(Table(state) if before is None else before._table.renewed(state))

    def _bind(self, table: Table) -> None:
        self._table, self._type, self.model = table, table.kind, table.address
        codes = self._kind.compiled_round.codes
        # They do not hold on to this object: else the arrays of calls that were replaced would live until
        # Python looks for garbage.
        me = weakref.ref(self)
        self.decide = codes.get(("decide", self._type.name)) or partial(_first_decide, me)
        learn = codes.get(("learn", self._type.name)) if self._has_learners else None
        self.learn = learn or partial(_first_learn, me)

    def _compile_learners(self) -> None:
        """Compile how trees learn, which is a piece of machine code of its own that all boosters share.

        The table of a model that was made before that does not have its address yet.
        """
        if not self._has_learners:
            self._kind.compiled_round.compile_learners(self._table.value)
            self._table.refresh()
            self._has_learners = True

    def for_play(self, watched: bool) -> tuple[Any, Any, Any]:
        """Decide, learn and witness (0 if nobody watches) as a loop calls them: by their addresses, or as
        they are.
        """
        witness: Any = self._kind.compiled_round.witness if watched else 0
        if numba.config.DISABLE_JIT:
            return self.decide, self.learn, witness
        if self.in_python:
            return self.decide, self.learn, witness and witness.code((self._type, *_WITNESS))
        self._compile_learners()
        known: dict[tuple[str, bool], tuple[int, int, int]] = self._kind.compiled_round.addresses
        key = self._type.name, watched
        if key not in known:
            decide = self._kind.compiled_round.decide.address((self._type, *_DECIDE))
            learn = self._kind.compiled_round.learn.address((self._type, *_LEARN))
            seen = witness and witness.address((self._type, *_WITNESS))
            known[key] = decide, learn, seen
        return known[key]

    def with_part(self, name: str, part: Any) -> Self:
        """Calls in which a part of the model that has grown has taken the place of what it was."""
        made = self.__new__(type(self))
        made._kind, made.counters = self._kind, self.counters
        made.blank, made.encode = self.blank, self.encode
        made.labels, made.seed, made.row_shape = self.labels, self.seed, self.row_shape
        made.active, made.shares = self.active, self.shares
        if numba.config.DISABLE_JIT:
            made.model, made.decide, made.learn = (
                self.model._replace(**{name: part}),
                self.decide,
                self.learn,
            )
        else:
            made._has_learners = self._has_learners
            made._bind(self._table.renewed(self._table.value._replace(**{name: part})))
        return made


def _first_decide(of: weakref.ref[Calls], *arguments: Any) -> int:
    calls: Any = of()
    code = calls._kind.compiled_round.decide.code((calls._type, *_DECIDE))
    calls._kind.compiled_round.codes["decide", calls._type.name] = calls.decide = code
    shown: int = code(*arguments)
    return shown


def _first_learn(of: weakref.ref[Calls], *arguments: Any) -> int:
    calls: Any = of()
    calls._compile_learners()
    code = calls._kind.compiled_round.learn.code((calls._type, *_LEARN))
    calls._kind.compiled_round.codes["learn", calls._type.name] = calls.learn = code
    status: int = code(*arguments)
    return status
