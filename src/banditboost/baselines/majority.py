"""Majority: the best single label, whatever the features say."""

from __future__ import annotations

import numpy as np

from banditboost.baselines.base import Array, LoneBaseline
from banditboost.boosting.experts import largest_label
from banditboost.boosting.exploration import count_verdict, show
from banditboost.compiled.compile import allocating
from banditboost.compiled.rng import LABEL_TIE, round_key
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.trees.layout import ROUND, SHOWN

RIGHT, HEARD = 0, 1


@allocating
def choose_majority(settings: Array, counts: Array, memo: Array) -> None:
    """The largest share of right verdicts, (right + 1) / (heard + 1), is greedy."""
    n_labels = settings[0]["n_labels"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    shares = np.empty(n_labels)
    for label in range(n_labels):
        shares[label] = (counts[RIGHT, label] + 1.0) / (counts[HEARD, label] + 1.0)
    show(
        settings, memo, largest_label(np.arange(n_labels), n_labels, shares, n_labels, key, LABEL_TIE, 0), key
    )


class Majority(LoneBaseline):
    """Epsilon-greedy without features: shows the label that was right most often of the times it was shown.

    The share of label a is (right_a + 1) / (heard_a + 1), so that every label begins at 1 and is tried before it is given up. As the share
    is of the label's own verdicts, no weight 1 / p is needed.

    Args:
        labels, schema, seed: as for the boosters.
        exploration: share of rounds in which another label is tried.

    >>> model = Majority(["a", "b"], exploration=0.1, seed=1)
    >>> for _ in range(20):
    ...     decision = model.decide({"age": 31})
    ...     model.learn(decision, correct=decision.label == "b")
    >>> model.decide({"age": 64}).distribution()["b"]
    0.9
    """

    def _start(self) -> None:
        super()._start()
        self._weights = np.zeros((2, len(self.labels)))

    def _choose(self, memo: Array) -> None:
        choose_majority(self._settings, self._weights, memo)

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (all labels are)
        count_verdict(self._settings, memo, outcome)
        self._weights[RIGHT, int(memo[SHOWN])] += outcome
        self._weights[HEARD, int(memo[SHOWN])] += 1.0

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._weights}

    def _restore(self, arrays: dict[str, Array]) -> None:
        counts = take_array(arrays, "weights", np.float64, self._weights.shape)
        possible = (
            (counts[RIGHT] >= 0.0)
            & (counts[RIGHT] <= counts[HEARD])
            & (counts == np.floor(counts)).all(axis=0)
        )
        if not np.all(possible) or counts[HEARD].sum() != self.verdicts:
            raise UnreadableError("the counts of verdicts are not possible; load an intact copy")
        self._weights = counts
        super()._restore(arrays)
