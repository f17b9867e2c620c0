"""Numbers of logged rows: what is taken, and what is refused, with the row and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.memo import LEAST_PROBABILITY
from banditboost.rewards import Range, shares_of
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_number

SUM_TOLERANCE = 1e-6
"""By how much the probabilities of a policy may miss 1."""


def check_level(level: Any) -> float:
    """How sure an interval is to hold."""
    return check_number("level", level, 0.5, 1.0 - 1e-9, open_low=True, hint="0.95 is usual")


def column(name: str, given: Any, n_rows: int | None = None) -> Array:
    """A column of numbers, one for each row."""
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biuf":
            raise TypeError
        numbers = np.atleast_1d(found.astype(np.float64))
    except (TypeError, ValueError, OverflowError):
        raise LogError(f"{name} is {quoted(given)}; give a number for each row of the log") from None
    if numbers.ndim != 1:
        raise LogError(f"{name} has shape {numbers.shape}; give one number for each row of the log")
    if n_rows is not None and len(numbers) != n_rows:
        raise LogError(
            f"{name} has {len(numbers)} numbers for {n_rows} rows; give one for each row of the log"
        )
    return numbers


def _check_all(name: str, numbers: Array, good: Callable[[Array], Array], remedy: str) -> Array:
    fine = good(numbers)
    if not np.all(fine):
        row = int(np.argmin(fine))
        raise LogError(f"{name} is {numbers[row]:g} in row {row}; {remedy}")
    return numbers


def reward_shares(given: Any, rewards: Range) -> Array:
    """Rewards as shares of their range."""
    low, high = rewards
    numbers = _check_all(
        "the reward",
        column("reward", given),
        lambda found: (found >= low) & (found <= high),
        f"rewards are from {low:g} to {high:g}: give rewards=(least, largest) of the log, or leave out rows "
        "without a reward",
    )
    return shares_of(numbers, rewards)


def logged_probabilities(given: Any, n_rows: int) -> Array:
    """With which the logged actions were chosen."""
    return _check_all(
        "the logged probability",
        column("probability", given, n_rows),
        lambda found: (found >= LEAST_PROBABILITY) & (found <= 1.0),
        "an action that was shown had a probability above 0 and of at most 1 (not below "
        f"{LEAST_PROBABILITY:g}): leave out rows whose probability was not noted, and say so when you tell "
        "the result",
    )


def policy_probabilities(name: str, given: Any, n_rows: int) -> Array:
    """With which a policy would have chosen the logged actions."""
    return _check_all(
        f"the probability of {name}",
        column(name, given, n_rows),
        lambda found: (found >= 0.0) & (found <= 1.0),
        "give the probability with which the policy would have chosen the logged action, from 0 to 1",
    )


def weights(name: str, given: Any, logged: Array) -> Array:
    """The policy's probabilities of the logged actions / those that were logged."""
    return policy_probabilities(name, given, len(logged)) / logged


def distributions(name: str, given: Any, n_rows: int, n_labels: int) -> Array:
    """The probabilities of all labels, a row of them for each row of the log."""
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse_shape(name, quoted(given), n_rows, n_labels)
    if found.shape != (n_rows, n_labels):
        _refuse_shape(name, f"an array of shape {found.shape}", n_rows, n_labels)
    _check_all(
        f"a probability of {name}",
        found.min(axis=1, initial=0.0),
        lambda least: least >= 0.0,
        "probabilities are from 0 to 1",
    )
    _check_all(
        f"the sum of the probabilities of {name}",
        found.sum(axis=1),
        lambda sums: np.abs(sums - 1.0) <= SUM_TOLERANCE,
        "the probabilities of all labels add up to 1",
    )
    return np.minimum(found, 1.0)  # a last bit above 1 is rounding


def predicted_shares(given: Any, n_rows: int, n_labels: int, rewards: Range) -> Array:
    """Rewards that a model predicts for all labels, as shares of their range."""
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse_shape("predicted", quoted(given), n_rows, n_labels)
    if found.shape != (n_rows, n_labels):
        _refuse_shape("predicted", f"an array of shape {found.shape}", n_rows, n_labels)
    for ends in (found.min(axis=1, initial=rewards[1]), found.max(axis=1, initial=rewards[0])):
        _check_all(
            "a predicted reward",
            ends,
            lambda end: (end >= rewards[0]) & (end <= rewards[1]),
            f"predictions are from {rewards[0]:g} to {rewards[1]:g}, as rewards are",
        )
    return shares_of(found, rewards)


def _refuse_shape(name: str, what: str, n_rows: int, n_labels: int) -> NoReturn:
    raise LogError(f"{name} gives {what}; give a number for each of {n_rows} rows and {n_labels} labels")


def indices(name: str, given: Any, n_rows: int, n_labels: int) -> Array:
    """Places of labels."""
    found = column(name, given, n_rows)
    _check_all(
        f"the place of {name}",
        found,
        lambda places: (places == np.floor(places)) & (places >= 0) & (places < n_labels),
        f"give the place of a label, from 0 to {n_labels - 1}",
    )
    return found.astype(np.int64)


def check_plain(plain: Any, kind: str, keys: set[str]) -> dict[str, Any]:
    """What `to_plain` gave."""
    if not isinstance(plain, dict) or plain.get("kind") != kind or set(plain) != keys:
        raise ParameterError(f"plain is {quoted(plain)}; give what to_plain of a {kind} returned")
    return plain
