"""What a schema may be declared with."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from banditboost.errors import FeatureError
from banditboost.rows.distinct import is_stored
from banditboost.text import quoted
from banditboost.validation import is_hashable


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


def are_places(places: object) -> bool:
    """Whether a stored schema may have words at these places of a row."""
    return isinstance(places, list) and all(type(place) is int and 0 <= place < 2**31 for place in places)


def are_counts(counts: object, most: list[int]) -> bool:
    """Whether so many values of each feature may have been declared."""
    return (
        isinstance(counts, list)
        and len(counts) == len(most)
        and all(type(n) is int and 0 <= n <= largest for n, largest in zip(counts, most, strict=True))
    )


def are_notes(notes: object, nominal: Collection[Hashable], most: int) -> bool:
    """Whether these may be values without places: by feature those that came once, and how many came."""
    if not isinstance(notes, list) or not all(isinstance(note, list) and len(note) == 3 for note in notes):
        return False
    return len({name for name, _, _ in notes if is_hashable(name)}) == len(notes) and all(
        name in nominal and are_values(once) and 0 < len(once) <= most and is_stored(counted)
        for name, once, counted in notes
    )
