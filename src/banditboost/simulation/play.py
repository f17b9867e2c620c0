"""`play`: simulate a stream whose right labels are known, and hidden from the learner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import LabelError, ParameterError, in_row
from banditboost.models import ledger
from banditboost.models.calls import NO_LEARNERS, NO_ROOM
from banditboost.models.changing import Counts
from banditboost.models.locking import locked
from banditboost.models.model import Model, Witnessed
from banditboost.models.offering import OfferingModel
from banditboost.rows.many import gone_through
from banditboost.simulation.arrivals import Arrivals, Delay
from banditboost.simulation.loop import (
    NEXT_ROUND,
    NEXT_VERDICT,
    PLAYED,
    Span,
    Stream,
    bound,
    play_asking,
    play_in_python,
)
from banditboost.simulation.offers import offers_of, play_offers
from banditboost.simulation.result import Result
from banditboost.simulation.rewards import NO_REWARDS, Asking, checked_rewards
from banditboost.simulation.rows import Rows
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_hashable, is_whole

_INT64 = 2**63
_ROUNDS_A_CALL = 20_000  # between two reports of progress


def play(
    model: Model,
    X: Any,
    y: Iterable[Hashable] | None = None,
    *,
    rewards: Any = None,
    options: Any = None,
    delay: Delay = 0,
    lost: float = 0.0,
    condition: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Run a model over a stream: decide for each row of X, then tell the verdict or the reward.

    Args:
        model: any booster or baseline; it goes on from where it is.
        X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
        y: the right labels. Integers are taken as indices of `model.labels` if no label is an integer.
        rewards: in place of y, what each label would earn: a matrix with a row for each row of X and a column
            for each of `model.labels`, a frame whose columns are called by the labels, or a function (round,
            label) -> reward, which is asked for shown labels only (rounds are counted from 0). For a model
            with options a list with a dict {id: reward} for each row, or a function (round, id) -> reward.
        options: what is offered to a model with options (OptionBoost): a list with a dict {id: features} for
            each row, or one dict for all rows.
        delay: after how many further rounds a verdict is learned, or a function that turns n uniform numbers
            into n delays.
        lost: share of the verdicts that never come.
        condition: also watch the weak learning condition (`Result.condition`) of OptBandit or OptFull, which
            takes longer; AdaBandit and AdaFull tell it in any case.
        progress: called now and then with the number of rounds played.

    If it is interrupted, it stops between two rounds, and a note on the exception says how many were played:
    `play(model, X[n:], y[n:])` goes on from there as if nothing had happened. (With a delay, verdicts that
    were out then are not told. If a function of rewards fails, its round was decided, and is not told.)

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
    if (y is None) == (rewards is None):
        given = "neither y nor rewards is given" if y is None else "both y and rewards are given"
        raise ParameterError(f"{given}; give one of the two: right labels, or what each label earns")
    if isinstance(model, OfferingModel) and not condition:
        return play_offers(model, offers_of(model, X, options, y, rewards), (delay, float(lost)), progress)
    if options is not None:
        raise ParameterError(
            f"options is given, but {type(model).__name__} chooses among its labels; leave it out, or play "
            "OptionBoost"
        )
    watched = _is_watched(model, condition, y is not None)
    try:
        return _play(model, X, (y, rewards), (delay, float(lost)), watched, progress)
    finally:
        model._tell_changes()


def _is_watched(model: Model, condition: bool, has_labels: bool) -> bool:
    if not isinstance(condition, bool):
        raise ParameterError(f"condition is {quoted(condition)}; give True or False")
    round_ = model.compiled_round
    if condition and round_.witness is None:
        raise ParameterError(
            f"condition is True, but {type(model).__name__} has no cost vectors on which a weak learning "
            "condition could be checked; leave it out"
        )
    if condition and not has_labels:
        raise ParameterError("condition is True, but rewards do not tell which label is right; leave it out")
    return has_labels and round_.witness is not None and (condition or not round_.on_request)


@locked
def _play(
    model: Model,
    X: Any,
    told: tuple[Iterable[Hashable] | None, Any],
    verdicts: tuple[Delay, float],
    watched: bool,
    progress: Callable[[int], None] | None,
) -> Result:
    rows = Rows(model, X)
    model._check_rounds(len(rows))
    truth = _truth(model, *told, len(rows))
    arrivals = Arrivals(len(rows), *verdicts, model.seed, model.rounds)
    player = _Player(model, truth, arrivals, watched, progress)
    try:
        for block, stop in rows.blocks():
            player.advance(block, stop)
        return player.result()
    except BaseException as error:
        model._settled()
        error.add_note(
            f"play stopped after {model._counted.rounds - player.first_round} of {len(rows)} rounds"
        )
        raise


def _truth(model: Model, y: Iterable[Hashable] | None, rewards: Any, n_rows: int) -> Truth:
    if y is not None:
        return Truth(_label_indices(model, y, n_rows), NO_REWARDS)
    return Truth(np.zeros(n_rows, np.int64), checked_rewards(model, rewards, n_rows))


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
        t, wrong = next(
            (t, label)
            for t, label in enumerate(right.tolist())
            if not is_hashable(label) or label not in index
        )
        raise in_row(
            t,
            LabelError(
                f"y holds {quoted(wrong)}, which is not one of the model's labels; "
                f"they are {quoted(model.labels[:10])}"
            ),
            "y",
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


class Truth(NamedTuple):
    """What a simulation knows: right labels, or what every label earns."""

    right: Array
    rewards: Array | Asking  # as shares of the range


class _Player:
    """Plays blocks of rows one after the other and keeps the record."""

    def __init__(
        self,
        model: Model,
        truth: Truth,
        arrivals: Arrivals,
        watched: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        n_rounds = len(truth.right)
        self._model = model
        self.first_round, self._first_verdict = model.rounds, model._counted.verdicts
        self._progress = progress
        self._cursor = np.zeros(2, np.int64)
        self._memos = np.tile(model._blank, (arrivals.n_slots, 1))
        self._arrivals = arrivals
        self._truth = truth
        self._asks = isinstance(truth.rewards, Asking)
        self._earned = np.zeros(n_rounds)
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
        if not self._asks:  # a function would be asked again
            self._model._unfinished = self
        self._run(*compiled)
        self._model._unfinished = None

    def finish(self, model: Model) -> None:
        """Tell the verdicts that are due in the rounds that were played."""
        counted = model._counted
        self._cursor[NEXT_ROUND] = counted.rounds - self.first_round
        self._cursor[NEXT_VERDICT] = counted.verdicts - self._first_verdict
        self._run(*self._compiled(self.n_played))

    def counts(self, model: Model) -> Counts:
        """What was played counts."""
        return model._counted

    def _compiled(self, stop: int) -> tuple[Callable[..., int], Stream, Span]:
        """The loop up to a round, and what it is given; it and all that it calls are compiled."""
        self._widen_memos()
        arrivals, settings, calls = self._arrivals, self._model._settings, self._model._calls
        record = self._memos, self._shown, self._greedy, self._earned, self._sums
        stream = Stream(self._block, *self._truth, arrivals.order, arrivals.due, arrivals.slot, *record)
        active = self._model._active
        n_active = 0 if active is None else len(active)
        seed, told = self._model._draw_seed, settings.full_information
        span = Span(*map(int, (self._start, stop, self.first_round, seed, told, n_active)))
        if self._asks:
            return play_asking, stream, span
        calls.for_play(self._watched)
        return play_in_python if calls.in_python else bound(stream, self._cursor, span), stream, span

    def _functions(self) -> tuple[Any, Any, Any]:
        """Decide, learn and witness, as the loop calls them."""
        calls = self._model._calls
        return (calls.decide, calls.learn, 0) if self._asks else calls.for_play(self._watched)

    def _run(self, loop: Callable[..., int], stream: Stream, span: Span) -> None:
        losses = self._model._suffered()
        if losses is not None:
            losses[:] = 0.0
        status = None
        while status != PLAYED:
            calls = self._model._calls
            self._model._allow(self._model._active)
            status = loop(calls.model, *self._functions(), stream, self._cursor, span)
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

    def _rewards(self) -> tuple[Array | None, Array | None, tuple[float, float]]:
        """What shown and greedy labels have earned, in the model's units, and the range."""
        rewards, known = self._model._rewards, self._truth.rewards
        if known is NO_REWARDS:
            return None, None, rewards
        low, high = rewards
        greedy = None
        if not isinstance(known, Asking):
            greedy = np.minimum(low + (high - low) * known[np.arange(len(known)), self._greedy], high)
        return np.minimum(low + (high - low) * self._earned, high), greedy, rewards

    def result(self) -> Result:
        """The record, with the learners' edges and their condition where there was a witness."""
        model, n_verdicts = self._model, int(self._cursor[NEXT_VERDICT])
        watched = self._watched and len(self._shown) > 0
        seen = model._witnessed(self._sums) if watched else Witnessed(None, None)
        suffered = None if model._suffered() is None else self._suffered
        graded = self._truth.rewards is not NO_REWARDS
        return Result(
            model.labels,
            None if graded else self._truth.right,
            self._shown,
            self._greedy,
            n_verdicts,
            seen.edges,
            suffered,
            seen.condition,
            *self._rewards(),
        )
