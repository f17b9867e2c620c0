"""MixFull and MixBandit, the two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.boosting.adaptive import AdaBandit, AdaptiveBooster
from banditboost.boosting.full_information import AdaFull
from banditboost.boosting.mixture.chain import EQUAL, ask_expert, ask_experts
from banditboost.boosting.mixture.density import (
    LARGEST,
    NARROWEST,
    RULE,
    densities_of,
    mean_weights,
    uniform_densities,
)
from banditboost.boosting.mixture.round import MixtureLearned, MixtureState, choose, teach, witness
from banditboost.boosting.round import Round
from banditboost.decision import Decision
from banditboost.errors import DecisionError
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import CHOSEN_EXPERT, LEAST_PROBABILITY, ROUND, VOTES
from banditboost.types import Array


class MixtureBooster(AdaptiveBooster):
    """A density over each learner's weight, expert weights v by Hedge."""

    compiled_round = Round(choose, teach, witness=witness)

    def _start(self) -> None:
        super()._start()
        self._densities = uniform_densities(self.n_learners)

    def learned(self) -> Any:
        """Counts, tally, the mean weights of learners, the weights of experts, and the densities."""
        return MixtureLearned(*self.counted(), self._weights, self._densities)

    def _state(self) -> MixtureState:
        return MixtureState(**super()._state()._asdict(), rule=RULE)

    def _arrays(self) -> dict[str, Array]:
        kept = self._densities
        return {**super()._arrays(), "densities": kept.losses, "windows": kept.windows}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        losses = take_array(arrays, "densities", np.float64, self._densities.losses.shape)
        windows = take_array(arrays, "windows", np.float64, self._densities.windows.shape)
        low, high = windows.T
        demand((losses >= 0.0) & (losses <= self._farthest()), "a loss of a weight is out of range")
        demand(losses.min(axis=1) == 0.0, "no weight of a learner is the best")
        demand((low >= -LARGEST) & (high <= LARGEST), "a window of weights is out of range")
        demand(high - low >= NARROWEST, "a window of weights is too narrow")
        self._densities = densities_of(losses, windows)
        off = self._weights[: self.n_learners] - mean_weights(self._densities)
        demand(np.abs(off) <= EQUAL, "a weight of a learner is not the mean of its density")

    def _scores_of(self, memo: Array) -> Array:
        """softmax(s^i) of the expert i that is asked."""
        shares = np.empty(len(self.labels))
        ask_expert(self._settings, memo, int(memo[CHOSEN_EXPERT]), shares)
        return shares

    def _farthest(self) -> float:
        """How far apart losses of two weights can be: 4 (|W| + |w|) a verdict, each at most (k + 3) / p."""
        return 8.0 * (len(self.labels) + 3.0) * self._counted.verdicts / LEAST_PROBABILITY

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + sum(array.nbytes for array in self._densities)


class MixFull(MixtureBooster, AdaFull):
    """Adaboost.OLM++: boosting by improper logistic regression, with full information.

    Foster, Kale, Luo, Mohri and Sridharan, *Logistic Regression: The Importance of Being Improper*, COLT
    2018. The weight of each learner is a mixture over all of [-2, 2], where AdaFull steps along a gradient.

    Args:
        labels: what can be predicted.
        n_learners: N, how many weak learners vote.
        weak_learner: a HoeffdingTree, or what makes objects with `predict` and `learn` or
            `learn_costs`; None is the default tree.
        schema: features, if they are to be declared.
        clip: the largest difference between two costs that counts; with lesson "text", the largest cost. None
            is no limit.
        lesson: how a cost vector becomes the label and weight that a tree is taught, as in `AdaFull`.
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = MixFull(["yes", "no"], n_learners=5, seed=1)
    >>> for _ in range(10):
    ...     model.learn_one({"age": 31}, "no")
    ...     model.learn_one({"age": 64}, "yes")
    >>> sum(model.predict_one({"age": age}) == right for age, right in ((31, "no"), (64, "yes")))
    2
    """

    def _step(self) -> float:
        return 1.0

    def _label_shares(self, memo: Array) -> Array:
        labels = np.empty(self.n_learners, np.int64)
        ask_experts(self._settings, memo, self.seed, labels)
        return self._shares_of(labels)


class MixBandit(MixtureBooster, AdaBandit):
    """Adaboost.OLM++ with bandit feedback: MixFull, with an estimate in the place of the right label.

    As AdaBandit is to AdaFull: losses and costs are those of the estimate, equation (3) or (4) of Zhang, Jung
    and Tewari (2019), and labels are explored. Neither of the two papers has it.

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
        lesson: how a cost vector becomes the label and weight that a tree is taught, as in `AdaBandit`.
        importance_scale: what the weights of examples are multiplied by.
        tie_tolerance: how far apart costs may be that count as equal.
        max_memory: bytes; leaves that have least to win fall asleep at this ceiling.
        seed: of all random numbers; None takes one from the system.

    >>> model = MixBandit(["sports", "politics", "science"], n_learners=5, seed=7)
    >>> decision = model.decide({"hour": 21, "device": "phone"})
    >>> model.learn(decision, correct=True)
    >>> model.rounds
    1
    """

    def _step(self) -> float:
        return len(self.labels) ** -1.5

    def _suggested_rate(self, edge: float) -> None:  # noqa: ARG002 (Theorem 3.3 is about AdaBandit)
        return None

    def _check_memo(self, decision: Decision) -> None:
        super()._check_memo(decision)
        n, memo = self.n_learners, decision._head()
        if np.abs(memo[VOTES + n : VOTES + 2 * n]).max() > LARGEST + EQUAL:
            raise DecisionError(
                f"the decision of round {memo[ROUND]:g} does not fit this model: a learner's weight is not "
                "in [-2, 2]; give the decision that the model made"
            )
