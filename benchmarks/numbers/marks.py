"""Marks in a page, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Values = Mapping[str, Callable[[], str]]
_MARKED = re.compile(r"<!-- numbers: (?P<name>[\w.-]+) -->(?P<text>.*?)<!-- /numbers -->", re.DOTALL)


class UnknownNumberError(ValueError):
    """A mark names a value that nothing provides."""


def names(text: str) -> list[str]:
    """The values that a page asks for, in their order."""
    return [found["name"] for found in _MARKED.finditer(text)]


def fill(text: str, values: Values) -> str:
    """The page with every value in its place."""
    return _MARKED.sub(lambda found: _marked(found["name"], values), text)


def without(text: str) -> str:
    """The page without what comes from records."""
    return _MARKED.sub("", text)


def _marked(name: str, values: Values) -> str:
    if name not in values:
        raise UnknownNumberError(f"no value is called {name!r}: choose from {', '.join(sorted(values))}")
    value = values[name]()
    inside = f"\n{value}\n" if "\n" in value else value
    return f"<!-- numbers: {name} -->{inside}<!-- /numbers -->"
