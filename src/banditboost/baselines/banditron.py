"""Banditron: Kakade, Shalev-Shwartz and Tewari (2008), Efficient bandit algorithms for online multiclass prediction."""

from __future__ import annotations

import numpy as np

from banditboost.baselines.base import Array
from banditboost.baselines.linear import LinearBaseline, note_scales, vector_of
from banditboost.boosting.experts import largest_label
from banditboost.boosting.exploration import count_verdict, show
from banditboost.compiled.compile import allocating
from banditboost.compiled.rng import LABEL_TIE, round_key
from banditboost.trees.layout import GREEDY, PROBABILITY, ROUND, SHOWN


@allocating
def choose_linear(
    settings: Array, features: Array, scales: Array, table: Array, memo: Array, row_start: int
) -> None:
    """The label with the largest score (W phi(x))_a is greedy."""
    n_labels = settings[0]["n_labels"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    columns, values = vector_of(features, scales, memo[row_start:])
    scores = np.zeros(n_labels)
    for i in range(columns.size):
        for label in range(n_labels):
            scores[label] += table[columns[i], label] * values[i]
    show(
        settings, memo, largest_label(np.arange(n_labels), n_labels, scores, n_labels, key, LABEL_TIE, 0), key
    )


@allocating
def teach_banditron(
    settings: Array, features: Array, scales: Array, table: Array, memo: Array, row_start: int, outcome: int
) -> None:
    """W += (1[right] / p e_shown - e_greedy) phi(x)^T, in expectation the perceptron's step (e_y - e_greedy) phi(x)^T."""
    count_verdict(settings, memo, outcome)
    x = memo[row_start:]
    note_scales(features, x, scales)
    columns, values = vector_of(features, scales, x)
    shown, greedy = int(memo[SHOWN]), int(memo[GREEDY])
    for i in range(columns.size):
        table[columns[i], shown] += outcome / memo[PROBABILITY] * values[i]
        table[columns[i], greedy] -= values[i]


class Banditron(LinearBaseline):
    """The perceptron with an unbiased estimate of its step: W += (1[right] / p e_shown - e_greedy) phi(x)^T.

    Args:
        labels, schema, seed: as for the boosters.
        exploration: rho, the share of rounds in which another label is tried; the paper's gamma is rho k / (k - 1).

    >>> model = Banditron(["yes", "no"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.verdicts
    1
    """

    def _choose(self, memo: Array) -> None:
        choose_linear(
            self._settings, self._committee.features, self._scales, self._weights[0], memo, self._row_start
        )

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (all labels are)
        teach_banditron(
            self._settings,
            self._committee.features,
            self._scales,
            self._weights[0],
            memo,
            self._row_start,
            outcome,
        )
