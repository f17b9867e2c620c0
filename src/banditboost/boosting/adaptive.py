"""AdaBandit (Algorithm 3): learner weights by gradient steps on the logistic loss, an expert drawn by Hedge.

AdaFull shares its round.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from banditboost.boosting.booster import BanditBooster, CostBooster
from banditboost.boosting.costs import (
    add_vote,
    estimated_costs,
    label_and_weight,
    list_active,
    no_votes,
    open_ballot,
    suffer,
    zeros_for,
)
from banditboost.boosting.divided import show_by_schedule
from banditboost.boosting.edges import note_edges
from banditboost.boosting.estimate import Estimate, estimate, estimated_loss
from banditboost.boosting.experts import (
    add_votes,
    draw_expert,
    expert_labels,
    expert_labels_among,
    expert_labels_within,
    slot_of,
)
from banditboost.boosting.exploration import SCHEDULE_BY_VOTES, allowed_labels, count_verdict
from banditboost.boosting.rated import Rated
from banditboost.boosting.round import Round
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPERT, round_key, uniform
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import CHOSEN_EXPERT, LEAST_PROBABILITY, RATE, ROUND, VOTES
from banditboost.models.locking import locked
from banditboost.models.model import MEBIBYTE, Witnessed
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.schedules import Schedule
from banditboost.theory import WeakLearningCondition, adaptive_exploration
from banditboost.trees.forest import vote_forest
from banditboost.types import Array, Record

_LARGEST_WEIGHT = 2.0  # the feasible set F = [-2, 2]


class AdaptiveLearned(NamedTuple):
    """What an adaptive booster has learned, besides its trees."""

    counts: Record
    tally: Array
    weights: Array  # alpha^1 .. alpha^N, then ln v^1 .. ln v^N


@inlined
def label_experts(
    settings: Record, memo: Array, active: Array, n_active: int, sums: Array, key: int, labels: Array
) -> None:
    """yhat^j of every expert of a round, from the votes and alphas in its memo. `sums` comes with zeros."""
    n = settings.n_learners
    votes, alphas = memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n]
    expert_labels_within(votes, alphas, active, n_active, sums, settings.n_labels, key, labels)


@allocating
def choose(model: Any, memo: Array, key: int) -> None:
    """Lines 5 to 10: the trees vote, an expert is drawn, its label may give way to another one."""
    choose_within(model, memo, key, np.zeros(3 * model.settings.n_learners))


@inlined
def choose_within(model: Any, memo: Array, key: int, numbers: Array) -> None:
    """Lines 5 to 10, with zeros to work with: where arrays are made, references to all their parts would be
    counted.
    """
    settings, weights, allowed = model.settings, model.learned.weights, allowed_labels(model.scratch)
    n = settings.n_learners
    vote_forest(model.forest, memo[settings.row_start :], key, memo[VOTES : VOTES + n])
    sums, whole = numbers[:n], numbers[n:].view(np.int64)
    labels, active = whole[:n], whole[n:]
    for i in range(n):
        memo[VOTES + n + i] = weights[i]
    if allowed.size == 0:
        label_experts(
            settings, memo, active, add_votes(memo[VOTES : VOTES + n], active, 0), sums, key, labels
        )
    else:
        expert_labels_among(memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n], allowed, key, labels)
    expert = draw_expert(weights[n:], uniform(key, EXPERT, 0))
    memo[CHOSEN_EXPERT] = expert
    show_by_schedule(settings, model.learned.counts, memo, labels[expert], allowed, key)


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
def step_size(settings: Record, counts: Record, memo: Array) -> float:
    """eta_t = rho / (k^2 sqrt(t)), or with full information 2 sqrt(2) / ((k - 1) sqrt(t)); t counts the
    verdicts.

    A rate that follows from the votes is large where they are divided; steps with it made accuracy worse, and
    the least rate is taken.
    """
    eta: float = settings.step / math.sqrt(counts.verdicts - counts.began)
    if settings.full_information != 0:
        return eta
    return eta * (settings.least_rate if settings.schedule == SCHEDULE_BY_VOTES else memo[RATE])


@inlined
def teach_learners(model: Any, memo: Array, of: Estimate, active: Array, zeros: Array, key: int) -> None:
    """Lines 13 to 15, learner by learner: its lesson from the votes before it, then its own vote and its
    alpha.
    """
    settings, weights, scratch = model.settings, model.learned.weights, model.scratch
    n, n_labels = settings.n_learners, settings.n_labels
    suffered, vectors = scratch.suffered, scratch.costs
    ballot, costs = (
        open_ballot(active, active.size, of.first, of.second),
        no_votes(active.size, n_labels, zeros),
    )
    eta = step_size(settings, model.learned.counts, memo)
    estimated_costs(costs, ballot, of, n_labels)
    for i in range(n):
        mine = slot_of(ballot.active, ballot.n_active, int(memo[VOTES + i]))
        suffer(suffered, vectors, costs.vector, ballot, i, mine)
        scratch.labels[i], scratch.importance[i] = label_and_weight(
            costs.vector, ballot, settings, of.right, key, i
        )
        add_vote(costs, mine, memo[VOTES + n + i])
        estimated_costs(costs, ballot, of, n_labels)
        # With learner i's vote added, its own entry of the cost vector is the derivative of f-hat^i at
        # alpha^i.
        weights[i] = update_alpha(weights[i], eta, costs.vector[mine])


@allocating
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:
    """Lines 12 to 15 and 17, with the votes and alphas of the moment of the decision."""
    settings, counts, allowed = model.settings, model.learned.counts, allowed_labels(model.scratch)
    n = settings.n_learners
    of = estimate(settings, memo, feedback)
    whole = np.empty(2 * n + 2, np.int64)
    expert, active = whole[:n], whole[n:]
    n_active = list_active(memo[VOTES : VOTES + n], of.first, of.second, active)
    numbers = zeros_for(n_active)
    if allowed.size == 0:
        label_experts(settings, memo, active, n_active, numbers[0], key, expert)
        numbers[0] = 0.0
    else:
        expert_labels_among(memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n], allowed, key, expert)
    count_verdict(settings, counts, memo, feedback)
    update_hedge(model.learned.weights[n:], expert, of)
    teach_learners(model, memo, of, active[:n_active], numbers, key)


@kernel
def ask_experts(settings: Record, memo: Array, seed: int, labels: Array) -> None:
    """The label of every expert for a memo, without choosing one (for `predict_proba_one`)."""
    n, key = settings.n_learners, round_key(seed, int(memo[ROUND]))
    expert_labels(memo[VOTES : VOTES + n], memo[VOTES + n : VOTES + 2 * n], settings.n_labels, key, labels)


@kernel
def witness(model: Any, memo: Array, right: int, sums: Array) -> None:
    """What `play` notes of a round: the sums of which empirical edges and the condition are made."""
    note_edges(model.settings, memo, right, sums)


class AdaptiveBooster(CostBooster):
    """Learner weights alpha by gradient steps, expert weights v by Hedge."""

    compiled_round = Round(choose, teach, witness=witness)

    def _start(self) -> None:
        super()._start()
        self._settings.step = self._step()
        self._weights = np.zeros(2 * self.n_learners)

    def learned(self) -> AdaptiveLearned:
        """Counts, tally, and the weights of learners and experts."""
        return AdaptiveLearned(*self.counted(), self._weights)

    def _follow_labels(self) -> None:
        super()._follow_labels()
        self._settings.step = self._step()

    def _witnessed(self, sums: Array) -> Witnessed:
        """gamma_i = sum c_h / sum c_y; and with columns that sum to 0, |d|_1 = -k c_y."""
        suffered, of_truth, least = sums
        k = len(self.labels)
        condition = WeakLearningCondition(k, suffered - of_truth, -k * of_truth, -k * least)
        return Witnessed(suffered / of_truth, condition)

    def _step(self) -> float:
        """What eta_t is before it is divided by sqrt(t)."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._weights}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        weights = take_array(arrays, "weights", np.float64, self._weights.shape)
        alphas, logs = weights[: self.n_learners], weights[self.n_learners :]
        farthest = (
            2.0 * self._counted.verdicts / LEAST_PROBABILITY
        )  # two estimated losses differ by 2 / p at most
        demand(np.abs(alphas) <= _LARGEST_WEIGHT, "a weight of a learner is out of range")
        demand((logs >= -farthest) & (logs <= 0.0), "a weight of an expert is out of range")
        demand(logs.max() == 0.0, "no weight of an expert is the largest")
        self._weights = weights

    @property
    @locked
    def alphas(self) -> Array:
        """The weight alpha^i of every learner, in [-2, 2]."""
        return self._weights[: self.n_learners].copy()

    @property
    @locked
    def expert_weights(self) -> Array:
        """The probability with which each expert is drawn."""
        weights = np.exp(self._weights[self.n_learners :])
        return np.asarray(weights / weights.sum())

    def _shares_of(self, labels: Array) -> Array:
        """With which probability the expert that is drawn says each label, from what each of them says."""
        # Shares that were added up may exceed 1 in the last bit.
        return np.minimum(np.bincount(labels, self.expert_weights, len(self.labels)), 1.0)

    def _weights_to_show(self) -> dict[str, Any]:
        experts = tuple(self.expert_weights.tolist())
        return {
            **super()._weights_to_show(),
            "alphas": tuple(self.alphas.tolist()),
            "expert_weights": experts,
        }

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._weights.nbytes


class AdaBandit(AdaptiveBooster, Rated, BanditBooster):
    """Adaptive boosting with bandit feedback: nothing need be known about the weak learners.

    Algorithm 3 of Zhang, Jung and Tewari, *Online Multiclass Boosting with Bandit Feedback*, AISTATS 2019.

    Args:
        labels: what can be shown.
        n_learners: N, how many weak learners vote.
        exploration: rho, the share of rounds in which another label than the greedy one is tried, or a
            schedule (`banditboost.schedules`).
        estimator: 3 or 4, the equation of the paper that estimates the loss.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn` or
            `learn_costs`; None is the default tree.
        schema: features, if they are to be declared.
        rewards: the least and the largest reward; a verdict counts as one of the two.
        restart_on_change: begin anew when verdicts have become worse than before (docs/guide-change.md).
        clip: the largest difference between two costs that counts; with lesson "text", the largest cost. None
            is no limit.
        lesson: how a cost vector becomes the label and weight that a tree is taught. "text" is the paper's
            appendix to the letter, "ours" learns more from an exploration that hits, "differences" is between
            the two (docs/deviations.md).
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = AdaBandit(["sports", "politics", "science"], n_learners=5, seed=7)
    >>> decision = model.decide({"hour": 21, "device": "phone"})
    >>> model.learn(decision, correct=True)
    >>> model.rounds
    1
    """

    learners_vote = True

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 20,
        exploration: float | Schedule | str = 0.05,
        estimator: int = 4,
        weak_learner: Any = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        restart_on_change: bool = False,
        clip: float | None = 100.0,
        lesson: str = "ours",
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            labels,
            n_learners=n_learners,
            exploration=exploration,
            estimator=estimator,
            weak_learner=weak_learner,
            schema=schema,
            rewards=rewards,
            restart_on_change=restart_on_change,
            clip=clip,
            lesson=lesson,
            importance_scale=importance_scale,
            tie_tolerance=tie_tolerance,
            max_memory=max_memory,
            seed=seed,
        )

    def _step(self) -> float:
        return 1.0 / len(self.labels) ** 2

    def _suggested_rate(self, edge: float) -> tuple[float, float] | None:
        return adaptive_exploration(len(self.labels), [edge] * self.n_learners, rounds=1).rate, 1.0 / 3.0
