"""Banditron: Kakade, Shalev-Shwartz and Tewari (2008), Efficient bandit algorithms for online multiclass
prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.baselines.linear import LinearBaseline, note_scales, vector_of
from banditboost.boosting.experts import largest_label
from banditboost.boosting.exploration import allowed_labels, count_verdict, show
from banditboost.boosting.round import Round, teach_nobody
from banditboost.compiled.compile import allocating
from banditboost.compiled.rng import LABEL_TIE
from banditboost.memo import GREEDY, PROBABILITY, SHOWN
from banditboost.types import Array


@allocating
def weighted_sums(table: Array, columns: Array, values: Array) -> Array:
    """W phi(x)."""
    scores = np.zeros(table.shape[1])
    for i in range(columns.size):
        for label in range(scores.size):
            scores[label] += table[columns[i], label] * values[i]
    return scores


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """The label with the largest score (W phi(x))_a is greedy."""
    settings, learned = model.settings, model.learned
    n_labels, table = settings.n_labels, learned.tables[0]
    columns, values = vector_of(model.features, learned.scales, memo[settings.row_start :])
    scores = weighted_sums(table, columns, values)
    greedy = largest_label(np.arange(n_labels), n_labels, scores, n_labels, key, LABEL_TIE, 0)
    show(settings, learned.counts, memo, greedy, allowed_labels(model.scratch), key)


@allocating
def teach(model: Any, memo: Array, reward: float, key: int) -> None:  # noqa: ARG001 (nothing is drawn)
    """W += (reward / p e_shown - e_greedy) phi(x)^T, in expectation the perceptron's step (e_y - e_greedy)
    phi(x)^T.
    """
    learned, table, x = model.learned, model.learned.tables[0], memo[model.settings.row_start :]
    count_verdict(model.settings, learned.counts, memo, reward)
    note_scales(model.features, x, learned.scales)
    columns, values = vector_of(model.features, learned.scales, x)
    shown, greedy = int(memo[SHOWN]), int(memo[GREEDY])
    for i in range(columns.size):
        table[columns[i], shown] += reward / memo[PROBABILITY] * values[i]
        table[columns[i], greedy] -= values[i]


class Banditron(LinearBaseline):
    """The perceptron with an unbiased estimate of its step: W += (reward / p e_shown - e_greedy) phi(x)^T.

    The reward is 1 for a right label and 0 for a wrong one.

    Args:
        labels, schema, rewards, seed: as for the boosters.
        exploration: rho, the share of rounds in which another label is tried; the paper's gamma is rho k / (k
            - 1).

    >>> model = Banditron(["yes", "no"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.verdicts
    1
    """

    compiled_round = Round(choose, teach, teach_learners=teach_nobody, graded=True)

    def _scores_of(self, memo: Array) -> Array:
        return weighted_sums(self._tables[0], *self._vector(memo))
