"""Epsilon-greedy over Hoeffding trees that learn "was this label right?": one for each label, or a bag of
them. No boosting.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.boosting.binary import BinaryBooster, choose, first_learner
from banditboost.boosting.exploration import count_verdict
from banditboost.boosting.round import Round
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import uniform
from banditboost.io.values import demand
from banditboost.models.model import MEBIBYTE
from banditboost.rewards import UNIT
from banditboost.rows.schema import Schema
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree

BAG = 20
"""Purpose of the keyed numbers that become Poisson(1) weights: round of the decision, index of the tree."""
TREE = HoeffdingTree(grace_period=10.0, split_confidence=0.1, tie_threshold=0.3)
"""What the trees are, unless something else is asked for."""
_ROUNDING = 1e-9  # logarithms differ in the last digit from machine to machine
_PARAMETERS = ("n_learners", "weak_learner", "rewards", "max_memory", "seed", "exploration")


@kernel
def poisson(u: float) -> int:
    """The number n with P(N < n) <= u < P(N <= n), N being Poisson(1)."""
    n, share = 0, math.exp(-1.0)
    below = share
    while u >= below and share > 0.0:
        n += 1
        share /= n
        below += share
    return n


@kernel
def teach(model: Any, memo: Array, feedback: int, key: int) -> None:  # noqa: ARG001 (nothing is drawn)
    """Teach the verdict itself, with weight 1."""
    labels, importance = model.scratch.labels, model.scratch.importance
    count_verdict(model.settings, model.learned.counts, memo, feedback)
    for i in range(labels.size):
        labels[i], importance[i] = feedback, 1.0


@kernel
def teach_bag(model: Any, memo: Array, feedback: int, key: int) -> None:
    """Teach the verdict itself, with a Poisson(1) weight for each tree of the bag."""
    labels, importance = model.scratch.labels, model.scratch.importance
    count_verdict(model.settings, model.learned.counts, memo, feedback)
    for i in range(labels.size):
        labels[i], importance[i] = feedback, float(poisson(uniform(key, BAG, i)))


class _EpsilonGreedy(BinaryBooster):
    """Groups of binary learners with equal weights: the label with the largest mean score is greedy."""

    labels_are_fixed = True
    weighs_by_probability = False

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if name in _PARAMETERS}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        alike = np.abs(self._log_alphas + math.log(self.n_learners)) <= _ROUNDING
        demand(alike, "the learners of a group do not weigh the same")


class EpsilonGreedyTree(_EpsilonGreedy):
    """Epsilon-greedy over one Hoeffding tree for each label, which estimates how probable it is that the
    label is right.

    Only the tree of the shown label hears the verdict, with weight 1: for its question the verdict is the
    whole answer, however probable the label was. A label that was never shown counts as right with
    probability 1/2.

    Args:
        labels, schema, rewards, max_memory, seed: as for the boosters.
        exploration: share of rounds in which another label is tried.
        weak_learner: the tree; None is HoeffdingTree(grace_period=10, split_confidence=0.1,
            tie_threshold=0.3).

    >>> model = EpsilonGreedyTree(["yes", "no", "later"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.n_groups
    1
    """

    compiled_round = Round(choose, teach, first_learner=first_learner)

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float = 0.05,
        weak_learner: Any = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        learner = TREE if weak_learner is None else weak_learner
        super().__init__(
            labels,
            n_learners=1,
            exploration=exploration,
            weak_learner=learner,
            schema=schema,
            rewards=rewards,
            max_memory=max_memory,
            seed=seed,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if name != "n_learners"}


class EpsilonGreedyForest(_EpsilonGreedy):
    """Epsilon-greedy over `n_learners` bagged Hoeffding trees for each label (online bagging of Oza and
    Russell 2001).

    As EpsilonGreedyTree, but each tree of the shown label hears the verdict with a Poisson(1) weight of its
    own, drawn by a keyed number, and a label's score is the mean over its trees.

    Args:
        labels, schema, rewards, max_memory, seed: as for the boosters.
        n_learners: trees for each label.
        exploration: share of rounds in which another label is tried.
        weak_learner: the trees; None is as for EpsilonGreedyTree.

    >>> model = EpsilonGreedyForest(["yes", "no", "later"], n_learners=5, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.n_groups
    1
    """

    compiled_round = Round(choose, teach_bag, first_learner=first_learner)

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 10,
        exploration: float = 0.05,
        weak_learner: Any = None,
        schema: Schema | None = None,
        rewards: tuple[float, float] = UNIT,
        max_memory: int = 256 * MEBIBYTE,
        seed: int | None = None,
    ) -> None:
        learner = TREE if weak_learner is None else weak_learner
        super().__init__(
            labels,
            n_learners=n_learners,
            exploration=exploration,
            weak_learner=learner,
            schema=schema,
            rewards=rewards,
            max_memory=max_memory,
            seed=seed,
        )
