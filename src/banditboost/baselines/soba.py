"""SOBA, with a diagonal matrix: Beygelzimer, Orabona and Zhang (2017), Efficient online bandit multiclass
learning.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import numpy as np

from banditboost.baselines.linear import LinearBaseline, note_scales, vector_of
from banditboost.boosting.experts import largest_label
from banditboost.boosting.exploration import allowed_labels, count_verdict, show
from banditboost.boosting.round import Round, teach_nobody
from banditboost.compiled.compile import allocating
from banditboost.compiled.rng import LABEL_TIE
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import LEAST_PROBABILITY, PROBABILITY, SHOWN
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.types import Array
from banditboost.validation import check_number

THETA, CURVATURE = 0, 1
LEAST_REGULARIZATION = 1e-100
"""With less, scores of rows whose values differ by many orders of magnitude could become infinite."""
_ROOT_OF_SMALLEST = 1e-160  # numbers below have no square
# |theta / A| is at most sqrt(sum 1 / p) / (2 sqrt(a)), that is 1e73; a margin is two such numbers for each of
# a million features, and m its square times 1 / p.
_LARGEST_MARGINS = 1e220
_CHOICE, _RIVAL = 0, 1  # which tie is broken


@allocating
def soba_scores(tables: Array, start: float, columns: Array, values: Array) -> Array:
    """W phi(x) with W = A^-1 theta; A begins with `start` everywhere, and the table of curvature holds what
    was added since.
    """
    scores = np.zeros(tables.shape[2])
    for i in range(columns.size):
        for label in range(scores.size):
            scores[label] += (
                tables[THETA, columns[i], label] / (start + tables[CURVATURE, columns[i], label]) * values[i]
            )
    return scores


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """The label with the largest score is greedy."""
    settings, learned = model.settings, model.learned
    n_labels = settings.n_labels
    columns, values = vector_of(model.features, learned.scales, memo[settings.row_start :])
    scores = soba_scores(learned.tables, learned.start[0], columns, values)
    greedy = largest_label(np.arange(n_labels), n_labels, scores, n_labels, key, LABEL_TIE, _CHOICE)
    show(settings, learned.counts, memo, greedy, allowed_labels(model.scratch), key)


@allocating
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:
    """Only a right label teaches; margins[0], the sum of n_s m_s, decides whether the step is made."""
    settings, learned, tables = model.settings, model.learned, model.learned.tables
    start, x = learned.start[0], memo[settings.row_start :]
    count_verdict(settings, learned.counts, memo, feedback)
    note_scales(model.features, x, learned.scales)
    if feedback == 0:
        return
    columns, values = vector_of(model.features, learned.scales, x)
    scores = soba_scores(tables, start, columns, values)
    n_labels, right, p = settings.n_labels, int(memo[SHOWN]), memo[PROBABILITY]
    score, scores[right] = scores[right], -math.inf
    rival = largest_label(np.arange(n_labels), n_labels, scores, n_labels, key, LABEL_TIE, _RIVAL)
    margin = scores[rival] - score
    spread = 0.0
    for i in range(columns.size):
        for label in (right, rival):
            spread += values[i] * values[i] / p / (start + tables[CURVATURE, columns[i], label])
    m = (margin * margin / p + 2.0 * margin / p) / (1.0 + spread)
    if learned.margins[0] + m < 0.0:
        return
    learned.margins[0] += m
    for i in range(columns.size):
        tables[THETA, columns[i], right] += values[i] / p
        tables[THETA, columns[i], rival] -= values[i] / p
        for label in (right, rival):
            tables[CURVATURE, columns[i], label] += values[i] * values[i] / p


class DiagonalSOBA(LinearBaseline):
    """The second-order banditron, with a diagonal matrix A.

    After a right label y, shown with probability p, and with r the best of the other labels: g = (e_r - e_y)
    x phi(x) / p, z = sqrt(p) g, m = (<W, z>^2 + 2 <W, g>) / (1 + z' A^-1 z). If m and the m of all steps so
    far do not sum to less than 0, a step is made: A += diag(z z'), theta -= g, W = A^-1 theta. W is that of
    the time when the verdict is learned. A wrong label teaches nothing.

    Args:
        labels, schema, rewards, seed: as for the boosters.
        exploration: rho, the share of rounds in which another label is tried; the paper's gamma is rho k / (k
            - 1).
        regularization: a, with which the diagonal of A begins; 1e-100 at least.

    >>> model = DiagonalSOBA(["yes", "no"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.verdicts
    1
    """

    compiled_round = Round(choose, teach, teach_learners=teach_nobody)
    n_tables: ClassVar[int] = 2

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float = 0.05,
        regularization: float = 1.0,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        seed: int | None = None,
    ) -> None:
        self.regularization = check_number("regularization", regularization, LEAST_REGULARIZATION, 1e12)
        super().__init__(labels, exploration=exploration, schema=schema, rewards=rewards, seed=seed)

    def _start(self) -> None:
        super()._start()
        self._first_curvature[0] = self.regularization

    def _scores_of(self, memo: Array) -> Array:
        return soba_scores(self._tables, self._first_curvature[0], *self._vector(memo))

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "regularization": self.regularization}

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "margins": self._margins}

    def _restore(self, arrays: dict[str, Array]) -> None:
        margins = take_array(arrays, "margins", np.float64, (1,))
        super()._restore(arrays)
        theta, curvature = self._tables_in_use
        demand(curvature >= 0.0, "a curvature is below 0")
        # Cauchy and Schwarz: theta sums v / p, curvature v^2 / p; the smallest squares are 0 as numbers.
        steps = self._counted.verdicts / LEAST_PROBABILITY
        most = np.sqrt(steps * curvature) * (1.0 + 1e-6) + steps * _ROOT_OF_SMALLEST
        demand(np.abs(theta) <= most, "a weight does not fit its curvature")
        demand(0.0 <= margins[0] <= _LARGEST_MARGINS, "the sum of margins is not possible")
        self._margins = margins
