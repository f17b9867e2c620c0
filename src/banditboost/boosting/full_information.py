"""AdaFull and OptFull: the boosters of Jung, Goetz and Tewari (2017), which are told the right label; the bandit ones are built on them.

They run the very same steps: with the label known, 1 - lhat is e_y exactly, and nothing is explored.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from banditboost.boosting.adaptive import AdaptiveBooster, label_experts
from banditboost.boosting.base import Booster
from banditboost.boosting.optimal import OptimalBooster
from banditboost.errors import LabelError
from banditboost.kernels.layout import GREEDY, VOTES, Array


class FullInformationBooster(Booster):
    """A booster that is told the right label after each prediction."""

    def __init__(self, labels: Iterable[Hashable], **parameters: Any) -> None:
        super().__init__(labels, **parameters)
        self._settings["full_information"] = 1
        self._index = {label: index for index, label in enumerate(self.labels)}

    def predict_one(self, x: Mapping[Any, Any] | Array) -> Hashable:
        """The predicted label; the model does not change."""
        return self.labels[int(self._begin_round(x, looking=True)[GREEDY])]

    def learn_one(self, x: Mapping[Any, Any] | Array, y: Hashable) -> None:
        """Learn that y is the label of x."""
        try:
            outcome = self._index[y]
        except (KeyError, TypeError):
            raise LabelError(f"y is {y!r}, which is not one of the model's labels; they are {self.labels[:10]!r}") from None
        memo = self._begin_round(x)
        self._end_round(memo, outcome)
        self.rounds += 1

    def predict_proba_one(self, x: Mapping[Any, Any] | Array) -> dict[Hashable, float]:
        """The probability with which each label would be predicted."""
        shares = self._label_shares(self._begin_round(x, looking=True))
        return dict(zip(self.labels, shares.tolist(), strict=True))

    def _label_shares(self, memo: Array) -> Array:
        raise NotImplementedError


class AdaFull(AdaptiveBooster, FullInformationBooster):
    """Adaboost.OLM: adaptive boosting with full information.

    >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
    >>> for _ in range(10):
    ...     model.learn_one({"age": 31}, "no")
    ...     model.learn_one({"age": 64}, "yes")
    >>> model.predict_one({"age": 31})
    'no'
    """

    def _step(self) -> float:
        return 2.0 * math.sqrt(2.0) / (len(self.labels) - 1)

    def _label_shares(self, memo: Array) -> Array:
        """Experts are drawn, so a label is predicted with the share of the experts that say it."""
        labels = np.empty(self.n_learners, np.int64)
        label_experts(self._settings, memo, labels)
        # Shares that were added up may exceed 1 in the last bit.
        return np.minimum(np.bincount(labels, self.expert_weights, len(self.labels)), 1.0)


class OptFull(OptimalBooster, FullInformationBooster):
    """OnlineMBBM: boost-by-majority with full information.

    >>> model = OptFull(["yes", "no"], n_learners=5, seed=1)
    >>> model.learn_one({"age": 31}, "no")
    >>> model.predict_proba_one({"age": 31})
    {'yes': 0.0, 'no': 1.0}
    """

    def _label_shares(self, memo: Array) -> Array:
        votes = memo[VOTES : VOTES + self.n_learners].astype(np.int64)
        return np.bincount(votes, minlength=len(self.labels)) / self.n_learners
