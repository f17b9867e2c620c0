"""Rewards: numbers of a bounded range, and verdicts, which are its two ends.

A model learns shares of its range, (reward - low) / (high - low): 0 is the least reward, as a wrong label
has it, and 1 the most, as a right one has it. Nothing here loads Numba.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from banditboost.errors import DecisionError, ParameterError
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_number, is_whole

Range = tuple[float, float]
UNIT: Range = (0.0, 1.0)


def check_range(rewards: Any) -> Range:
    """Return the least and the largest reward that a model is made for.

    >>> check_range((0, 5))
    (0.0, 5.0)
    >>> check_range((1, 0))
    Traceback (most recent call last):
    banditboost.errors.ParameterError: rewards is (1, 0); give the least and the largest one, such as (0, 1)
    """
    try:
        given = () if isinstance(rewards, (str, bytes, set, dict)) else tuple(rewards)
        ends = tuple(float(end) if is_number(end) else math.nan for end in given)
    except (TypeError, ValueError, OverflowError):
        ends = ()
    if len(ends) != 2 or not ends[0] < ends[1] or not math.isfinite(ends[1] - ends[0]):
        raise ParameterError(
            f"rewards is {quoted(rewards)}; give the least and the largest one, such as (0, 1)"
        )
    return ends[0], ends[1]


def share_told(correct: Any, reward: Any, rewards: Range) -> float:
    """What a verdict or a reward, of which exactly one is not None, says as a share of the range.

    >>> share_told(True, None, (0.0, 5.0)), share_told(None, 3.5, (0.0, 5.0))
    (1.0, 0.7)
    >>> share_told(None, 7, (0.0, 5.0))
    Traceback (most recent call last):
    banditboost.errors.DecisionError: reward is 7; give a number from 0 to 5, the range of the rewards
    """
    if reward is None:
        return _share_of_verdict(correct)
    if correct is not None:
        raise DecisionError(
            f"correct is {quoted(correct)} and reward is {quoted(reward)}; give one of the two"
        )
    low, high = rewards
    if not is_number(reward):
        _refuse_reward(reward, rewards)
    try:
        number = float(reward)
    except (OverflowError, ValueError):  # an integer that no float can hold
        _refuse_reward(reward, rewards)
    if not low <= number <= high:
        _refuse_reward(reward, rewards)
    return (number - low) / (high - low)


def _share_of_verdict(correct: Any) -> float:
    if isinstance(correct, (bool, np.bool_)) or (is_whole(correct) and correct in (0, 1)):
        return 1.0 if correct else 0.0
    if correct is None:
        raise DecisionError(
            "correct is None and so is reward; give True if the shown label was right, False if not, or its "
            "reward as reward=..."
        )
    raise DecisionError(
        f"correct is {quoted(correct)}; give True if the shown label was right, False if not, or a graded"
        " reward as reward=..."
    )


def _refuse_reward(reward: Any, rewards: Range) -> NoReturn:
    raise DecisionError(
        f"reward is {quoted(reward)}; give a number from {rewards[0]:g} to {rewards[1]:g}, the range of the "
        "rewards"
    )


def in_units(share: float, rewards: Range) -> float:
    """A share of the range in the user's units.

    >>> in_units(0.7, (0.0, 5.0))
    3.5
    """
    low, high = rewards
    return min(low + (high - low) * share, high)


def shares_of(matrix: Array, rewards: Range) -> Array:
    """Rewards that are in the range, as shares of it, in an array of their own."""
    low, high = rewards
    return np.ascontiguousarray((matrix - low) / (high - low))
