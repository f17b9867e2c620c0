"""Names of labels, features and values as a line of text can hold them."""

from __future__ import annotations

from collections.abc import Hashable


def one_line(name: Hashable) -> str:
    """The name without line breaks.

    >>> len(one_line("two\\nlines"))
    9
    """
    return " ".join(str(name).splitlines())


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "round"), counted(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
