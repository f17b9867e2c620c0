"""The rewards of a simulated stream: a matrix, or a function that is asked for those of the shown labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.errors import BanditBoostError, ParameterError
from banditboost.models.bandit import BanditModel
from banditboost.models.model import Model
from banditboost.rewards import share_told, shares_of
from banditboost.text import quoted
from banditboost.types import Array

NO_REWARDS = np.zeros((0, 0))
"""Of a stream with right labels."""


class Asking:
    """A function of the user's, (round, label) -> reward, asked once for each round."""

    def __init__(self, function: Callable[..., Any], model: BanditModel) -> None:
        self._function, self._labels, self._range = function, model.labels, model.rewards
        self._waiting: dict[int, float] = {}

    def __call__(self, t: int, label: int) -> float:
        """The share of the range that the label earns in round t of the stream."""
        t = int(t)
        if t not in self._waiting:
            name = self._labels[label]
            reward = self._function(t, name)
            try:
                self._waiting[t] = share_told(None, _number(reward), self._range)
            except BanditBoostError as error:
                raise ParameterError(f"rewards({t}, {quoted(name)}) is {quoted(reward)}: {error}") from None
        return self._waiting[t]


def _number(reward: Any) -> Any:
    """What a function says; True and False, as simulations have them, are 1 and 0."""
    if reward is None:
        return "None"
    return float(reward) if isinstance(reward, (bool, np.bool_)) else reward


def checked_rewards(model: Model, rewards: Any, n_rows: int) -> Array | Asking:
    """What `play` was given in place of right labels, as shares of the model's range."""
    if not isinstance(model, BanditModel):
        raise ParameterError(
            f"rewards is given, but {type(model).__name__} is told right labels; give y, or a bandit booster "
            "such as GapBoost"
        )
    if callable(rewards) and not isinstance(rewards, type):
        return Asking(rewards, model)
    matrix = _matrix(rewards)
    expected = n_rows, len(model.labels)
    if matrix is None or matrix.shape != expected:
        shape = "" if matrix is None else f" with shape {matrix.shape}"
        raise ParameterError(
            f"rewards is a {type(rewards).__name__}{shape}; give a matrix of numbers with shape {expected}, "
            "a row for each row of X and a column for each label, or a function (round, label) -> reward"
        )
    low, high = model.rewards
    bad = ~((matrix >= low) & (matrix <= high))
    if bad.any():
        t, label = np.argwhere(bad)[0].tolist()
        raise ParameterError(
            f"rewards[{t}, {label}] is {matrix[t, label]}; give numbers from {low:g} to {high:g}, or make "
            "the model with rewards=(low, high)"
        )
    return shares_of(matrix, model.rewards)


def _matrix(rewards: Any) -> Array | None:
    """As float64, if it is a table of numbers; frames are refused, whose columns may have another order."""
    if not isinstance(rewards, (list, tuple, np.ndarray)):
        return None
    try:
        matrix = np.asarray(rewards)
    except ValueError:  # rows of different lengths
        return None
    return matrix.astype(np.float64) if matrix.dtype.kind in "biuf" and matrix.ndim == 2 else None
