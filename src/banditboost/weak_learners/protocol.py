"""What a booster asks of a weak learner, and of a committee of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from banditboost.rows.schema import Schema
from banditboost.trees.layout import Forest
from banditboost.types import Array
from banditboost.weak_learners.hoeffding import HoeffdingTree


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


@runtime_checkable
class CostLearner(Protocol):
    """A weak learner that is taught by cost vectors: chat of line 15 of Algorithm 1, as it was computed.

    AdaBandit, OptBandit, AdaFull and OptFull hand it the vector in place of a label and a weight. It has one
    cost for each label, in the order of `model.labels`; a label that joins comes at the end, and makes it
    longer. It is the learner's own, and may be kept. BinBandit has no cost vectors: there, and wherever else
    learners are asked a question of two answers, it must have `learn`, too.

    >>> class Cheapest:
    ...     def __init__(self):
    ...         self.sums = [0.0]
    ...
    ...     def predict(self, x):
    ...         return self.sums.index(min(self.sums))
    ...
    ...     def learn_costs(self, x, costs):
    ...         self.sums += [0.0] * (len(costs) - len(self.sums))
    ...         self.sums = [total + cost for total, cost in zip(self.sums, costs)]
    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["yes", "no"], n_learners=3, weak_learner=Cheapest, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.verdicts
    1
    """

    def predict(self, x: Array) -> int:
        """The index of a label."""

    def learn_costs(self, x: Array, costs: Array) -> None:
        """Take in what it would have cost to predict each label."""


class Committee(Protocol):
    """The weak learners of a model.

    Trees are asked and taught by the compiled round; Python objects around it.
    """

    in_python: ClassVar[bool]
    """Whether the learners are Python objects."""

    @property
    def forest(self) -> Forest:
        """The trees; without any if the learners are Python objects, but with the features."""

    def add(self, n_learners: int) -> None:
        """Make that many more learners."""

    def set_labels(self, n_labels: int) -> None:
        """Labels have joined: that many there are now."""

    def draft(self) -> Self:
        """A committee to be changed before it takes this one's place."""

    def follow_schema(self, schema: Schema) -> None:
        """Make room for features and nominal values that have joined."""

    def refuse_too_many(self, n_learners: int) -> None:
        """Refuse to make so many learners, if there is too little memory for them."""

    def expect(self, n_learners: int) -> None:
        """So many learners there will be in the end."""

    def with_room(self) -> Self:
        """The committee with more room than there was to learn."""

    def arrays(self) -> dict[str, Array]:
        """What a file keeps of trees."""

    def states(self) -> list[Any]:
        """What a file keeps of Python objects."""

    def restore(self, arrays: dict[str, Array], states: list[Any], n_learners: int) -> None:
        """Go on with so many learners from what a file has kept."""

    @property
    def memory_usage(self) -> int:
        """Bytes held."""


def plain_learner(learner: Any) -> dict[str, Any]:
    """Trees with their parameters; of learners written elsewhere the name, to tell people which one `load`
    must be given.
    """
    if isinstance(learner, HoeffdingTree):
        return {"class": "HoeffdingTree", **asdict(learner)}
    made_by = learner if hasattr(learner, "__qualname__") else type(learner)
    return {"class": made_by.__qualname__, "module": made_by.__module__}
