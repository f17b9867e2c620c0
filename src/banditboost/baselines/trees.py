"""Epsilon-greedy over Hoeffding trees that learn "was this label right?": one for each label, or a bag of them. No boosting."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

from banditboost.baselines.base import Array, Baseline
from banditboost.boosting.binary import BinBandit
from banditboost.boosting.exploration import count_verdict
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import round_key, uniform
from banditboost.rows.schema import Schema
from banditboost.trees.layout import ROUND, SHOWN
from banditboost.weak_learners.hoeffding import HoeffdingTree

BAG = 20
"""Purpose of the keyed numbers that become Poisson(1) weights: round of the decision, index of the tree."""
TREE = HoeffdingTree(grace_period=10.0, split_confidence=0.1, tie_threshold=0.3)
"""What the trees are, unless something else is asked for."""
_PARAMETERS = ("n_learners", "weak_learner", "max_memory", "seed", "exploration")


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
def teach_verdict(
    settings: Array, memo: Array, outcome: int, bagged: bool, labels: Array, importance: Array
) -> None:
    """The verdict itself, with weight 1, or Poisson(1) for each tree of a bag."""
    count_verdict(settings, memo, outcome)
    key = round_key(settings[0]["seed"], int(memo[ROUND]))
    for i in range(labels.size):
        labels[i] = outcome
        importance[i] = float(poisson(uniform(key, BAG, i))) if bagged else 1.0


class _EpsilonGreedy(Baseline, BinBandit):
    """BinBandit's groups of binary learners with equal weights: the label with the largest mean score is greedy."""

    bagged: bool

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if name in _PARAMETERS}

    def _end_round(self, memo: Array, outcome: int, allowed: Array | None = None) -> None:  # noqa: ARG002 (all labels are)
        group = self.group_of(int(memo[SHOWN]))
        teach_verdict(self._settings, memo, outcome, self.bagged, *self._lesson)
        self._committee.learn(self._row_of(memo), *self._lesson, group * self.n_learners)


class EpsilonGreedyTree(_EpsilonGreedy):
    """Epsilon-greedy over one Hoeffding tree for each label, which estimates how probable it is that the label is right.

    Only the tree of the shown label hears the verdict, with weight 1: for its question the verdict is the whole answer, however probable
    the label was. A label that was never shown counts as right with probability 1/2.

    Args:
        labels, schema, max_memory, seed: as for the boosters.
        exploration: share of rounds in which another label is tried.
        weak_learner: the tree; None is HoeffdingTree(grace_period=10, split_confidence=0.1, tie_threshold=0.3).

    >>> model = EpsilonGreedyTree(["yes", "no", "later"], seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.n_groups
    1
    """

    bagged = False

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        exploration: float = 0.05,
        weak_learner: Any = None,
        schema: Schema | None = None,
        max_memory: int = 1 << 28,
        seed: int | None = None,
    ) -> None:
        learner = TREE if weak_learner is None else weak_learner
        super().__init__(
            labels,
            n_learners=1,
            exploration=exploration,
            weak_learner=learner,
            schema=schema,
            max_memory=max_memory,
            seed=seed,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if name != "n_learners"}


class EpsilonGreedyForest(_EpsilonGreedy):
    """Epsilon-greedy over `n_learners` bagged Hoeffding trees for each label (online bagging of Oza and Russell 2001).

    As EpsilonGreedyTree, but each tree of the shown label hears the verdict with a Poisson(1) weight of its own, drawn by a keyed number,
    and a label's score is the mean over its trees.

    Args:
        labels, schema, max_memory, seed: as for the boosters.
        n_learners: trees for each label.
        exploration: share of rounds in which another label is tried.
        weak_learner: the trees; None is as for EpsilonGreedyTree.

    >>> model = EpsilonGreedyForest(["yes", "no", "later"], n_learners=5, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.n_groups
    1
    """

    bagged = True

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int = 10,
        exploration: float = 0.05,
        weak_learner: Any = None,
        schema: Schema | None = None,
        max_memory: int = 1 << 28,
        seed: int | None = None,
    ) -> None:
        learner = TREE if weak_learner is None else weak_learner
        super().__init__(
            labels,
            n_learners=n_learners,
            exploration=exploration,
            weak_learner=learner,
            schema=schema,
            max_memory=max_memory,
            seed=seed,
        )
