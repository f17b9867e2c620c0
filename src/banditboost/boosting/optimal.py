"""OptBandit, the paper's BanditBBM: a plain majority of learners with a known edge, costs from the potential. (Serves OptFull too.)"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.allowed import label_experts_among, show_among
from banditboost.boosting.bandit import BanditBooster
from banditboost.boosting.base import Booster, check_count, check_number
from banditboost.boosting.costs import Ballot, label_and_weight, list_active
from banditboost.boosting.divided import show_divided
from banditboost.boosting.estimate import estimate
from banditboost.boosting.experts import add_label, largest_label, slot_of
from banditboost.boosting.exploration import BY_VOTES, count_verdict, show
from banditboost.boosting.potential import PotentialTable, make_table, vote_costs
from banditboost.kernels.compile import allocating, entry, njit
from banditboost.kernels.layout import CHOSEN_EXPERT, ROUND, VOTES, Array
from banditboost.kernels.rng import EXPERT_TIE, round_key
from banditboost.kernels.votes import MOST_VOTES
from banditboost.theory import optimal_exploration


@allocating
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
    greedy = largest_label(active, n_active, sums, settings[0]["n_labels"], key, EXPERT_TIE, n - 1)
    if settings[0]["schedule"] == BY_VOTES:
        show_divided(settings, memo, greedy, active[:0], key)
    else:
        show(settings, memo, greedy, key)


@allocating
def choose_optimal_among(settings: Array, memo: Array, allowed: Array) -> None:
    """The same among some labels."""
    n = settings[0]["n_learners"]
    labels = np.empty(n, np.int64)
    for i in range(n):
        memo[VOTES + n + i] = 1.0
    label_experts_among(settings, memo, allowed, labels)
    memo[CHOSEN_EXPERT] = n - 1
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    if settings[0]["schedule"] == BY_VOTES:
        show_divided(settings, memo, labels[n - 1], allowed, key)
    else:
        show_among(settings, memo, labels[n - 1], allowed, key)


class Count(NamedTuple):
    """The votes of a round so far, and what they cost: by slot, and by how many labels have how many votes."""

    counts: Array
    histogram: Array
    by_count: Array
    vector: Array


@allocating
def no_counts(n_learners: int, n_active: int, n_labels: int) -> Count:
    histogram = np.zeros(n_learners + 2, np.int64)
    histogram[0] = n_labels
    return Count(np.zeros(n_active + 1, np.int64), histogram, np.empty(n_learners + 2), np.empty(n_active + 1))


@njit
def count_vote(votes: Count, slot: int) -> None:
    votes.histogram[votes.counts[slot]] -= 1
    votes.counts[slot] += 1
    votes.histogram[votes.counts[slot]] += 1


@njit
def potential_costs(table: PotentialTable, votes: Count, ballot: Ballot, n_votes: int, mix: Array) -> None:
    """Learner i's cost vector chat = C (1 - lhat) with C[l, r] = phi^r_{N-i}(s^{i-1} + e_l), equation (9)."""
    two = ballot.second != ballot.first
    second = votes.counts[ballot.second] if two else -1
    first_cost, second_cost = vote_costs(table, votes.histogram, n_votes, votes.counts[ballot.first], second, mix, votes.by_count)
    for slot in range(votes.counts.size):
        votes.vector[slot] = votes.by_count[votes.counts[slot]]
    votes.vector[ballot.first] = first_cost
    if two:
        votes.vector[ballot.second] = second_cost


@allocating
def teach_optimal(settings: Array, table: PotentialTable, memo: Array, outcome: int, labels: Array, importance: Array) -> None:
    """Lines 12 to 15."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    of = estimate(settings, memo, outcome)
    count_verdict(settings, memo, outcome)
    active = np.empty(n + 2, np.int64)
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    first = slot_of(active, n_active, of.first)
    ballot = Ballot(active, n_active, first, slot_of(active, n_active, of.second) if of.second >= 0 else first)
    votes = no_counts(n, ballot.n_active, settings[0]["n_labels"])
    mix = np.array([of.base, of.first_extra, of.second_extra])
    if ballot.second == ballot.first:
        mix[1] += of.second_extra
    for i in range(n):
        potential_costs(table, votes, ballot, i, mix)
        labels[i], importance[i] = label_and_weight(votes.vector, ballot, settings, of.right, key, i)
        count_vote(votes, slot_of(ballot.active, ballot.n_active, int(memo[VOTES + i])))


@entry
def choose_once(settings: Array, memo: Array) -> None:
    choose_optimal(settings, memo)


@entry
def teach_once(settings: Array, table: PotentialTable, memo: Array, outcome: int, labels: Array, importance: Array) -> None:
    teach_optimal(settings, table, memo, outcome, labels, importance)


class OptimalBooster(Booster):
    """A plain majority of learners whose edge over guessing is known."""

    def __init__(self, labels: Iterable[Hashable], *, edge: float = 0.1, **parameters: Any) -> None:
        self.edge = check_number("edge", edge, 0.0, 1.0)
        check_count("n_learners", parameters.get("n_learners", 20), 1, MOST_VOTES)
        super().__init__(labels, **parameters)

    def _start(self) -> None:
        super()._start()
        self._settings["edge"] = self.edge
        self._weights = np.ones(self.n_learners)
        self.table = make_table(self.n_learners, len(self.labels), self.edge)

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "edge": self.edge}

    def _kept(self) -> dict[str, Any]:
        """Without the table: it is large, and made again with the same values."""
        return {name: value for name, value in super()._kept().items() if name != "table"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.table = make_table(self.n_learners, len(self.labels), self.edge)

    def _choose(self, memo: Array) -> None:
        choose_once(self._settings, memo)

    def _choose_among(self, memo: Array, allowed: Array) -> None:
        choose_optimal_among(self._settings, memo, allowed)

    def _follow_labels(self) -> None:
        super()._follow_labels()
        self.table = make_table(self.n_learners, len(self.labels), self.edge)

    def _teach(self, memo: Array, outcome: int, allowed: Array | None) -> None:  # noqa: ARG002 (no expert but the last is judged)
        teach_once(self._settings, self.table, memo, outcome, *self._lesson)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + sum(array.nbytes for array in self.table)


class OptBandit(OptimalBooster, BanditBooster):
    """Boost-by-majority with bandit feedback (Algorithm 2 of the paper, BanditBBM): optimal if every learner has the edge `edge`.

    Args:
        labels: what can be shown.
        edge: gamma, the learners' edge over guessing.
        parameters: those that all boosters share.

    >>> model = OptBandit(["yes", "no", "later"], n_learners=5, edge=0.1, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.verdicts
    1
    """

    learners_vote = True

    def _suggested_rate(self, edge: float) -> tuple[float, float]:  # noqa: ARG002 (Theorem 3.2's rate does not hang on it)
        return optimal_exploration(len(self.labels), self.n_learners, rounds=1).rate, 0.5
