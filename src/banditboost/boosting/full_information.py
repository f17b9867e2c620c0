"""AdaFull and OptFull: the boosters of Jung, Goetz and Tewari (2017), which are told the right label; the
bandit ones are built on them. MixFull (mixture/) is told it in the same way.

They run the very same steps: with the label known, 1 - lhat is e_y exactly, and nothing is explored.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.adaptive import AdaptiveBooster, ask_experts
from banditboost.boosting.booster import Booster
from banditboost.boosting.optimal import OptimalBooster
from banditboost.errors import LabelError
from banditboost.memo import GREEDY, VOTES
from banditboost.models.changing import ToLearn
from banditboost.models.locking import locked
from banditboost.models.model import MEBIBYTE
from banditboost.models.settings import ROUNDS
from banditboost.rankings import Ranked, order_of, ranked
from banditboost.rows.many import checked_rows, for_each, listed, rows_of, try_row
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array, Row


class FullInformationBooster(Booster):
    """A booster that is told the right label after each prediction.

    >>> from banditboost import AdaFull
    >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
    >>> model.learn_many([{"age": 31}, {"age": 64}], ["no", "yes"])
    >>> model.verdicts
    2
    """

    def __init__(self, labels: Iterable[Hashable], **parameters: Any) -> None:
        super().__init__(labels, **parameters)
        self._settings.full_information = 1

    @locked
    def predict_one(self, x: Row) -> Hashable:
        """The predicted label; the model does not change."""
        return self.labels[int(self._look(x)[GREEDY])]

    @locked
    def learn_one(self, x: Row, y: Hashable) -> None:
        """Learn that y is the label of x."""
        self._check_rounds(1)
        right, row = self._index_of(y), self._coded(x)
        if row is not None:
            self._learn_row(row, right)
        else:
            try_row(self._schema.copy(), x)
            self._learn_from_list([(x, right)])

    def _learn_row(self, row: Array, right: int) -> None:
        memo, _ = self._choose(row, self._calls.counters[ROUNDS])
        self._hear(memo, float(right), self.seed, None, 0)

    def _learn_from_list(self, examples: list[tuple[Row, int]]) -> None:
        """Learn rows that were found good: all of them, even if the call does not come to its end."""
        self._unfinished = ToLearn(examples, self)
        self._settled()

    def _learn_item(self, item: tuple[Row, int]) -> None:
        x, right = item
        self._learn_row(self._joined(x), right)

    def _index_of(self, y: Hashable) -> int:
        try:
            return self._index[y]
        except (KeyError, TypeError, ValueError):
            raise LabelError(
                f"y is {quoted(y)}, which is not one of the model's labels; they are "
                f"{quoted(self.labels[:10])}"
            ) from None

    @locked
    def predict_many(self, X: Any) -> list[Hashable]:
        """The predicted label of every row of a matrix, a list of rows or a frame (pandas, polars, pyarrow);
        the model does not change.
        """
        rows = rows_of(X)
        return for_each(rows, self.predict_one)

    @locked
    def predict_proba_many(self, X: Any) -> list[dict[Hashable, float]]:
        """For every row the label shares of `predict_proba_one`; the model does not change."""
        rows = rows_of(X)
        return for_each(rows, self.predict_proba_one)

    @locked
    def learn_many(self, X: Any, y: Iterable[Hashable]) -> None:
        """Learn the labels y of the rows of X, in their order, as if one by one.

        If any row or label is refused, none was learned.
        """
        try:
            right = listed(y)
        except TypeError:
            raise LabelError(f"y is {quoted(y)}; give a list of right labels, one for each row") from None
        indices = for_each(right, self._index_of, of="y")
        rows = checked_rows(self._schema, X)
        if len(rows) != len(right):
            raise LabelError(
                f"y has {len(right)} labels for {len(rows)} rows of X; give one right label for each row"
            )
        self._check_rounds(len(rows))
        self._learn_from_list([(copy.copy(x), index) for x, index in zip(rows, indices, strict=True)])

    @locked
    def predict_proba_one(self, x: Row) -> dict[Hashable, float]:
        """Each label's share of those who answer; the shares add up to 1.

        AdaFull and MixFull draw the expert that answers, so a share is the probability with which the label
        would be predicted. OptFull draws nobody: the label with most votes is predicted, and a share is that
        of the learners who vote for the label.
        """
        shares = self._label_shares(self._look(x))
        return dict(zip(self.labels, shares.tolist(), strict=True))

    @locked
    def rank(self, x: Row, n: int | None = None) -> list[Ranked]:
        """Labels by their shares of `predict_proba_one`, the largest first, in the order of the labels where
        they are equal; the model does not change.

        Args:
            x: a row.
            n: how many labels; None is all.

        >>> from banditboost import AdaFull
        >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
        >>> model.learn_many([{"age": 31}] * 10, ["no"] * 10)
        >>> [(place.label, round(place.probability, 9)) for place in model.rank({"age": 31}, n=1)]
        [('no', 1.0)]
        """
        shares = self._label_shares(self._look(x))
        return ranked(self.labels, shares.tolist(), order_of(shares, None), n)

    def _label_shares(self, memo: Array) -> Array:
        """Each label's share of those who answer."""
        raise NotImplementedError


class AdaFull(AdaptiveBooster, FullInformationBooster):
    """Adaboost.OLM: adaptive boosting with full information (Jung, Goetz and Tewari, 2017).

    Args:
        labels: what can be predicted.
        n_learners: N, how many weak learners vote.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn` or
            `learn_costs`; None is the default tree.
        schema: features, if they are to be declared.
        clip: the largest difference between two costs that counts; with lesson "text", the largest cost. None
            is no limit.
        lesson: how a cost vector becomes the label and weight that a tree is taught. "text" is the paper's
            appendix to the letter, "ours" learns more from an exploration that hits, "differences" is between
            the two (docs/deviations.md).
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
    >>> for _ in range(10):
    ...     model.learn_one({"age": 31}, "no")
    ...     model.learn_one({"age": 64}, "yes")
    >>> sum(model.predict_one({"age": age}) == right for age, right in ((31, "no"), (64, "yes")))
    2
    """

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 20,
        weak_learner: Any = None,
        schema: Schema | None = None,
        clip: float | None = 100.0,
        lesson: str = "ours",
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            n_learners=n_learners,
            weak_learner=weak_learner,
            schema=schema,
            clip=clip,
            lesson=lesson,
            importance_scale=importance_scale,
            tie_tolerance=tie_tolerance,
            max_memory=max_memory,
            seed=seed,
        )

    def _step(self) -> float:
        return 2.0 * math.sqrt(2.0) / (len(self.labels) - 1)

    def _label_shares(self, memo: Array) -> Array:
        """Experts are drawn, so a label is predicted with the share of the experts that say it."""
        labels = np.empty(self.n_learners, np.int64)
        ask_experts(self._settings, memo, self.seed, labels)
        return self._shares_of(labels)


class OptFull(OptimalBooster, FullInformationBooster):
    """OnlineMBBM: boost-by-majority with full information (Jung, Goetz and Tewari, 2017).

    Args:
        labels: what can be predicted.
        edge: gamma, the learners' edge over guessing.
        n_learners: N, how many weak learners vote; at most 200.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn` or
            `learn_costs`; None is the default tree.
        schema: features, if they are to be declared.
        clip: the largest difference between two costs that counts; with lesson "text", the largest cost. None
            is no limit.
        lesson: how a cost vector becomes the label and weight that a tree is taught. "text" is the paper's
            appendix to the letter, "ours" learns more from an exploration that hits, "differences" is between
            the two (docs/deviations.md).
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = OptFull(["yes", "no"], n_learners=5, seed=1)
    >>> model.learn_one({"age": 31}, "no")
    >>> model.predict_proba_one({"age": 31})["no"]
    1.0
    """

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        edge: float = 0.1,
        n_learners: int = 20,
        weak_learner: Any = None,
        schema: Schema | None = None,
        clip: float | None = 100.0,
        lesson: str = "ours",
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            edge=edge,
            n_learners=n_learners,
            weak_learner=weak_learner,
            schema=schema,
            clip=clip,
            lesson=lesson,
            importance_scale=importance_scale,
            tie_tolerance=tie_tolerance,
            max_memory=max_memory,
            seed=seed,
        )

    def _label_shares(self, memo: Array) -> Array:
        """All learners answer, with one vote each."""
        votes = memo[VOTES : VOTES + self.n_learners].astype(np.int64)
        return np.bincount(votes, minlength=len(self.labels)) / self.n_learners
