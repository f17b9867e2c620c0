"""Who can be judged: what gives probabilities of labels for rows, and perhaps learns along the log."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation import doors
from banditboost.models.offering import OfferingModel
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_number

LOGGED = "logged"
UNIFORM = "uniform"
BEST = "best label so far"


class Policy(Protocol):
    """Tells probabilities for some rows, and then may learn what was logged of them."""

    def judged(self, rows: Sequence[Any], shown: Array, rewards: Array, probabilities: Array) -> Array:
        """The probabilities of all labels for each row, told before anything of the row is learned."""


class Fixed:
    """The same probabilities in every row."""

    def __init__(self, shares: Array) -> None:
        self._shares = shares

    def judged(self, rows: Sequence[Any], shown: Array, rewards: Array, probabilities: Array) -> Array:  # noqa: ARG002
        return np.broadcast_to(self._shares, (len(rows), len(self._shares)))


class BestSoFar:
    """The label that has earned most so far, by inverse propensity, whatever the row: it needs no features.

    Rows of a block are judged by those of the blocks before it.
    """

    def __init__(self, n_labels: int) -> None:
        self._earned = np.zeros(n_labels)

    def judged(self, rows: Sequence[Any], shown: Array, rewards: Array, probabilities: Array) -> Array:
        shares = np.zeros((len(rows), len(self._earned)))
        shares[:, int(np.argmax(self._earned))] = 1.0
        np.add.at(self._earned, shown, rewards / probabilities)
        return shares


class Function:
    """What a function of a row tells: probabilities by label, or one for each label in their order."""

    def __init__(self, name: str, told: Callable[[Any], Any], labels: Sequence[Hashable]) -> None:
        self._name, self._told, self._labels = name, told, labels
        self._known = set(labels)

    def judged(self, rows: Sequence[Any], shown: Array, rewards: Array, probabilities: Array) -> Array:  # noqa: ARG002
        return self._checked([self._one(x) for x in rows])

    def _one(self, x: Any) -> Sequence[float]:
        told = self._told(x)
        if not isinstance(told, Mapping):
            return told  # type: ignore[no-any-return]
        unknown = [label for label in told if label not in self._known and not _is_zero(told[label])]
        if unknown:
            raise LogError(
                f"the policy {quoted(self._name)} may choose {quoted(unknown[0])}, which is none of the "
                f"log's labels, {quoted(list(self._labels)[:10])}; nothing is known of what it earns"
            )
        return [told.get(label, 0.0) for label in self._labels]

    def _checked(self, shares: list[Sequence[float]]) -> Array:
        return doors.distributions(f"the policy {quoted(self._name)}", shares, len(shares), len(self._labels))


def check_learns(model: Any) -> Any:
    """Refuse what cannot learn from a log."""
    if not hasattr(model, "learn_logged"):
        raise ParameterError(f"model is {quoted(model)}; give a bandit booster or a baseline")
    return model


def chooses_among_options(model: Any) -> bool:
    """Whether options come with each call, and there are no labels."""
    return isinstance(model, OfferingModel)


def _is_zero(share: Any) -> bool:
    return is_number(share) and share == 0


class Learner:
    """A model that learns along the log: each row is judged before the model has learned it.

    The model learns the reward of the label that was logged, and nothing of any other one.

    >>> from banditboost import GapBoost
    >>> Learner(GapBoost(["news", "games"], seed=1)).model.verdicts
    0
    """

    def __init__(self, model: Any) -> None:
        self.model = check_learns(model)
        if chooses_among_options(model):
            raise ParameterError(
                f"model is {quoted(model)}, which chooses among options instead of labels; judge it with "
                "Apprentice(model) and observe(..., options=...) for each row"
            )


class _Learning(Function):
    """A learner among the labels of a log."""

    def __init__(
        self, name: str, learner: Learner, labels: Sequence[Hashable], low: float, high: float
    ) -> None:
        super().__init__(name, learner.model.distribution, labels)
        self._model, self._low, self._range = learner.model, low, high - low

    def judged(self, rows: Sequence[Any], shown: Array, rewards: Array, probabilities: Array) -> Array:
        shares = []
        for x, place, share, p in zip(
            rows, shown.tolist(), rewards.tolist(), probabilities.tolist(), strict=True
        ):
            shares.append(self._one(x))
            earned = min(self._low + self._range * share, self._low + self._range)
            self._model.learn_logged(x, self._labels[place], reward=earned, probability=p)
        return self._checked(shares)


def policy_of(
    name: str, given: Any, labels: Sequence[Hashable], rewards: tuple[float, float]
) -> Policy | None:
    """What somebody means by a policy; None is the one that logged."""
    k = len(labels)
    if isinstance(given, Learner):
        return _Learning(name, given, labels, *rewards)
    if hasattr(given, "distribution"):
        return Function(name, given.distribution, labels)
    if callable(given):
        return Function(name, given, labels)
    if isinstance(given, str) and given in (LOGGED, UNIFORM, BEST) and given not in labels:
        return {LOGGED: None, UNIFORM: Fixed(np.full(k, 1.0 / k)), BEST: BestSoFar(k)}[given]
    places = [place for place, label in enumerate(labels) if label == given]
    if not places:
        raise ParameterError(
            f"the policy {quoted(name)} is {quoted(given)}; give a model, Learner(model), a function of a "
            f"row, one of the labels, {LOGGED!r}, {UNIFORM!r} or {BEST!r}"
        )
    shares = np.zeros(k)
    shares[places[0]] = 1.0
    return Fixed(shares)
