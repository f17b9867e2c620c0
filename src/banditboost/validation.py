"""Checks of arguments, each with one form of message: what was given, and what to give instead."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost.errors import LabelError, ParameterError


def check_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(labels, (str, bytes)):
        raise LabelError(f"labels is the string {labels!r}; give a list of labels, such as ['yes', 'no']")
    if not isinstance(labels, Iterable):
        raise LabelError(f"labels is {labels!r}; give a list of labels, such as ['yes', 'no']")
    if isinstance(labels, (set, frozenset)):
        raise LabelError(
            "labels is a set, whose order differs from process to process; give a list, such as sorted(labels)"
        )
    names = tuple(labels)
    seen: set[Hashable] = set()
    for label in names:
        try:
            repeated = label in seen
        except TypeError:
            raise LabelError(f"label {label!r} is not hashable; give strings, numbers or tuples") from None
        if repeated:
            raise LabelError(f"label {label!r} is given twice; give each label once")
        if isinstance(label, (float, np.floating)) and label != label:
            raise LabelError(
                "label nan is not equal to itself, so that it could never be told to be right; give it a name"
            )
        seen.add(label)
    if len(names) < 2:
        raise LabelError(f"labels has {len(names)} label(s); at least two are needed to choose from")
    return names


def check_number(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> float:
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not (low < value if open_low else low <= value) or not value <= high:
        raise ParameterError(
            f"{name} is {value!r}; give a number in {'(' if open_low else '['}{low:g}, {high:g}]"
        )
    return float(value)


def check_count(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"{name} is {value!r}; give a whole number from {low} to {high}")
    return int(value)
