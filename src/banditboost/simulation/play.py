"""`play`: simulate a stream whose right labels are known, and hidden from the learner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.errors import LabelError, ParameterError
from banditboost.models import ledger
from banditboost.models.calls import NO_LEARNERS, NO_ROOM
from banditboost.models.changing import Counts
from banditboost.models.locking import locked
from banditboost.models.model import Model, Witnessed
from banditboost.rows.many import gone_through
from banditboost.simulation.arrivals import Arrivals, Delay
from banditboost.simulation.loop import (
    NEXT_ROUND,
    NEXT_VERDICT,
    PLAYED,
    Span,
    Stream,
    bound,
    play_in_python,
)
from banditboost.simulation.result import Result
from banditboost.simulation.rows import Rows
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_hashable, is_whole

_INT64 = 2**63
_ROUNDS_A_CALL = 20_000  # between two reports of progress


def play(
    model: Model,
    X: Any,
    y: Iterable[Hashable],
    *,
    delay: Delay = 0,
    lost: float = 0.0,
    condition: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Run a model over a stream: decide for each row of X, then tell the verdict that y implies.

    Args:
        model: any booster or baseline; it goes on from where it is.
        X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
        y: the right labels. Integers are taken as indices of `model.labels` if no label is an integer.
        delay: after how many further rounds a verdict is learned, or a function that turns n uniform numbers
            into n delays.
        lost: share of the verdicts that never come.
        condition: also watch the weak learning condition (`Result.condition`) of OptBandit or OptFull, which
            takes longer; AdaBandit and AdaFull tell it in any case.
        progress: called now and then with the number of rounds played.

    If it is interrupted, it stops between two rounds, and a note on the exception says how many were played:
    `play(model, X[n:], y[n:])` goes on from there as if nothing had happened. (With a delay, verdicts that
    were out then are not told.)

    >>> from banditboost import AdaBandit
    >>> X = [{"colour": colour} for colour in ("red", "blue") * 200]
    >>> play(AdaBandit(["stop", "go"], n_learners=5, seed=1), X, ["stop", "go"] * 200)
    Result(400 rounds, accuracy=0.9150, last_accuracy=0.9625)
    """
    if not isinstance(model, Model):
        raise ParameterError(f"model is {quoted(model)}; give a booster or a baseline")
    if not isinstance(lost, (int, float)) or not 0.0 <= lost < 1.0:
        raise ParameterError(f"lost is {quoted(lost)}; give the share of verdicts that never come, in [0, 1)")
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress is {quoted(progress)}; give a function that takes a number of rounds")
    watched = _is_watched(model, condition)
    return _play(model, X, y, (delay, float(lost)), watched, progress)


def _is_watched(model: Model, condition: bool) -> bool:
    if not isinstance(condition, bool):
        raise ParameterError(f"condition is {quoted(condition)}; give True or False")
    round_ = model.compiled_round
    if condition and round_.witness is None:
        raise ParameterError(
            f"condition is True, but {type(model).__name__} has no cost vectors on which a weak learning "
            "condition could be checked; leave it out"
        )
    return round_.witness is not None and (condition or not round_.on_request)


@locked
def _play(
    model: Model,
    X: Any,
    y: Iterable[Hashable],
    verdicts: tuple[Delay, float],
    watched: bool,
    progress: Callable[[int], None] | None,
) -> Result:
    rows = Rows(model, X)
    model._check_rounds(len(rows))
    right = _label_indices(model, y, len(rows))
    arrivals = Arrivals(len(rows), *verdicts, model.seed, model.rounds)
    player = _Player(model, right, arrivals, watched, progress)
    try:
        for block, stop in rows.blocks():
            player.advance(block, stop)
        return player.result()
    except BaseException as error:
        model._settled()
        error.add_note(f"play stopped after {player.n_played} of {len(rows)} rounds")
        raise


def _label_indices(model: Model, y: Iterable[Hashable], n_rows: int) -> Array:
    """Right labels as indices."""
    try:
        right = y if isinstance(y, np.ndarray) else _as_array(gone_through(y))
    except TypeError:
        raise LabelError(f"y is {quoted(y)}; give a list with the right label of each row of X") from None
    if right.shape != (n_rows,):
        raise LabelError(
            f"y has shape {right.shape} for {n_rows} rows of X; give one right label for each row"
        )
    if right.dtype.kind in "iu" and not any(isinstance(label, (int, np.integer)) for label in model.labels):
        if n_rows and not 0 <= right.min() <= right.max() < len(model.labels):
            raise LabelError(
                f"y holds indices from {right.min()} to {right.max()}; the model has labels 0 to "
                f"{len(model.labels) - 1}"
            )
        return right.astype(np.int64)
    index = {label: i for i, label in enumerate(model.labels)}
    try:
        return np.array([index[label] for label in right.tolist()], dtype=np.int64)
    except (KeyError, TypeError, ValueError):
        wrong = next(label for label in right.tolist() if not is_hashable(label) or label not in index)
        raise LabelError(
            f"y holds {quoted(wrong)}, which is not one of the model's labels; "
            f"they are {quoted(model.labels[:10])}"
        ) from None


def _as_array(labels: list[Hashable]) -> Array:
    if labels and all(
        is_whole(label) and -_INT64 <= label < _INT64  # type: ignore[operator]
        for label in labels
    ):
        return np.array(labels, dtype=np.int64)
    array = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        array[i] = label
    return array


def _state_numbers(model: Model) -> tuple[Any, ...]:
    """What changes whenever a model decides, learns, grows or is set anew."""
    return model.rounds, model.verdicts, model._schema.version, len(model.labels), model._settings.tobytes()


class _Player:
    """Plays blocks of rows one after the other and keeps the record."""

    def __init__(
        self,
        model: Model,
        right: Array,
        arrivals: Arrivals,
        watched: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        n_rounds = len(right)
        self._model = model
        self._first_round, self._first_verdict = model.rounds, model.verdicts
        self._progress = progress
        self._cursor = np.zeros(2, np.int64)
        self._memos = np.tile(model._blank, (arrivals.n_slots, 1))
        self._arrivals = arrivals
        self._right = right
        self._shown, self._greedy = np.zeros(n_rounds, np.int32), np.zeros(n_rounds, np.int32)
        self._watched, self._sums = watched, np.zeros((3, model._n_in_memo()))
        self._suffered = np.zeros(model._n_in_memo())

    def advance(self, block: Array, stop: int) -> None:
        """Play the block's rows, which end before round `stop`."""
        self._block, self._start = block, self.n_played
        while True:
            goal = min(stop, self.n_played + min(_ROUNDS_A_CALL, ledger.AHEAD))
            self._model._prepare_to_play(goal - self.n_played)
            self._play(goal)
            if self._progress is not None:
                self._report(goal)
            if goal == stop:
                return

    def _report(self, played: int) -> None:
        before = _state_numbers(self._model)
        self._progress(played)  # type: ignore[misc]
        if before != _state_numbers(self._model):
            raise ParameterError(
                f"progress has changed the model, or let it decide or learn, after {played} rounds; a model"
                " that is played may be looked at only: give progress another one"
            )

    def _play(self, stop: int) -> None:
        """Play up to a round; if that is interrupted, the next call of the model tells what is due."""
        compiled = self._compiled(stop)  # before anything is begun, so that an interrupt need not wait for it
        self._model._unfinished = self
        self._run(*compiled)
        self._model._unfinished = None

    def finish(self, model: Model) -> None:
        """Tell the verdicts that are due in the rounds that were played."""
        counted = model._counted
        self._cursor[NEXT_ROUND] = counted.rounds - self._first_round
        self._cursor[NEXT_VERDICT] = counted.verdicts - self._first_verdict
        self._run(*self._compiled(self.n_played))

    def counts(self, model: Model) -> Counts:
        """What was played counts."""
        return model._counted

    def _compiled(self, stop: int) -> tuple[Callable[..., int], Stream, Span]:
        """The loop up to a round, and what it is given; it and all that it calls are compiled."""
        self._widen_memos()
        arrivals, settings, calls = self._arrivals, self._model._settings, self._model._calls
        record = self._memos, self._shown, self._greedy, self._sums
        stream = Stream(self._block, self._right, arrivals.order, arrivals.due, arrivals.slot, *record)
        active = self._model._active
        n_active = 0 if active is None else len(active)
        seed, told = self._model._draw_seed, settings.full_information
        span = Span(*map(int, (self._start, stop, self._first_round, seed, told, n_active)))
        calls.for_play(self._watched)
        return play_in_python if calls.in_python else bound(stream, self._cursor, span), stream, span

    def _run(self, loop: Callable[..., int], stream: Stream, span: Span) -> None:
        losses = self._model._suffered()
        if losses is not None:
            losses[:] = 0.0
        status = None
        while status != PLAYED:
            calls = self._model._calls
            self._model._allow(self._model._active)
            status = loop(calls.model, *calls.for_play(self._watched), stream, self._cursor, span)
            if status != PLAYED:
                self._make_way(int(status))
        if losses is not None:
            self._suffered += losses

    def _widen_memos(self) -> None:
        """Features have joined."""
        missing = len(self._model._blank) - self._memos.shape[1]
        if missing:
            self._memos = np.hstack([self._memos, np.full((len(self._memos), missing), np.nan)])

    def _make_way(self, status: int) -> None:
        """Do what the model needs before the next verdict can be learned, or before that is finished."""
        if status == NO_ROOM:
            self._model._finish_lesson()
            self._cursor[NEXT_VERDICT] = self._model._counted.verdicts - self._first_verdict
        elif status == NO_LEARNERS:
            self._model._make_learners_for(self._waiting_memo())
        else:
            self._model._unfinished = None
            raise RuntimeError(f"play cannot go on: the model's learn returned {status}")

    @property
    def n_played(self) -> int:
        return int(self._cursor[NEXT_ROUND])

    def _waiting_memo(self) -> Array:
        t = self._arrivals.order[self._cursor[NEXT_VERDICT]]
        return np.asarray(self._memos[self._arrivals.slot[t]])

    def result(self) -> Result:
        """The record, with the learners' edges and their condition where there was a witness."""
        model, n_verdicts = self._model, int(self._cursor[NEXT_VERDICT])
        watched = self._watched and len(self._right) > 0
        seen = model._witnessed(self._sums) if watched else Witnessed(None, None)
        suffered = None if model._suffered() is None else self._suffered
        return Result(
            model.labels,
            self._right,
            self._shown,
            self._greedy,
            n_verdicts,
            seen.edges,
            suffered,
            seen.condition,
        )
