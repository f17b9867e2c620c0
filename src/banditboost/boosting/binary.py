"""BinBandit: the bandit booster of Chen, Lin and Lu (2014), one group of N binary learners for each label.

Only the group of the shown label learns, for the verdict is a complete answer to its question "was it this label?".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.allowed import place_of, show_among
from banditboost.boosting.bandit import BanditBooster
from banditboost.boosting.base import check_number
from banditboost.boosting.experts import largest_label, slot_of
from banditboost.boosting.exploration import count_verdict, show
from banditboost.boosting.rates import least_rate
from banditboost.boosting.state import LEAST_WEIGHT
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.compile import allocating, inlined, njit
from banditboost.kernels.layout import PROBABILITY, ROUND, SHOWN, VOTES, Array
from banditboost.kernels.rng import LABEL_TIE, round_key
from banditboost.schedules import Schedule
from banditboost.weak_learners.forest import TreeCommittee

_MOST_LOG_ALPHA = 1e-6  # ln 1, and rounding


@allocating
def choose_binary(settings: Array, shown_labels: Array, groups: Array, log_alphas: Array, scores: Array, memo: Array) -> None:
    """f_a = sum_i alpha_a^i h_a^i with h = 2 score - 1, and 0 for labels never shown; the best is greedy.

    shown_labels are the labels that have a group, in increasing order, and groups the numbers of these.
    """
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    sums = np.zeros(shown_labels.size)
    for slot in range(shown_labels.size):
        sums[slot] = group_sum(log_alphas, scores, groups[slot])
    show(settings, memo, largest_label(shown_labels, shown_labels.size, sums, settings[0]["n_labels"], key, LABEL_TIE, 0), key)
    note_group(settings, shown_labels, groups, log_alphas, scores, memo)


@allocating
def choose_binary_among(
    settings: Array, shown_labels: Array, groups: Array, log_alphas: Array, scores: Array, memo: Array, allowed: Array
) -> None:
    """The same among some labels."""
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    places, sums, n_active = np.empty(shown_labels.size, np.int64), np.zeros(shown_labels.size), 0
    for slot in range(shown_labels.size):
        place = place_of(allowed, shown_labels[slot])
        if place >= 0:
            places[n_active] = place
            sums[n_active] = group_sum(log_alphas, scores, groups[slot])
            n_active += 1
    show_among(settings, memo, allowed[largest_label(places, n_active, sums, allowed.size, key, LABEL_TIE, 0)], allowed, key)
    note_group(settings, shown_labels, groups, log_alphas, scores, memo)


@inlined
def group_sum(log_alphas: Array, scores: Array, group: int) -> float:
    total = 0.0
    for i in range(scores.shape[1]):
        total += math.exp(log_alphas[group, i]) * (2.0 * scores[group, i] - 1.0)
    return total


@inlined
def note_group(settings: Array, shown_labels: Array, groups: Array, log_alphas: Array, scores: Array, memo: Array) -> None:
    """What the shown label's group answered; of one that is yet to be made, what it will begin with."""
    n = settings[0]["n_learners"]
    slot = slot_of(shown_labels, shown_labels.size, int(memo[SHOWN]))
    for i in range(n):
        fresh = slot == shown_labels.size
        memo[VOTES + i] = 0.0 if fresh else 2.0 * scores[groups[slot], i] - 1.0
        memo[VOTES + n + i] = 1.0 / n if fresh else math.exp(log_alphas[groups[slot], i])


@njit
def update_simplex(settings: Array, log_alpha: Array, memo: Array, y: int) -> None:
    """A step against the gradient of the hinge max(0, theta - y f_a) / p, multiplicative so that alpha stays on the simplex."""
    n = log_alpha.size
    total = 0.0
    for i in range(n):
        total += memo[VOTES + n + i] * memo[VOTES + i]
    if y * total >= settings[0]["edge"] / (2.0 + settings[0]["edge"]):
        return
    largest = -math.inf
    for i in range(n):
        log_alpha[i] += settings[0]["step"] * y * memo[VOTES + i] / memo[PROBABILITY]
        largest = max(largest, log_alpha[i])
    total = 0.0
    for i in range(n):
        total += math.exp(log_alpha[i] - largest)
    for i in range(n):
        log_alpha[i] -= largest + math.log(total)


@njit
def teach_binary(settings: Array, log_alpha: Array, memo: Array, outcome: int, labels: Array, importance: Array) -> None:
    """Smooth boosting within the shown label's group: learner i hears the verdict with weight min((1 - gamma)^(z_i / 2), 1) / p."""
    gamma = settings[0]["edge"]
    theta = gamma / (2.0 + gamma)
    y = 1 if outcome != 0 else -1
    count_verdict(settings, memo, outcome)
    z = 0.0
    for i in range(log_alpha.size):
        weight = min((1.0 - gamma) ** (z / 2.0), 1.0) / memo[PROBABILITY]
        weight = settings[0]["importance_scale"] * min(settings[0]["clip"], weight)
        labels[i] = 1 if outcome != 0 else 0
        importance[i] = weight if weight >= LEAST_WEIGHT else 0.0
        z = z + y * memo[VOTES + i] - theta
    update_simplex(settings, log_alpha, memo, y)


class BinBandit(BanditBooster):
    """The earlier bandit booster that the paper compares with: `n_learners` binary learners for each label that was ever shown.

    Args:
        labels: what can be shown.
        edge: gamma, the edge of the learners over guessing.
        n_learners: for each label.
        step: of the learner weights; None is delta^3 / k with delta = rho k / (k - 1).
        parameters: those that all boosters share.

    >>> model = BinBandit(["yes", "no"], n_learners=3, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=False)
    >>> model.n_groups
    1
    """

    has_groups = True

    def __init__(
        self, labels: Iterable[Hashable], *, n_learners: int = 10, edge: float = 0.1, step: float | None = None, **parameters: Any
    ) -> None:
        super().__init__(labels, n_learners=n_learners, **parameters)
        self._settings["edge"] = check_number("edge", edge, 0.0, 1.0)
        self._settings["step"] = self._usual_step(len(self.labels)) if step is None else check_number("step", step, 0.0, 1e6)

    def _usual_step(self, n_labels: int) -> float:
        delta = least_rate(self.exploration) * n_labels / (n_labels - 1)
        return delta**3 / n_labels

    def _change_exploration(self, changed: float | Schedule) -> None:
        """A step that is the usual one stays so."""
        is_usual = self._settings["step"][0] == self._usual_step(len(self.labels))
        super()._change_exploration(changed)
        if is_usual:
            self._settings["step"] = self._usual_step(len(self.labels))

    def _follow_labels(self) -> None:
        """A label's learners are made when its first verdict is learned. A step that is the usual one stays so."""
        if self._settings["step"][0] == self._usual_step(len(self.labels) - 1):
            self._settings["step"] = self._usual_step(len(self.labels))
        self._expect_learners()

    def _start(self) -> None:
        self._committee = self._make_committee(2)
        self._refuse_too_many_labels(len(self.labels))
        self._expect_learners()
        self._weights = np.zeros((0, self.n_learners))
        self._scores = np.zeros((0, self.n_learners))
        self._shown_labels = np.zeros(0, np.int64)
        self._groups = np.zeros(0, np.int64)

    def add_label(self, label: Hashable) -> None:
        """Let one more label join, if there is memory for its learners."""
        with self._lock:
            self._refuse_too_many_labels(len(self.labels) + 1)
            super().add_label(label)

    def _refuse_too_many_labels(self, n_labels: int) -> None:
        if isinstance(self._committee, TreeCommittee):
            self._committee.refuse_too_many_trees(n_labels * self.n_learners)

    def _expect_learners(self) -> None:
        """Of the labels that have none yet, too: splits leave room for them."""
        if isinstance(self._committee, TreeCommittee):
            self._committee.expect(len(self.labels) * self.n_learners)

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "edge": float(self._settings["edge"][0]), "step": float(self._settings["step"][0])}

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._weights, "shown_labels": self._shown_labels, "groups": self._groups}

    def _restore(self, arrays: dict[str, Array]) -> None:
        shown = take_array(arrays, "shown_labels", np.int64, (None,))
        groups = take_array(arrays, "groups", np.int64, shown.shape)
        weights = take_array(arrays, "weights", np.float64, (len(shown), self.n_learners))
        in_order = np.all(np.diff(shown) > 0) and np.all((shown >= 0) & (shown < len(self.labels)))
        if not in_order or not np.array_equal(np.sort(groups), np.arange(len(groups))):
            raise UnreadableError("the groups of learners do not fit the labels; load an intact copy")
        if not np.all(np.isfinite(weights)) or np.any(weights > _MOST_LOG_ALPHA):
            raise UnreadableError("a weight of a learner is out of range; load an intact copy")
        self._shown_labels, self._groups, self._weights, self._scores = shown, groups, weights, np.zeros_like(weights)
        super()._restore(arrays)

    def _n_learners_made(self) -> int:
        return self.n_groups * self.n_learners

    @property
    def n_groups(self) -> int:
        """Labels that have been shown and heard of, each with its own learners."""
        return len(self._groups)

    @property
    def groups(self) -> tuple[Array, Array, Array]:
        """Labels that have a group, in increasing order; the numbers of these groups; room for their scores."""
        return self._shown_labels, self._groups, self._scores

    def _n_votes(self) -> int:
        return 0

    def _vote(self, memo: Array) -> None:
        self._committee.score(memo[self._row_start :], self._scores)

    def _choose(self, memo: Array) -> None:
        choose_binary(self._settings, self._shown_labels, self._groups, self._weights, self._scores, memo)

    def _choose_among(self, memo: Array, allowed: Array) -> None:
        choose_binary_among(self._settings, self._shown_labels, self._groups, self._weights, self._scores, memo, allowed)

    def _hear(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:
        self.group_of(int(memo[SHOWN]))  # first of all: it stays, also if one of its learners fails
        super()._hear(memo, outcome, allowed)

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (the shown label's group alone is taught)
        group = self.group_of(int(memo[SHOWN]))
        teach_binary(self._settings, self._weights[group], memo, outcome, *self._lesson)
        self._committee.learn(self._row_of(memo), *self._lesson, group * self.n_learners)

    def _made_group(self, label: int) -> int:
        place = int(np.searchsorted(self._shown_labels, label))
        return int(self._groups[place]) if place < self.n_groups and self._shown_labels[place] == label else -1

    def group_of(self, label: int) -> int:
        """The label's group, made when its first verdict is learned."""
        made = self._made_group(label)
        if made >= 0:
            return made
        self._committee.add(self.n_learners)
        place = int(np.searchsorted(self._shown_labels, label))
        self._shown_labels = np.insert(self._shown_labels, place, label)
        self._groups = np.insert(self._groups, place, self.n_groups)
        self._weights = np.vstack([self._weights, np.full((1, self.n_learners), -math.log(self.n_learners))])
        self._scores = np.zeros_like(self._weights)
        return self.n_groups - 1
