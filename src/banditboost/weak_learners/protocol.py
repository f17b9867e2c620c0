"""What a booster asks of a weak learner, and of a committee of them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

Array = np.ndarray[Any, Any]


@runtime_checkable
class WeakLearner(Protocol):
    """Any object with these two methods can be boosted. `x` is the coded row: float64, NaN where missing.

    >>> class AlwaysFirst:
    ...     def predict(self, x):
    ...         return 0
    ...
    ...     def learn(self, x, label, weight):
    ...         pass
    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["yes", "no"], n_learners=3, weak_learner=AlwaysFirst, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.verdicts
    1
    """

    def predict(self, x: Array) -> int:
        """The index of a label."""

    def learn(self, x: Array, label: int, weight: float) -> None:
        """Take in one example with an importance weight."""


class Committee(Protocol):
    """Weak learners behind a few calls: all answer, then some are taught."""

    @property
    def features(self) -> Array:
        """Kind, values and place of every feature."""

    def add(self, n_learners: int) -> None:
        """Make that many more learners."""

    def set_labels(self, n_labels: int) -> None:
        """Labels have joined: that many there are now."""

    def follow_schema(self) -> None:
        """Make room for features and nominal values that have joined."""

    def vote(self, x: Array, round_: int, votes: Array) -> None:
        """Line 5 of Algorithm 1: the label index that each learner predicts."""

    def score(self, x: Array, scores: Array) -> None:
        """Binary learners in groups, a row for each: how much label 1 is believed, in [0, 1]."""

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        """Line 16: teach learner first + i labels[i] with weights[i]; a weight of 0 teaches nothing."""

    @property
    def memory_usage(self) -> int:
        """Bytes held."""
