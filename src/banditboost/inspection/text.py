"""Names of labels, features and values as a line of text can hold them."""

from __future__ import annotations

from collections.abc import Hashable


def one_line(name: Hashable) -> str:
    """The name without line breaks.

    >>> len(one_line("two\\nlines"))
    9
    """
    return " ".join(str(name).splitlines())
