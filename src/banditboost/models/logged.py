"""What models learn from logs: labels that another policy has shown, and what they earned: `learn_logged`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from banditboost.errors import BanditBoostError, DecisionError, FeatureError, LabelError, LogError
from banditboost.io.header import MOST_ROUNDS
from banditboost.memo import LEAST_PROBABILITY, PROBABILITY, SHOWN
from banditboost.models.calls import LOGGED, NO_LEARNERS
from banditboost.models.changing import Counts, ToLearn
from banditboost.models.identity import draw_seed
from banditboost.models.locking import locked
from banditboost.models.noticing import NoticingModel
from banditboost.rewards import share_told
from banditboost.rows.many import checked_rows, checked_table, listed, try_row
from banditboost.text import quoted
from banditboost.types import Array, Row
from banditboost.validation import is_hashable, is_number


class Lesson(NamedTuple):
    """A row of a log that was found good."""

    x: Any  # as a model takes a row alone
    label: int  # that was shown
    told: float  # what it earned, as a share of the rewards
    probability: float  # with which it was chosen
    allowed: Array | None  # from which labels, None from all


class ToLearnLogged(ToLearn):
    """Rows of a log that are to be learned one after the other."""

    def __init__(self, lessons: list[Lesson], model: LoggedModel) -> None:
        super().__init__(lessons, model)
        rounds, verdicts, logged = self._counts
        self._counts = Counts(rounds, verdicts, logged + len(lessons))

    def learn(self, model: Any, item: Lesson) -> None:
        """Learn one of them."""
        model._learn_lesson(item)


class LoggedModel(NoticingModel):
    """A model that learns from what another policy has shown, too."""

    weighs_by_probability: ClassVar[bool] = True
    """Whether what was told of a label is weighed by 1 / its probability: a log must tell it then."""

    def learn_logged(
        self,
        x: Row,
        label: Hashable,
        reward: float,
        probability: float | None = None,
        *,
        allowed: Iterable[Hashable] | None = None,
    ) -> None:
        """Learn a row of a log: what was known, which label another policy has shown, and what it earned.

        It is no verdict on a decision of this model: `logged` counts it, not `verdicts`, and the summary
        tells it apart. docs/guide-logs.md leads from a log to a model that goes on from there.

        Args:
            x: as in `decide`.
            label: what was shown.
            reward: a number within the model's `rewards`; True stands for the largest, False for the least.
            probability: with which the label was chosen, above 0 and at most 1. GapBoost does not need it.
            allowed: the labels it was chosen from, if not all that the model shows.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["sports", "politics"], seed=7)
        >>> for hour in range(24):
        ...     model.learn_logged({"hour": hour}, "sports", reward=hour > 17, probability=0.5)
        >>> model.logged, model.verdicts
        (24, 0)
        """
        with self._turn.lock: self._learn_logged(x, label, reward, probability, allowed)  # fmt: skip # noqa: E701
        self._tell_changes()

    def _learn_logged(
        self, x: Row, label: Hashable, reward: Any, probability: Any, allowed: Iterable[Hashable] | None
    ) -> None:
        if self._turn.unfinished is not None:
            self._settled()
        lesson = self._lesson_told(x, label, reward, probability, allowed)
        self._check_room_for(1)
        row = self._read(x)
        if isinstance(row, np.ndarray):
            try:
                status = self._hear_lesson(row, lesson)
            except FeatureError as error:
                raise self._refusal(x, error) from None
            if status != NO_LEARNERS:
                return
        else:
            try_row(self._schema.copy(), self._given(x))
        self._learn_lessons([lesson])

    def learn_logged_many(
        self,
        X: Any,
        labels: Iterable[Hashable],
        rewards: Any,
        probabilities: Any = None,
        *,
        allowed: Iterable[Iterable[Hashable] | None] | None = None,
    ) -> None:
        """Learn many rows of a log in their order, as if one by one. If any is refused, none was learned.

        Args:
            X: a matrix, a list of rows, or a frame (pandas, polars, pyarrow).
            labels: which label was shown, for each row.
            rewards: what it earned.
            probabilities: with which it was chosen; None if the log does not tell.
            allowed: for each row the labels it was chosen from, or None for all that the model shows.

        >>> from banditboost import AdaBandit
        >>> model = AdaBandit(["sports", "politics"], n_learners=5, seed=7)
        >>> rows = [{"hour": 9}, {"hour": 21}]
        >>> model.learn_logged_many(rows, ["politics", "sports"], [0, 1], probabilities=[0.5, 0.5])
        >>> model.logged
        2
        """
        self._learn_all_logged(X, labels, rewards, probabilities, allowed)
        self._tell_changes()

    @locked
    def _learn_all_logged(
        self, X: Any, labels: Iterable[Hashable], rewards: Any, probabilities: Any, allowed: Any
    ) -> None:
        table = checked_table(self._schema, X)
        rows = checked_rows(self._schema, X) if table is None else table
        told = {"labels": labels, "rewards": rewards, "probabilities": probabilities, "allowed": allowed}
        columns = [column(name, given, len(rows)) for name, given in told.items()]
        lessons = [
            self._numbered_lesson(t, len(rows), rows[t], *cells)
            for t, cells in enumerate(zip(*columns, strict=True))
        ]
        self._check_room_for(len(lessons))
        if lessons:
            self._learn_lessons(lessons)

    # What is told

    def _numbered_lesson(self, t: int, n_rows: int, *cells: Any) -> Lesson:
        try:
            return self._lesson_told(*cells)
        except BanditBoostError as error:
            raise type(error)(f"row {t} of {n_rows}: {error}") from None

    def _lesson_told(self, x: Any, label: Any, reward: Any, probability: Any, allowed: Any) -> Lesson:
        """What a row of a log tells; nothing changes if it is refused."""
        index = self._index.get(label) if is_hashable(label) else None
        if index is None:
            raise LabelError(
                f"label is {quoted(label)}, which is not one of the model's labels, "
                f"{quoted(self.labels[:10])}; make the model with all labels of the log, or leave the row out"
            )
        self._refuse_removed([index])
        among = self._indices_of(allowed)
        if among is not None and index not in among:
            raise LabelError(
                f"label is {quoted(label)}, which is not among the allowed ones; give all labels that it "
                "was chosen from"
            )
        return Lesson(x, index, self._share_told(reward), self._probability_told(probability), among)

    def _share_told(self, reward: Any) -> float:
        if reward is None:
            low, high = self._rewards
            raise LogError(
                f"reward is None; give what the label has earned, from {low:g} to {high:g}, or leave the "
                "row out"
            )
        is_verdict = isinstance(reward, (bool, np.bool_))
        correct, number = (reward, None) if is_verdict else (None, reward)
        try:
            return share_told(correct, number, self._rewards)
        except DecisionError as error:
            raise LogError(str(error)) from None

    def _probability_told(self, probability: Any) -> float:
        if probability is None:
            if self.weighs_by_probability:
                raise LogError(
                    f"probability is None, and {type(self).__name__} weighs what a log tells by 1 / "
                    "probability; give the probability with which the label was chosen, or use GapBoost, "
                    "which learns without it"
                )
            return 1.0
        if not is_number(probability) or not LEAST_PROBABILITY <= probability <= 1.0:
            raise LogError(
                f"probability is {quoted(probability)}; give the probability with which the label was chosen,"
                " above 0 and at most 1"
            )
        return float(probability)

    def _check_room_for(self, n_rows: int) -> None:
        if int(self._counts.logged) + n_rows > MOST_ROUNDS:
            raise LogError(
                f"the model has learned {self.logged} rows of logs, and learns {MOST_ROUNDS} at most; make a "
                "new model"
            )

    # Learn

    def _learn_lessons(self, lessons: list[Lesson]) -> None:
        """Learn what was found good: all of it, even if the call does not come to its end."""
        self._unfinished = ToLearnLogged(lessons, self)
        try:
            self._settled()
        finally:
            if self._calls.in_python:  # a learner that fails would fail again and again
                self._unfinished = None

    def _learn_lesson(self, lesson: Lesson) -> None:
        row = self._joined(lesson.x)
        while self._hear_lesson(row, lesson) == NO_LEARNERS:
            self._make_learners_for(self._memo_of(row, lesson))

    def _hear_lesson(self, row: Array, lesson: Lesson) -> int:
        """Learn one, of a row whose features have joined. Returns LEARNED or NO_LEARNERS."""
        memo = self._memo_of(row, lesson)
        return self._hear(memo, lesson.told, self._log_seed, lesson.allowed, LOGGED)

    def _memo_of(self, row: Array, lesson: Lesson) -> Array:
        """The memo of a decision on this row now, had it come to the label that the log tells."""
        memo = self._memo_among(row, lesson.allowed)
        memo[SHOWN], memo[PROBABILITY] = lesson.label, lesson.probability
        return memo

    def _memo_among(self, row: Array, allowed: Array | None) -> Array:
        return self._choose(row, int(self._counts.logged), allowed, False, self._log_seed)[0]

    @property
    def _log_seed(self) -> int:
        """Rows of logs have random numbers of their own, whatever the model decides in between."""
        branch = self._identity.branch
        return draw_seed(self.seed, f"{branch}/log" if branch else "log")


def column(name: str, given: Any, n_rows: int) -> list[Any]:
    """A value for each row."""
    if given is None and name in ("probabilities", "allowed"):
        return [None] * n_rows
    try:
        values = listed(given)
    except TypeError:
        raise LogError(f"{name} is {quoted(given)}; give a list with one for each row") from None
    if len(values) != n_rows:
        raise LogError(f"there are {n_rows} rows and {len(values)} {name}; give one for each row")
    return values
