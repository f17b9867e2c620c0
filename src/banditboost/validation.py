"""Argument checks: one function for each kind of argument, and one form of message.

Every message reads "x is 3; give ...": the argument, its value, the remedy. Each check returns the value as
plain Python. Nothing here loads Numba.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Hashable, Iterable
from contextlib import suppress
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from banditboost.errors import LabelError, ParameterError
from banditboost.text import quoted

LARGEST_COUNT = 2**53
"""The integers up to this one are exact as floats."""
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_LONG = 2**31  # powers of two from here on are written as such


def is_hashable(value: object) -> bool:
    """Whether this can be a name, a label or an id; a tuple can, unless it holds a list.

    (What is not hashable mostly says so by a TypeError; NumPy's spans of time without a unit do not.)
    """
    try:
        hash(value)
    except Exception:
        return False
    return True


def is_number(value: object) -> bool:
    """Whether this is a number: neither a boolean, nor a span of time, which NumPy counts among integers."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.timedelta64))


def is_whole(value: object) -> bool:
    """Whether this is a whole number by its type: 3.0 is none."""
    return is_number(value) and isinstance(value, Integral)


def refuse(name: str, value: Any, remedy: str) -> NoReturn:
    """Raise a ParameterError in the form that all messages have.

    >>> refuse("window", 3, "give a share of the stream")
    Traceback (most recent call last):
    banditboost.errors.ParameterError: window is 3; give a share of the stream
    """
    raise ParameterError(f"{name} is {quoted(value)}; {remedy}")


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    open_low: bool = False,
    open_high: bool = False,
    hint: str = "",
) -> float:
    """Return the value as a float if it is a finite number between `low` and `high`.

    Args:
        name: the argument, as the caller knows it.
        value: what was given. Booleans are no numbers.
        low, high: the bounds; either may be infinite.
        open_low, open_high: whether the bound itself is refused.
        hint: a few words that follow the remedy.

    >>> check_number("edge", 0.1, 0.0, 1.0, open_low=True)
    0.1
    >>> check_number("edge", 0, 0.0, 1.0, open_low=True)
    Traceback (most recent call last):
    banditboost.errors.ParameterError: edge is 0; give a number in (0, 1]
    """
    # As the float that will be used: a fraction above 0 may be 0 as a float.
    if not _is_finite(value) or not _is_between(float(value), low, high, open_low, open_high):
        refuse(name, value, f"give {_interval(low, high, open_low, open_high)}{_tail(hint)}")
    return float(value)


def check_count(name: str, value: Any, low: int, high: int = LARGEST_COUNT, *, hint: str = "") -> int:
    """Return the value as an int if it is a whole number from `low` to `high`.

    Args:
        name: the argument, as the caller knows it.
        value: what was given. Booleans and floats are no counts, not even 3.0.
        low, high: the smallest and the largest number that is taken.
        hint: a few words that follow the remedy.

    >>> check_count("n_learners", 20, 1, 10_000)
    20
    >>> check_count("n_learners", 2.5, 1, 10_000)
    Traceback (most recent call last):
    banditboost.errors.ParameterError: n_learners is 2.5; give a whole number from 1 to 10000
    """
    if not is_whole(value) or not low <= int(value) <= high:
        refuse(name, value, f"give a whole number from {_written(low)} to {_written(high)}{_tail(hint)}")
    return int(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return the value if it is one of a few strings.

    >>> check_choice("expired", "drop", ("as_wrong", "drop"))
    'drop'
    >>> check_choice("expired", "keep", ("as_wrong", "drop"))
    Traceback (most recent call last):
    banditboost.errors.ParameterError: expired is 'keep'; give one of as_wrong, drop
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        refuse(name, value, f"give one of {', '.join(known)}")
    return str(value)


def check_path(name: str, value: Any) -> str:
    """Return the value as a string if it can name a file.

    >>> check_path("path", "model.bb")
    'model.bb'
    >>> check_path("path", 1.5)
    Traceback (most recent call last):
    banditboost.errors.ParameterError: path is 1.5; give the name of a file, as a string or a pathlib.Path
    """
    try:
        path = os.fspath(value)
        possible = isinstance(path, str) and b"\0" not in os.fsencode(path)
    except (TypeError, UnicodeEncodeError):
        possible = False
    if not possible:
        refuse(name, value, "give the name of a file, as a string or a pathlib.Path")
    return str(path)


def check_target(name: str, value: Any) -> str:
    """Return the value as a string if a file can be written there: in a new place, or over another file.

    What is no file must not be replaced by one. (That a directory cannot be, the system says itself.)
    """
    path = check_path(name, value)
    with suppress(OSError):  # nothing is there, or nobody may look: who writes will tell
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = _KINDS.get(stat.S_IFMT(mode), "no file")
            refuse(name, value, f"this is {kind}, which a file would replace: give the name of a file")
    return path


def check_reward(value: Any, rewards: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return a reward of another library as a float, if it is within a range; True and False are 1 and 0.

    >>> check_reward(True)
    1.0
    >>> check_reward(1.3)
    Traceback (most recent call last):
    banditboost.errors.ParameterError: reward is 1.3; give a number in [0, 1]: the model's rewards
    """
    number = int(value) if isinstance(value, (bool, np.bool_)) else value
    return check_number("reward", number, *rewards, hint="the model's rewards")


def check_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the labels as a tuple if they can be chosen from.

    There are at least two, all hashable, different, and equal to themselves.

    >>> check_labels(["yes", "no"])
    ('yes', 'no')
    >>> check_labels("yes")
    Traceback (most recent call last):
    banditboost.errors.LabelError: labels is the string 'yes'; give a list of labels, such as ['yes', 'no']
    """
    if isinstance(labels, (str, bytes)):
        raise LabelError(
            f"labels is the string {quoted(labels)}; give a list of labels, such as ['yes', 'no']"
        )
    if isinstance(labels, (set, frozenset)):
        raise LabelError(
            "labels is a set, whose order differs from process to process; give a list, "
            "such as sorted(labels)"
        )
    try:
        names = tuple(labels)
    except TypeError:  # an array without dimensions
        raise LabelError(
            f"labels is {quoted(labels)}; give a list of labels, such as ['yes', 'no']"
        ) from None
    seen: set[Hashable] = set()
    for label in names:
        _check_label(label, seen)
        seen.add(label)
    if len(names) < 2:
        raise LabelError(f"labels has {len(names)} label(s); at least two are needed to choose from")
    return names


def _check_label(label: Any, seen: set[Hashable]) -> None:
    if not is_hashable(label):
        raise LabelError(f"label {quoted(label)} is not hashable; give strings, numbers or tuples")
    if label in seen:
        raise LabelError(f"label {quoted(label)} is given twice; give each label once")
    if isinstance(label, (float, np.floating)) and label != label:
        raise LabelError(
            "label nan is not equal to itself, so that it could never be told to be right; give it a name"
        )


def _is_finite(value: Any) -> bool:
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _is_between(value: float, low: float, high: float, open_low: bool, open_high: bool) -> bool:
    above = low < value if open_low else low <= value
    below = value < high if open_high else value <= high
    return bool(above and below)


def _interval(low: float, high: float, open_low: bool, open_high: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "a finite number"
    if math.isinf(high):
        return f"a finite number {'above' if open_low else 'of at least'} {low:g}"
    if math.isinf(low):
        return f"a finite number {'below' if open_high else 'of at most'} {high:g}"
    return f"a number in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"


def _written(number: int) -> str:
    """Powers of two that nobody can read otherwise."""
    is_power = number > 0 and number & (number - 1) == 0
    return f"2**{number.bit_length() - 1}" if is_power and number >= _LONG else str(number)


def _tail(hint: str) -> str:
    return f": {hint}" if hint else ""
