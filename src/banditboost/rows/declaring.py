"""What a schema may be declared with."""

from __future__ import annotations

from typing import Any

from banditboost.errors import FeatureError
from banditboost.text import quoted


def listed(name: object, items: Any) -> list[Any]:
    """The items as a list; a string is refused, since it would be taken for its letters."""
    if isinstance(items, (str, bytes)):
        raise FeatureError(f"{name} is the string {quoted(items)}; give a list, such as [{quoted(items)}]")
    try:
        return list(items)
    except TypeError:
        raise FeatureError(f"{name} is {quoted(items)}; give a list") from None


def are_values(values: object) -> bool:
    """Whether a stored schema may have these values of a nominal feature."""
    return (
        isinstance(values, list)
        and all(isinstance(value, str) for value in values)
        and len(set(values)) == len(values)
    )


def check_strict(strict: object) -> bool:
    """True or False, and nothing else."""
    if not isinstance(strict, bool):
        raise FeatureError(f"strict is {quoted(strict)}; give True or False")
    return strict
