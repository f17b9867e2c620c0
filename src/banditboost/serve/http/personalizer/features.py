"""Features as Personalizer's requests list them, under the names by which our models know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from banditboost.rows.options import OPTION, PREFIX
from banditboost.serve.http.personalizer.reading import refused
from banditboost.text import quoted

_IGNORED = "_"  # names that begin with it are for people
_NUMBERS = {int, float}


def read_features(objects: Sequence[Any], field: str, deepest: int) -> dict[str, Any]:
    """One flat row from a list of objects: `[{"user": {"age": 31}}, {"hour": 9}]` has the features `user.age`
    and `hour`.

    Names that begin with `_` are ignored. A null is the text "null". An array of numbers becomes features
    `name.0`, `name.1` and so on. A name that comes again is a feature of its own, `name#2`.

    Args:
        objects: what the request lists.
        field: where in the request it stands.
        deepest: how many objects may stand in each other.
    """
    found: dict[str, Any] = {}
    times: dict[str, int] = {}
    for place, given in enumerate(objects):
        at = f"{field}[{place}]"
        if not isinstance(given, dict):
            raise refused(at, f'is {quoted(given)}; give an object with features, such as {{"hour": 9}}')
        for name, value in _leaves(given, "", at, deepest):
            found[_free(name, found, times) if name in found else name] = value
    return found


def read_context(objects: Sequence[Any], field: str, deepest: int) -> dict[str, Any]:
    """Features of a context. Those that are called like the features of options, `option` and `option.price`,
    get `context.` before their names.
    """
    given = read_features(objects, field, deepest)
    taken = [name for name in given if name == OPTION or name.startswith(PREFIX)]
    times: dict[str, int] = {}
    for name in taken:
        value = given.pop(name)
        given[_free(f"context.{name}", given, times)] = value
    return given


def _leaves(given: dict[str, Any], prefix: str, at: str, left: int) -> Iterator[tuple[str, Any]]:
    """Names and values, without objects and arrays of numbers."""
    if not left:
        raise refused(f"{at}.{prefix[:-1]}", "stands too deep; give flatter objects")
    for key, value in given.items():
        if key.startswith(_IGNORED):
            continue
        name = prefix + key
        if isinstance(value, dict):
            yield from _leaves(value, f"{name}.", at, left - 1)
        elif isinstance(value, list):
            yield from _items(name, value, at)
        else:
            yield name, "null" if value is None else value


def _items(name: str, values: list[Any], at: str) -> Iterator[tuple[str, Any]]:
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        for place, value in enumerate(values):
            yield f"{name}.{place}", value
    elif kinds == {str}:
        yield name, values
    else:
        raise refused(f"{at}.{name}", f"is {quoted(values)}; give an array of numbers, or of texts")


def _free(name: str, found: Mapping[str, Any], times: dict[str, int]) -> str:
    """The name, or the first of `name#2`, `name#3` and so on that is free."""
    made = name
    while made in found:
        times[name] = times.get(name, 1) + 1
        made = f"{name}#{times[name]}"
    return made
