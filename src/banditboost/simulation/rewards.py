"""The rewards of a simulated stream: a matrix, a frame, or a function that is asked for those of the shown
labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from banditboost.errors import BanditBoostError, ParameterError
from banditboost.models.bandit import BanditModel
from banditboost.models.model import Model
from banditboost.rewards import share_told, shares_of
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_number

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
    named = frame_of(rewards)
    matrix = _matrix(rewards) if named is None else _of_frame(named, model.labels)
    expected = n_rows, len(model.labels)
    if matrix is None or matrix.shape != expected:
        shape = "" if matrix is None else f" with shape {matrix.shape}"
        raise ParameterError(
            f"rewards is a {type(rewards).__name__}{shape}; give a matrix of numbers with shape {expected}, "
            "a row for each row of X and a column for each label, a frame with a column for each label, or a "
            "function (round, label) -> reward"
        )
    low, high = model.rewards
    bad = ~((matrix >= low) & (matrix <= high))
    if bad.any():
        t, label = np.argwhere(bad)[0].tolist()
        where = f"[{t}, {label}]" if named is None else f" of {quoted(model.labels[label])} in row {t}"
        raise ParameterError(
            f"rewards{where} is {matrix[t, label]}; give numbers from {low:g} to {high:g}, or make "
            "the model with rewards=(low, high)"
        )
    return shares_of(matrix, model.rewards)


def _matrix(rewards: Any) -> Array | None:
    """As float64, if it is a table of numbers without names."""
    if not isinstance(rewards, (list, tuple, np.ndarray)):
        return None
    try:
        matrix = np.asarray(rewards)
    except ValueError:  # rows of different lengths
        return None
    return matrix.astype(np.float64) if matrix.dtype.kind in "biuf" and matrix.ndim == 2 else None


def frame_of(rewards: Any) -> Any:
    """A frame of pandas, polars or pyarrow; None for anything else."""
    if isinstance(rewards, (list, tuple, np.ndarray)):
        return None
    try:
        return nw.from_native(rewards, eager_only=True)
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:
        raise ParameterError("rewards has two columns of one name; give one column for each label") from None


def _of_frame(frame: Any, labels: Sequence[Hashable]) -> Array:
    """A column for each label, by name, whatever their order in the frame is."""
    by_text = {str(label): label for label in labels}  # columns of polars and pyarrow are called by texts
    if len(by_text) < len(labels):
        by_text = {}
    known = set(labels)
    found = {column if column in known else by_text.get(column, column): column for column in frame.columns}
    lacking = [label for label in labels if label not in found]
    strange = [column for column in found if column not in known]
    if lacking or strange:
        problem = (
            f"no column of the label {quoted(lacking[0])}"
            if lacking
            else f"a column {quoted(found[strange[0]])}, which is none of the labels"
        )
        raise ParameterError(
            f"rewards has {problem}; give one column for each of the model's labels, called by its name: "
            f"{quoted(list(labels[:10]))}"
        )
    return np.column_stack([_numbers(frame.get_column(found[label]), label) for label in labels])


def _numbers(column: Any, label: Hashable) -> Array:
    """A column as float64, NaN where there is nothing."""
    if (column.dtype.is_float() or column.dtype.is_integer()) and not column.is_null().any():
        return np.asarray(column.to_numpy(), np.float64)
    try:
        values = column.to_list()
        return np.array([math.nan if value is None else _one(value) for value in values], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"rewards of {quoted(label)} is a column of type {column.dtype}; give a column of numbers"
        ) from None


def _one(value: Any) -> float:
    if not is_number(value) and not isinstance(value, (bool, np.bool_, Decimal)):
        raise TypeError
    return float(value)
