"""A log as it is gone through: blocks of rows, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from banditboost.errors import LogError
from banditboost.types import Array


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a log, one after the other. What the log does not tell is None.

    >>> import numpy as np
    >>> from banditboost.logs import Block
    >>> block = Block([{"hour": 9}, {"hour": 21}], np.array(["news", "games"], object), np.array([0.0, 1.0]))
    >>> len(block)
    2
    """

    rows: list[dict[Any, Any]]
    """What was known: features and their values, without missing ones."""
    actions: Array
    """What was shown, as objects; None where it is missing."""
    rewards: Array
    """What it earned; NaN where it is missing."""
    probabilities: Array | None = None
    """With what probability it was chosen; NaN where it is missing."""
    positions: Array | None = None
    times: Array | None = None
    ids: Array | None = None
    options: list[dict[Hashable, dict[Any, Any]]] | None = None
    """Features of the options that were there, by option."""

    def __len__(self) -> int:
        return len(self.rows)


class Log:
    """A log that can be gone through more than once. What reads logs returns it.

    >>> from banditboost import logs
    >>> told = {"context": [[1.0], [2.0]], "action": [0, 1], "reward": [0, 1], "pscore": [0.5, 0.5]}
    >>> log = logs.from_obp(told, labels=["news", "games"])
    >>> [(len(block), block.actions.tolist()) for block in log]
    [(2, ['news', 'games'])]
    >>> log.labels
    ('games', 'news')
    >>> log.n_rows
    2
    """

    def __init__(self, name: str, blocks: Callable[[], Iterator[Block]]) -> None:
        self.name = name
        self._blocks = blocks
        self._counted: tuple[tuple[Hashable, ...], int] | None = None

    def __iter__(self) -> Iterator[Block]:
        return self._blocks()

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Every action that was shown, in order; found in a pass of its own, and remembered."""
        return self._count()[0]

    @property
    def n_rows(self) -> int:
        """How many rows there are; found in a pass of its own, and remembered."""
        return self._count()[1]

    def _count(self) -> tuple[tuple[Hashable, ...], int]:
        if self._counted is None:
            found: dict[Hashable, None] = {}
            n_rows = 0
            for block in self:
                found.update(dict.fromkeys(block.actions.tolist()))
                n_rows += len(block)
            found.pop(None, None)
            self._counted = tuple(_in_order(list(found))), n_rows
        return self._counted

    def __repr__(self) -> str:
        return f"Log({self.name!r})"


def _in_order(labels: list[Hashable]) -> list[Any]:
    kinds = {type(label) for label in labels}
    return sorted(labels, key=str) if len(kinds) > 1 else sorted(labels)


def as_objects(values: list[Any]) -> Array:
    """A column of anything; NumPy would make a matrix of tuples of one length."""
    made = np.empty(len(values), object)
    made[:] = values
    return made


def refuse_changed(name: str) -> LogError:
    return LogError(f"{name} has changed since it was opened: let no one write to it meanwhile")
