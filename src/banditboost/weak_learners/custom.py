"""A committee of weak learners written in Python."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.errors import ParameterError
from banditboost.schema import Schema
from banditboost.weak_learners.features import feature_table
from banditboost.weak_learners.protocol import WeakLearner

Array = np.ndarray[Any, Any]


class PythonCommittee:
    """N learners made by a factory, or N deep copies of a learner."""

    def __init__(self, learner: WeakLearner | Callable[[], WeakLearner], n_labels: int, schema: Schema) -> None:
        self._learner = learner
        self._n_labels = n_labels
        self._schema = schema
        self._features = feature_table(schema)
        self.learners: list[Any] = []

    @property
    def features(self) -> Array:
        return self._features

    def add(self, n_learners: int) -> None:
        for _ in range(n_learners):
            made = self._make(self._learner)
            if not isinstance(made, WeakLearner):
                raise ParameterError(
                    f"weak_learner gave {made!r}, which lacks predict(x) or learn(x, label, weight); "
                    "give a HoeffdingTree, an object with these two methods, or a function that makes one"
                )
            self.learners.append(made)

    @staticmethod
    def _make(learner: Any) -> Any:
        if isinstance(learner, WeakLearner) and not isinstance(learner, type):
            return copy.deepcopy(learner)
        return learner() if callable(learner) else learner

    def follow_schema(self) -> None:
        """Rows simply become longer."""
        self._features = feature_table(self._schema)

    @staticmethod
    def _row_to_keep(x: Array) -> Array:
        """A row of their own, since learners may keep it; one for all, so none may write on it."""
        row = x.copy()
        row.flags.writeable = False
        return row

    def _label(self, number: int, x: Array) -> int:
        answer = self.learners[number].predict(x)
        try:
            label = operator.index(answer)
        except TypeError:
            label = -1
        if not 0 <= label < self._n_labels:
            raise ParameterError(
                f"weak learner {number} predicted {answer!r}; it must predict a label index from 0 to {self._n_labels - 1}"
            )
        return label

    def vote(self, x: Array, round_: int, votes: Array) -> None:  # noqa: ARG002 (built-in trees break ties by the round)
        row = self._row_to_keep(x)
        for i in range(len(votes)):
            votes[i] = self._label(i, row)

    def score(self, x: Array, scores: Array) -> None:
        """Groups of binary learners, which answer 0 or 1."""
        row = self._row_to_keep(x)
        for number in range(scores.size):
            scores.flat[number] = self._label(number, row)

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        row = self._row_to_keep(x)
        for i, (label, weight) in enumerate(zip(labels.tolist(), weights.tolist(), strict=True)):
            if weight > 0.0:
                self.learners[first + i].learn(row, label, weight)

    @property
    def memory_usage(self) -> int:
        """Of the learners' own objects only: what they refer to is theirs to tell."""
        return sum(int(getattr(learner, "memory_usage", 0)) or sys.getsizeof(learner) for learner in self.learners)
