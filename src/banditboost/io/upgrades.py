"""Old files as if they had been written today."""

from __future__ import annotations

import os
from collections.abc import Callable

from banditboost.io import container
from banditboost.io.container import Contents

# By format: a function that turns the contents of such a file into those of the next format. Never removed:
# files last.
UPGRADES: dict[int, Callable[[Contents], Contents]] = {}


def read_current(path: str | os.PathLike[str]) -> Contents:
    """What the file holds, in the newest format."""
    return upgraded(container.read(path))


def upgraded(contents: Contents) -> Contents:
    """The same in the newest format."""
    while contents.format < container.FORMAT:
        contents = UPGRADES[contents.format](contents)
    return contents
