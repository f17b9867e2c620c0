"""What could be shown: an object of options in a cell, or columns with features of what was shown."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from banditboost.errors import LogError
from banditboost.text import quoted
from banditboost.types import Array

Options = dict[Hashable, dict[Any, Any]]


def offered(cells: Array, place: Callable[[int], str]) -> list[Options]:
    """The options of each row, from JSON texts; none where the cell is missing.

    An option whose features are null was not there: so a Parquet file tells of options that other rows have.
    """
    read: dict[str, Options] = {}
    found: list[Options] = []
    for i, text in enumerate(cells.tolist()):
        if text is not None and text not in read:
            read[text] = _parsed(text, lambda i=i: place(i))  # type: ignore[misc]
        found.append({} if text is None else {id_: dict(told) for id_, told in read[text].items()})
    return found


def _parsed(text: str, place: Callable[[], str]) -> Options:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not all(one is None or isinstance(one, dict) for one in told.values()):
        raise LogError(
            f"{place()}: {quoted(text)} tells no options; give an object with the features of each, such as "
            '{"news": {"length": 3}, "games": {}}'
        )
    return {id_: _features(one) for id_, one in told.items() if one is not None}


def _features(told: Mapping[str, Any]) -> dict[Any, Any]:
    return {name: value for name, value in told.items() if value is not None}


def of_shown(actions: Array, features: list[dict[Any, Any]]) -> list[Options]:
    """What is known of the option that was shown, and of no other one."""
    pairs = zip(actions.tolist(), features, strict=True)
    return [{} if action is None else {action: told} for action, told in pairs]


def as_json(told: Any) -> str:
    """A line, or a cell that `offered` reads."""
    try:
        return json.dumps(told, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise LogError(
            f"{quoted(told)} cannot be written as JSON ({error}); give texts and numbers"
        ) from None


def as_text(value: Any) -> str:
    """A value as text; dates in ISO form, as JSON has them."""
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


def _plain(value: Any) -> Any:
    """What rows may hold beside JSON's own values."""
    if isinstance(value, (np.generic, Decimal)):
        return float(value) if isinstance(value, Decimal) else value.item()
    if isinstance(value, (datetime.date, datetime.time)):
        return as_text(value)
    raise TypeError(f"a value is of type {type(value).__name__}")
