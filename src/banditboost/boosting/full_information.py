"""AdaFull and OptFull: the boosters of Jung, Goetz and Tewari (2017), which are told the right label; the bandit ones are built on them.

They run the very same steps: with the label known, 1 - lhat is e_y exactly, and nothing is explored.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from banditboost.boosting.adaptive import AdaptiveBooster, ask_experts
from banditboost.boosting.base import Booster
from banditboost.boosting.optimal import OptimalBooster
from banditboost.boosting.rows import checked_rows, listed, rows_of
from banditboost.errors import LabelError
from banditboost.kernels.layout import GREEDY, VOTES, Array


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
        self._settings["full_information"] = 1

    def predict_one(self, x: Mapping[Any, Any] | Array) -> Hashable:
        """The predicted label; the model does not change."""
        with self._lock:
            return self.labels[int(self._begin_round(x, looking=True)[0][GREEDY])]

    def learn_one(self, x: Mapping[Any, Any] | Array, y: Hashable) -> None:
        """Learn that y is the label of x."""
        with self._lock:
            outcome = self._index_of(y)
            memo, _ = self._begin_round(x)
            self._hear(memo, outcome)
            self.rounds += 1

    def _index_of(self, y: Hashable) -> int:
        try:
            return self._index[y]
        except (KeyError, TypeError):
            raise LabelError(f"y is {y!r}, which is not one of the model's labels; they are {self.labels[:10]!r}") from None

    def predict_many(self, X: Any) -> list[Hashable]:
        """The predicted label of every row of a matrix, a list of rows or a frame (pandas, polars, pyarrow); the model does not change."""
        rows = rows_of(X)
        with self._lock:
            return [self.predict_one(x) for x in rows]

    def predict_proba_many(self, X: Any) -> list[dict[Hashable, float]]:
        """The probability with which each label would be predicted, for every row; the model does not change."""
        rows = rows_of(X)
        with self._lock:
            return [self.predict_proba_one(x) for x in rows]

    def learn_many(self, X: Any, y: Iterable[Hashable]) -> None:
        """Learn the labels y of the rows of X, in their order: the same as one by one. If any row or label is refused, none was learned."""
        try:
            right = listed(y)
        except TypeError:
            raise LabelError(f"y is {y!r}; give a list of right labels, one for each row") from None
        with self._lock:
            for label in right:
                self._index_of(label)
            rows = checked_rows(self.schema, X)
            if len(rows) != len(right):
                raise LabelError(f"y has {len(right)} labels for {len(rows)} rows of X; give one right label for each row")
            for x, label in zip(rows, right, strict=True):
                self.learn_one(x, label)

    def predict_proba_one(self, x: Mapping[Any, Any] | Array) -> dict[Hashable, float]:
        """The probability with which each label would be predicted."""
        with self._lock:
            shares = self._label_shares(self._begin_round(x, looking=True)[0])
            return dict(zip(self.labels, shares.tolist(), strict=True))

    def _label_shares(self, memo: Array) -> Array:
        raise NotImplementedError


class AdaFull(AdaptiveBooster, FullInformationBooster):
    """Adaboost.OLM: adaptive boosting with full information.

    >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
    >>> for _ in range(10):
    ...     model.learn_one({"age": 31}, "no")
    ...     model.learn_one({"age": 64}, "yes")
    >>> sum(model.predict_one({"age": age}) == right for age, right in ((31, "no"), (64, "yes")))
    2
    """

    def _step(self) -> float:
        return 2.0 * math.sqrt(2.0) / (len(self.labels) - 1)

    def _label_shares(self, memo: Array) -> Array:
        """Experts are drawn, so a label is predicted with the share of the experts that say it."""
        labels = np.empty(self.n_learners, np.int64)
        ask_experts(self._settings, memo, labels)
        # Shares that were added up may exceed 1 in the last bit.
        return np.minimum(np.bincount(labels, self.expert_weights, len(self.labels)), 1.0)


class OptFull(OptimalBooster, FullInformationBooster):
    """OnlineMBBM: boost-by-majority with full information.

    >>> model = OptFull(["yes", "no"], n_learners=5, seed=1)
    >>> model.learn_one({"age": 31}, "no")
    >>> model.predict_proba_one({"age": 31})["no"]
    1.0
    """

    def _label_shares(self, memo: Array) -> Array:
        votes = memo[VOTES : VOTES + self.n_learners].astype(np.int64)
        return np.bincount(votes, minlength=len(self.labels)) / self.n_learners
