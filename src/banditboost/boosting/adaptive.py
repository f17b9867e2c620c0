"""AdaBandit: learner weights by gradient steps on the logistic loss, an expert drawn by Hedge. (Its compiled steps also serve AdaFull.)"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.boosting.allowed import label_experts_among, show_among
from banditboost.boosting.bandit import BanditBooster
from banditboost.boosting.base import Booster
from banditboost.boosting.costs import (
    add_vote,
    estimated_costs,
    label_and_weight,
    list_active,
    no_votes,
    open_ballot,
    zeros_for,
)
from banditboost.boosting.divided import show_divided
from banditboost.boosting.estimate import Estimate, estimate, estimated_loss
from banditboost.boosting.experts import add_votes, draw_expert, expert_labels, expert_labels_within, slot_of
from banditboost.boosting.exploration import BY_VOTES, count_verdict, show
from banditboost.boosting.state import SETTINGS
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.kernels.compile import allocating, entry, inlined, machine_code, njit
from banditboost.kernels.entry import SPACED_ROW, open_memo
from banditboost.kernels.forest import learn_forest, vote_forest
from banditboost.kernels.layout import CHOSEN_EXPERT, RATE, ROUND, SHOWN, VOTES, Array
from banditboost.kernels.places import FLOAT, INT, array_at, forest_at, places_of
from banditboost.kernels.rng import EXPERT, round_key, uniform
from banditboost.kernels.tally import note_verdict
from banditboost.theory import adaptive_exploration
from banditboost.weak_learners.forest import TreeCommittee

_LARGEST_WEIGHT = 2.0  # the feasible set F = [-2, 2]


@inlined
def label_experts(settings: Array, memo: Array, active: Array, n_active: int, sums: Array, labels: Array) -> None:
    """yhat^j of every expert of a round, from the votes and alphas in its memo."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    votes, alphas = memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n]
    expert_labels_within(votes, alphas, active, n_active, sums, settings[0]["n_labels"], key, labels)


@njit
def ask_experts(settings: Array, memo: Array, labels: Array) -> None:
    """The same for a look at them alone."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    expert_labels(memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n], settings[0]["n_labels"], key, labels)


@allocating
def choose_adaptive(settings: Array, weights: Array, memo: Array) -> None:
    """Lines 6 to 10. `weights` holds alpha^1 .. alpha^N and then ln v^1 .. ln v^N."""
    choose_within(settings, weights, memo, np.zeros(3 * settings[0]["n_learners"]))


@inlined
def choose_within(settings: Array, weights: Array, memo: Array, numbers: Array) -> None:
    """The same, with zeros to work with: where arrays are made, references to all their parts would be counted."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    sums, whole = numbers[:n], numbers[n:].view(np.int64)
    labels, active = whole[:n], whole[n:]
    for i in range(n):
        memo[VOTES + n + i] = weights[i]
    label_experts(settings, memo, active, add_votes(memo[VOTES : VOTES + n], active, 0), sums, labels)
    expert = draw_expert(weights[n:], uniform(key, EXPERT, 0))
    memo[CHOSEN_EXPERT] = expert
    if settings[0]["schedule"] == BY_VOTES:
        show_divided(settings, memo, labels[expert], labels[:0], key)
    else:
        show(settings, memo, labels[expert], key)


@allocating
def choose_adaptive_among(settings: Array, weights: Array, memo: Array, allowed: Array) -> None:
    """The same among some labels."""
    n = settings[0]["n_learners"]
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    labels = np.empty(n, np.int64)
    for i in range(n):
        memo[VOTES + n + i] = weights[i]
    label_experts_among(settings, memo, allowed, labels)
    expert = draw_expert(weights[n:], uniform(key, EXPERT, 0))
    memo[CHOSEN_EXPERT] = expert
    if settings[0]["schedule"] == BY_VOTES:
        show_divided(settings, memo, labels[expert], allowed, key)
    else:
        show_among(settings, memo, labels[expert], allowed, key)


@inlined
def update_hedge(log_weights: Array, labels: Array, of: Estimate) -> None:
    """Line 17: v^i <- v^i exp(-lhat of expert i's label), in logarithms, the largest brought back to 0."""
    largest = -math.inf
    for i in range(log_weights.size):
        log_weights[i] -= estimated_loss(of, labels[i])
        largest = max(largest, log_weights[i])
    for i in range(log_weights.size):
        log_weights[i] -= largest


@inlined
def update_alpha(alpha: float, rate: float, gradient: float) -> float:
    """Equation (11): a gradient step, projected onto [-2, 2]."""
    return max(-_LARGEST_WEIGHT, min(_LARGEST_WEIGHT, alpha - rate * gradient))


@inlined
def step_size(settings: Array, memo: Array) -> float:
    """eta_t = rho / (k^2 sqrt(t)), or with full information 2 sqrt(2) / ((k - 1) sqrt(t)); t counts the verdicts.

    A rate that follows from the votes is large where they are divided; steps with it made accuracy worse, and the least rate is taken.
    """
    eta: float = settings[0]["step"] / math.sqrt(settings[0]["verdicts"])
    if settings[0]["full_information"] != 0:
        return eta
    return eta * (settings[0]["least_rate"] if settings[0]["schedule"] == BY_VOTES else memo[RATE])


@inlined
def teach_learners(
    settings: Array, weights: Array, memo: Array, of: Estimate, active: Array, zeros: Array, labels: Array, importance: Array
) -> None:
    """Lines 13 to 15, learner by learner: its lesson from the votes before it, then its own vote and its alpha."""
    n, n_labels = settings[0]["n_learners"], settings[0]["n_labels"]
    ballot, costs = open_ballot(active, active.size, of.first, of.second), no_votes(active.size, n_labels, zeros)
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    eta = step_size(settings, memo)
    estimated_costs(costs, ballot, of, n_labels)
    for i in range(n):
        labels[i], importance[i] = label_and_weight(costs.vector, ballot, settings, of.right, key, i)
        mine = slot_of(ballot.active, ballot.n_active, int(memo[VOTES + i]))
        add_vote(costs, mine, memo[VOTES + n + i])
        estimated_costs(costs, ballot, of, n_labels)
        # With learner i's vote added, its own entry of the cost vector is the derivative of f-hat^i at alpha^i.
        weights[i] = update_alpha(weights[i], eta, costs.vector[mine])


@allocating
def teach_adaptive(settings: Array, weights: Array, memo: Array, outcome: int, labels: Array, importance: Array) -> None:
    """Lines 12 to 15 and 17, with the votes and alphas of the moment of the decision."""
    n = settings[0]["n_learners"]
    of = estimate(settings, memo, outcome)
    whole = np.empty(2 * n + 2, np.int64)
    expert, active = whole[:n], whole[n:]
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    numbers = zeros_for(n_active)
    label_experts(settings, memo, active, n_active, numbers[0], expert)
    numbers[0] = 0.0
    count_verdict(settings, memo, outcome)
    update_hedge(weights[n:], expert, of)
    teach_learners(settings, weights, memo, of, active[:n_active], numbers, labels, importance)


@allocating
def teach_adaptive_among(
    settings: Array, weights: Array, memo: Array, outcome: int, allowed: Array, labels: Array, importance: Array
) -> None:
    """The same for a decision among some labels."""
    n = settings[0]["n_learners"]
    of = estimate(settings, memo, outcome)
    expert, active = np.empty(n, np.int64), np.empty(n + 2, np.int64)
    label_experts_among(settings, memo, allowed, expert)
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    count_verdict(settings, memo, outcome)
    update_hedge(weights[n:], expert, of)
    teach_learners(settings, weights, memo, of, active[:n_active], zeros_for(n_active), labels, importance)


@entry
def decide_with_trees(places: Array, row: Array, round_: int, memo: Array) -> int:
    """Lines 4 to 10 in one call, for a call from Python costs as much as the work of some trees. Returns as `_run`."""
    forest, settings, weights = forest_at(places), array_at(places, 7, SETTINGS), array_at(places, 8, FLOAT)
    n = settings[0]["n_learners"]
    start = VOTES + 2 * n
    bad = open_memo(forest.features, row, round_, memo, start)
    if bad >= 0:
        return -1 - bad
    vote_forest(forest, memo[start:], round_key(settings[0]["seed"], round_), memo[VOTES : VOTES + n])
    choose_adaptive(settings, weights, memo)
    return int(memo[SHOWN])


@entry
def learn_with_trees(places: Array, memo: Array, outcome: int) -> int:
    """Lines 12 to 17 and the tally in one call; how many trees were taught before more room was needed.

    -1, and nothing was done, if features have joined since the decision.
    """
    forest, settings, weights = forest_at(places), array_at(places, 7, SETTINGS), array_at(places, 8, FLOAT)
    tally, labels, importance = array_at(places, 9, FLOAT), array_at(places, 10, INT), array_at(places, 11, FLOAT)
    start = VOTES + 2 * settings[0]["n_learners"]
    if memo.size != start + forest.features.size:
        return -1
    teach_adaptive(settings, weights, memo, outcome, labels, importance)
    note_verdict(settings, tally, memo, outcome)
    return learn_forest(forest, 0, memo[start:], labels, importance, 0)


class _Call:
    """One of the calls above, with the arrays of a model and of its forest; a forest that has grown has other arrays."""

    __slots__ = ("code", "committee", "forest", "own", "places")

    def __init__(self, kernel: Callable[..., int], committee: TreeCommittee, own: tuple[Array, ...], others: tuple[Any, ...]) -> None:
        self.committee, self.forest, self.own = committee, committee.forest, own  # kept, for their addresses are handed over
        self.places = places_of((*committee.forest, *own))
        self.code = machine_code(kernel, (self.places, *others))


class AdaptiveBooster(Booster):
    """Learner weights alpha by gradient steps, expert weights v by Hedge."""

    # Bound apart from each other: a first decision need not wait for what learning takes to compile.
    _to_decide: _Call | None = None
    _to_learn: _Call | None = None

    def _start(self) -> None:
        super()._start()
        self._settings["step"] = self._step()
        self._weights = np.zeros(2 * self.n_learners)

    def _follow_labels(self) -> None:
        super()._follow_labels()
        self._settings["step"] = self._step()
        self._bind_anew()

    def _step(self) -> float:
        """What eta_t is before it is divided by sqrt(t)."""
        raise NotImplementedError

    def _choose(self, memo: Array) -> None:
        choose_adaptive(self._settings, self._weights, memo)

    def _choose_among(self, memo: Array, allowed: Array) -> None:
        choose_adaptive_among(self._settings, self._weights, memo, allowed)

    def _teach(self, memo: Array, outcome: int, allowed: Array | None) -> None:
        if allowed is None:
            teach_adaptive(self._settings, self._weights, memo, outcome, *self._lesson)
        else:
            teach_adaptive_among(self._settings, self._weights, memo, outcome, allowed, *self._lesson)

    def _run(self, row: Array, round_: int, memo: Array, allowed: Array | None) -> int:
        call = self._to_decide
        if allowed is None and call is not None and call.forest is call.committee.forest:
            return call.code(call.places, row, round_, memo)
        if allowed is not None or not isinstance(self._committee, TreeCommittee):
            return super()._run(row, round_, memo, allowed)
        own = self._settings, self._weights
        call = self._to_decide = _Call(decide_with_trees, self._committee, own, (SPACED_ROW, 0, self._blank))
        return call.code(call.places, row, round_, memo)

    def _hear(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:
        call = self._to_learn
        if allowed is not None or call is None or call.forest is not call.committee.forest:
            if allowed is not None or not isinstance(self._committee, TreeCommittee):
                super()._hear(memo, outcome, allowed)
                return
            own = self._settings, self._weights, self._tally, *self._lesson
            call = self._to_learn = _Call(learn_with_trees, self._committee, own, (self._blank, 0))
        done = call.code(call.places, memo, outcome)
        if done < 0:
            super()._hear(memo, outcome)
        elif done < self.n_learners:
            call.committee.learn_rest(memo[self._row_start :], *self._lesson, done)

    def _bind_anew(self) -> None:
        """Whoever replaces an array of the booster itself calls this; a forest that has grown is noticed."""
        self._to_decide = self._to_learn = None

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "_to_decide": None, "_to_learn": None}

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._weights}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        weights = take_array(arrays, "weights", np.float64, self._weights.shape)
        alphas, logs = weights[: self.n_learners], weights[self.n_learners :]
        if not np.all(np.isfinite(weights)) or np.any(np.abs(alphas) > _LARGEST_WEIGHT) or np.any(logs > 0.0):
            raise UnreadableError("a weight of a learner or an expert is out of range; load an intact copy")
        self._weights = weights
        self._bind_anew()

    @property
    def alphas(self) -> Array:
        """The weight alpha^i of every learner, in [-2, 2]."""
        with self._lock:
            return self._weights[: self.n_learners].copy()

    @property
    def expert_weights(self) -> Array:
        """The probability with which each expert is drawn."""
        with self._lock:
            weights = np.exp(self._weights[self.n_learners :])
        return np.asarray(weights / weights.sum())


class AdaBandit(AdaptiveBooster, BanditBooster):
    """Adaptive boosting with bandit feedback (Algorithm 3 of the paper): nothing need be known about the weak learners.

    >>> model = AdaBandit(["sports", "politics", "science"], n_learners=5, seed=7)
    >>> decision = model.decide({"hour": 21, "device": "phone"})
    >>> model.learn(decision, correct=True)
    >>> model.rounds
    1
    """

    learners_vote = True

    def _step(self) -> float:
        return 1.0 / len(self.labels) ** 2

    def _suggested_rate(self, edge: float) -> tuple[float, float]:
        return adaptive_exploration(len(self.labels), [edge] * self.n_learners, rounds=1).rate, 1.0 / 3.0
