"""`play`: simulate a stream whose right labels are known, and hidden from the learner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.adaptive import AdaptiveBooster
from banditboost.boosting.base import Booster, VerdictBooster
from banditboost.boosting.binary import BinBandit
from banditboost.boosting.gap import GapBoost
from banditboost.boosting.optimal import OptimalBooster
from banditboost.boosting.play import NEXT_ROUND, NEXT_VERDICT, NO_GROUP, NO_ROOM, Groups, State, Stream, note_edges, play_rounds
from banditboost.boosting.result import Result
from banditboost.boosting.rows import Rows, gone_through
from banditboost.boosting.simulation import Arrivals, Delay
from banditboost.errors import LabelError, ParameterError
from banditboost.kernels.layout import GREEDY, ROUND, SHOWN
from banditboost.weak_learners.forest import TreeCommittee

Array = np.ndarray[Any, Any]
_ROUNDS_A_CALL = 20_000  # between two reports of progress


def play(
    model: Booster, X: Any, y: Iterable[Hashable], *, delay: Delay = 0, loss: float = 0.0, progress: Callable[[int], None] | None = None
) -> Result:
    """Run a model over a stream: decide for each row of X, then tell the verdict that y implies.

    Args:
        model: any booster; it goes on from where it is.
        X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
        y: the right labels. Integers are taken as indices of `model.labels` if no label is an integer.
        delay: after how many further rounds a verdict is learned, or a function that turns n uniform numbers into n delays.
        loss: share of the verdicts that never come.
        progress: called now and then with the number of rounds played.

    >>> from banditboost import AdaBandit
    >>> X = [{"colour": colour} for colour in ("red", "blue") * 200]
    >>> play(AdaBandit(["stop", "go"], n_learners=5, seed=1), X, ["stop", "go"] * 200)
    Result(400 rounds, accuracy=0.9150, last_accuracy=0.9625)
    """
    if not isinstance(loss, (int, float)) or not 0.0 <= loss < 1.0:
        raise ParameterError(f"loss is {loss!r}; give the share of verdicts that never come, in [0, 1)")
    with model._lock:
        rows = Rows(model, X)
        right = _label_indices(model, y, len(rows))
        player = _Player(model, right, Arrivals(len(rows), delay, float(loss), model.seed, model.rounds), progress)
        try:
            for block, stop in rows.blocks():
                player.advance(block, stop)
        finally:
            player.close()
        return player.result()


def _label_indices(model: Booster, y: Iterable[Hashable], n_rows: int) -> Array:
    """Right labels as indices."""
    right = y if isinstance(y, np.ndarray) else _as_array(gone_through(y))
    if right.shape != (n_rows,):
        raise LabelError(f"y has shape {right.shape} for {n_rows} rows of X; give one right label for each row")
    if right.dtype.kind in "iu" and not any(isinstance(label, (int, np.integer)) for label in model.labels):
        if n_rows and not 0 <= right.min() <= right.max() < len(model.labels):
            raise LabelError(f"y holds indices from {right.min()} to {right.max()}; the model has labels 0 to {len(model.labels) - 1}")
        return right.astype(np.int64)
    index = {label: i for i, label in enumerate(model.labels)}
    try:
        return np.array([index[label] for label in right.tolist()], dtype=np.int64)
    except (KeyError, TypeError):
        wrong = next(label for label in right.tolist() if not isinstance(label, Hashable) or label not in index)
        raise LabelError(f"y holds {wrong!r}, which is not one of the model's labels; they are {model.labels[:10]!r}") from None


def _as_array(labels: list[Hashable]) -> Array:
    if labels and all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in labels):
        return np.array(labels, dtype=np.int64)
    array = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        array[i] = label
    return array


class _Player:
    """Plays blocks of rows one after the other and keeps the record."""

    def __init__(self, model: Booster, right: Array, arrivals: Arrivals, progress: Callable[[int], None] | None) -> None:
        n_rounds = len(right)
        self._model = model
        self._first_round = model.rounds
        self._progress = progress
        self._cursor = np.array([0, 0, -1], np.int64)
        self._memos = np.tile(model._blank, (arrivals.n_slots, 1))
        self._arrivals = arrivals
        self._right = right
        self._shown, self._greedy = np.zeros(n_rounds, np.int32), np.zeros(n_rounds, np.int32)
        self._edges = np.zeros((2, model.n_learners))

    def advance(self, block: Array, stop: int) -> None:
        """Play the block's rows, which end before round `stop`."""
        missing = len(self._model._blank) - self._memos.shape[1]
        if missing:
            self._memos = np.hstack([self._memos, np.full((len(self._memos), missing), np.nan)])
        start = int(self._cursor[NEXT_ROUND])
        while True:
            goal = min(stop, int(self._cursor[NEXT_ROUND]) + _ROUNDS_A_CALL)
            committee = self._model._committee
            if isinstance(committee, TreeCommittee) and self._model.plays_compiled:
                self._play_compiled(committee, block, start, goal)
            else:
                self._play_interpreted(block, start, goal)
            if self._progress is not None:
                self._progress(goal)
            if goal == stop:
                return

    def _play_compiled(self, committee: TreeCommittee, block: Array, start: int, stop: int) -> None:
        arrivals = self._arrivals
        record = self._memos, self._shown, self._greedy, self._edges
        stream = Stream(block, self._right, arrivals.order, arrivals.due, arrivals.slot, *record)
        span = np.array([start, stop, self._first_round])
        model = self._model
        while True:
            weights = model._weights.reshape(-1, model._weights.shape[-1])
            state = State(model._settings, weights, model._tally, *model._lesson)
            groups = Groups(*model.groups) if isinstance(model, BinBandit) else None
            table = model.table if isinstance(model, OptimalBooster) else None
            chains = model.chains if isinstance(model, GapBoost) else None
            status = play_rounds(committee.forest, state, table, groups, chains, stream, self._cursor, span)
            if status == NO_ROOM:
                committee.make_room()
            elif status == NO_GROUP and isinstance(model, (BinBandit, GapBoost)):
                model.group_of(int(self._waiting_memo()[SHOWN]))
            else:
                return

    def _waiting_memo(self) -> Array:
        t = self._arrivals.order[self._cursor[NEXT_VERDICT]]
        return np.asarray(self._memos[self._arrivals.slot[t]])

    def _play_interpreted(self, block: Array, start: int, stop: int) -> None:
        """The same loop for learners written in Python, and for baselines."""
        for t in range(int(self._cursor[NEXT_ROUND]), stop):
            memo = self._memos[self._arrivals.slot[t]]
            memo[ROUND] = self._first_round + t
            memo[self._model._row_start :] = block[t - start]
            self._model._vote(memo)
            self._model._choose(memo)
            self._shown[t], self._greedy[t] = memo[SHOWN], memo[GREEDY]
            if isinstance(self._model, AdaptiveBooster):
                note_edges(self._model._settings, memo, self._right[t], self._edges)
            self._cursor[NEXT_ROUND] = t + 1
            self._learn_due()

    def _learn_due(self) -> None:
        order, due = self._arrivals.order, self._arrivals.due
        while self._cursor[NEXT_VERDICT] < len(order) and due[self._cursor[NEXT_VERDICT]] < self._cursor[NEXT_ROUND]:
            right = int(self._right[order[self._cursor[NEXT_VERDICT]]])
            memo = self._waiting_memo()
            self._model._hear(memo, right if self._model._settings["full_information"][0] else int(memo[SHOWN] == right))
            self._cursor[NEXT_VERDICT] += 1

    def close(self) -> None:
        """Let the model know which rounds it has been through, also after an interruption."""
        played = int(self._cursor[NEXT_ROUND])
        self._model.rounds = self._first_round + played
        if isinstance(self._model, VerdictBooster):
            self._model._ledger.open_up_to(self._model.rounds)
            self._model._ledger.mark_all(self._first_round + self._arrivals.order[: self._cursor[NEXT_VERDICT]])

    def result(self) -> Result:
        edges = self._edges[0] / self._edges[1] if isinstance(self._model, AdaptiveBooster) and len(self._right) else None
        return Result(self._model.labels, self._right, self._shown, self._greedy, int(self._cursor[NEXT_VERDICT]), edges)
