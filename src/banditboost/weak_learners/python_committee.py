"""A committee of weak learners written in Python."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from banditboost.errors import ParameterError
from banditboost.io.values import UnreadableError, UnstorableError
from banditboost.rows.features import NOMINAL, column_table
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import SHARED
from banditboost.text import quoted
from banditboost.trees.layout import Forest, empty_forest
from banditboost.types import Array
from banditboost.weak_learners.protocol import CostLearner, WeakLearner


class PythonCommittee:
    """N learners made by a factory, or N deep copies of a learner.

    `with_costs`: they are taught by `learn_costs`, those that have it.
    """

    in_python: ClassVar[bool] = True

    def __init__(
        self,
        learner: WeakLearner | CostLearner | Callable[[], WeakLearner | CostLearner],
        n_labels: int,
        schema: Schema,
        with_costs: bool = False,
    ) -> None:
        self.with_costs = with_costs
        if not callable(learner):
            self._check(learner)  # now: some boosters make their learners much later
        self._learner = learner
        self._n_labels = n_labels
        self.forest: Forest = empty_forest(column_table(schema))
        self.learners: list[Any] = []

    def add(self, n_learners: int) -> None:
        learners = [self._make(self._learner) for _ in range(n_learners)]
        for made in learners:
            self._check(made)
        self.learners.extend(learners)

    def _check(self, made: Any) -> None:
        if isinstance(made, WeakLearner) or (self.with_costs and isinstance(made, CostLearner)):
            return
        why = "; this model has no cost vectors for learn_costs" if isinstance(made, CostLearner) else ""
        raise ParameterError(
            f"weak_learner gave {quoted(made)}, which lacks predict(x) or learn(x, label, weight){why}; "
            "give a HoeffdingTree, an object with these two methods, or a function that makes one"
        )

    @staticmethod
    def _make(learner: Any) -> Any:
        if isinstance(learner, WeakLearner | CostLearner) and not isinstance(learner, type):
            return copy.deepcopy(learner)
        return learner() if callable(learner) else learner

    def set_labels(self, n_labels: int) -> None:
        """Learners meet a new label when they are taught it."""
        self._n_labels = n_labels

    def draft(self) -> PythonCommittee:
        """A committee of the same learners."""
        made = copy.copy(self)
        made.learners = list(self.learners)
        return made

    def follow_schema(self, schema: Schema) -> None:
        """Rows simply become longer."""
        self.forest = empty_forest(column_table(schema))

    def refuse_too_many(self, n_learners: int) -> None:
        """What Python objects take is not ours to say."""

    def expect(self, n_learners: int) -> None:
        """Python makes room when they come."""

    def with_room(self) -> PythonCommittee:
        """Python makes room by itself."""
        return self

    def _row_to_keep(self, x: Array) -> Array:
        """A row of their own, since learners may keep it; one for all, so none may write on it.

        A nominal value without a place of its own counts as missing.
        """
        row = x.copy()
        nominal = self.forest.features["kind"][: len(row)] == NOMINAL
        row[nominal & (row >= SHARED)] = np.nan
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
                f"weak learner {number} predicted {quoted(answer)}; it must predict a label index from 0 to "
                f"{self._n_labels - 1}"
            )
        return label

    def vote(self, x: Array, votes: Array) -> None:
        """The label index that each learner predicts."""
        row = self._row_to_keep(x)
        for i in range(len(votes)):
            votes[i] = self._label(i, row)

    def score(self, x: Array, scores: Array) -> None:
        """Groups of binary learners, which answer 0 or 1."""
        row = self._row_to_keep(x)
        for number in range(scores.size):
            scores.flat[number] = self._label(number, row)

    def learn(self, x: Array, labels: Array, weights: Array, first: int = 0) -> None:
        """Teach learner first + i labels[i] with weights[i]; a weight of 0 teaches nothing."""
        row = self._row_to_keep(x)
        for i, (label, weight) in enumerate(zip(labels.tolist(), weights.tolist(), strict=True)):
            if weight > 0.0:
                self.learners[first + i].learn(row, label, weight)

    def learn_costs(self, x: Array, costs: Array, labels: Array, weights: Array) -> None:
        """Teach every learner its vector of costs, or if it takes none, labels[i] with weights[i]."""
        row = self._row_to_keep(x)
        for i, learner in enumerate(self.learners):
            learn_costs = getattr(learner, "learn_costs", None)
            if learn_costs is not None:
                learn_costs(row, costs[i].copy())
            elif weights[i] > 0.0:
                learner.learn(row, int(labels[i]), float(weights[i]))

    def states(self) -> list[dict[str, Any]]:
        """What the learners keep, as they tell it themselves."""
        return [
            {"class": type(learner).__qualname__, "state": _state_of(learner)} for learner in self.learners
        ]

    def arrays(self) -> dict[str, Array]:
        """What learners keep goes into the header."""
        return {}

    def restore(self, arrays: dict[str, Array], states: list[Any], n_learners: int) -> None:  # noqa: ARG002 (it was in the header)
        """Make the learners again from what `states` told."""
        if len(states) != n_learners:
            raise UnreadableError(
                f"there are {len(states)} weak learners where {n_learners} belong; load an intact copy"
            )
        self.learners = []
        self.add(n_learners)
        self.learners = [
            _from_state(type(made), stored) for made, stored in zip(self.learners, states, strict=True)
        ]

    @property
    def memory_usage(self) -> int:
        """Of the learners' own objects only: what they refer to is theirs to tell."""
        return sum(
            int(getattr(learner, "memory_usage", 0)) or sys.getsizeof(learner) for learner in self.learners
        )


def _state_of(learner: Any) -> Any:
    if not callable(getattr(learner, "to_dict", None)) or not callable(
        getattr(type(learner), "from_dict", None)
    ):
        raise UnstorableError(
            f"weak learners of class {type(learner).__qualname__}: give that class `to_dict(self)`, which "
            "returns what was learned, "
            "and a classmethod `from_dict(cls, data)`, which makes the learner again"
        )
    return learner.to_dict()


def _from_state(kind: Any, stored: Any) -> Any:
    if (
        not isinstance(stored, dict)
        or stored.keys() != {"class", "state"}
        or stored["class"] != kind.__qualname__
    ):
        was = stored.get("class") if isinstance(stored, dict) else None
        raise UnreadableError(
            f"a weak learner was a {was}, and weak_learner makes a {kind.__qualname__}; give what the model "
            "was made with"
        )
    if not callable(getattr(kind, "from_dict", None)):
        raise UnreadableError(
            f"class {kind.__qualname__} has no classmethod `from_dict(cls, data)` that makes a learner from "
            "what it kept"
        )
    return kind.from_dict(stored["state"])
