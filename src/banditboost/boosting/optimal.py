"""OptBandit, the paper's BanditBBM: a plain majority of learners with a known edge, costs from the potential. (Serves OptFull too.)"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.base import BanditBooster, Booster, check_count, check_number
from banditboost.boosting.costs import label_and_weight
from banditboost.boosting.estimate import estimate
from banditboost.boosting.experts import add_label, largest_label, slot_of
from banditboost.boosting.exploration import show
from banditboost.boosting.potential import PotentialTable, make_table, vote_costs
from banditboost.kernels.compile import njit
from banditboost.kernels.layout import CHOSEN_EXPERT, ROUND, VOTES, Array
from banditboost.kernels.rng import EXPERT_TIE, round_key

MOST_LEARNERS = 100


@njit
def choose_optimal(settings: Array, memo: Array) -> None:
    """Lines 6 to 10 with alpha = 1 and i_t = N."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    active = np.empty(n, np.int64)
    n_active = 0
    for i in range(n):
        memo[VOTES + n + i] = 1.0
        n_active = add_label(active, n_active, int(memo[VOTES + i]))
    sums = np.zeros(n_active)
    for i in range(n):
        sums[slot_of(active, n_active, int(memo[VOTES + i]))] += 1.0
    memo[CHOSEN_EXPERT] = n - 1
    show(settings, memo, largest_label(active, n_active, sums, settings[0]["n_labels"], key, EXPERT_TIE, n - 1), key)


@njit
def teach_optimal(settings: Array, table: PotentialTable, memo: Array, outcome: int, labels: Array, importance: Array) -> None:
    """Lines 12 to 15: learner i's cost vector is chat = C (1 - lhat) with C[l, r] = phi^r_{N-i}(s^{i-1} + e_l), equation (9)."""
    n, n_labels = settings[0]["n_learners"], settings[0]["n_labels"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    of = estimate(settings, memo, outcome)
    settings[0]["verdicts"] += 1
    active = np.empty(n + 2, np.int64)
    n_active = add_label(active, 0, of.first)
    two = of.second >= 0 and of.second != of.first
    if two:
        n_active = add_label(active, n_active, of.second)
    for i in range(n):
        n_active = add_label(active, n_active, int(memo[VOTES + i]))
    first = slot_of(active, n_active, of.first)
    second = slot_of(active, n_active, of.second) if two else -1
    mix = np.array([of.base, of.first_extra + (0.0 if two else of.second_extra), of.second_extra if two else 0.0])
    counts = np.zeros(n_active + 1, np.int64)
    histogram = np.zeros(n + 2, np.int64)
    histogram[0] = n_labels
    by_count = np.empty(n + 2)
    vector = np.empty(n_active + 1)
    for i in range(n):
        first_cost, second_cost = vote_costs(table, histogram, i, counts[first], counts[second] if two else -1, mix, by_count)
        for slot in range(n_active + 1):
            vector[slot] = by_count[counts[slot]]
        vector[first] = first_cost
        if two:
            vector[second] = second_cost
        labels[i], importance[i] = label_and_weight(vector, active, n_active, settings, of.right, key, i)
        mine = slot_of(active, n_active, int(memo[VOTES + i]))
        histogram[counts[mine]] -= 1
        counts[mine] += 1
        histogram[counts[mine]] += 1


class OptimalBooster(Booster):
    """A plain majority of learners whose edge over guessing is known."""

    def __init__(self, labels: Iterable[Hashable], *, edge: float = 0.1, **parameters: Any) -> None:
        self.edge = check_number("edge", edge, 0.0, 1.0)
        check_count("n_learners", parameters.get("n_learners", 20), 1, MOST_LEARNERS)
        super().__init__(labels, **parameters)

    def _start(self) -> None:
        super()._start()
        self._settings["edge"] = self.edge
        self._weights = np.ones(self.n_learners)
        self.table = make_table(self.n_learners, len(self.labels), self.edge)

    def _choose(self, memo: Array) -> None:
        choose_optimal(self._settings, memo)

    def _teach(self, memo: Array, outcome: int) -> None:
        teach_optimal(self._settings, self.table, memo, outcome, *self._lesson)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + sum(array.nbytes for array in self.table)


class OptBandit(OptimalBooster, BanditBooster):
    """Boost-by-majority with bandit feedback (Algorithm 2 of the paper, BanditBBM): optimal if every learner has the edge `edge`.

    Args (beyond those of all boosters):
        edge: gamma, the learners' edge over guessing.

    >>> model = OptBandit(["yes", "no", "later"], n_learners=5, edge=0.1, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.verdicts
    1
    """
