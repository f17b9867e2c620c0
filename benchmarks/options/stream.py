"""A stream of options: contexts, items, which of them are offered, and what each would earn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Numbers = NDArray[np.int64]
Rewards = NDArray[np.float32]
CHOOSING, REPORTING = "choosing", "reporting"


@dataclass(frozen=True)
class Stream:
    """What a player sees and earns. Items never change; what is offered does."""

    contexts: list[Row]
    items: list[Row]
    """Features of every item that is ever offered."""
    offered: Numbers
    """[rounds, options]: numbers of the items on offer."""
    rewards: Rewards
    """[rounds, options]: what each would earn, in [0, 1]."""
    means: Rewards
    """The same on average, where luck is in it."""

    def beginning(self, rounds: int) -> Stream:
        """The stream's first rounds."""
        return Stream(
            self.contexts[:rounds], self.items, self.offered[:rounds], self.rewards[:rounds], self.means[:rounds]
        )  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A named stream, made by a seed."""

    name: str
    purpose: str
    make: Callable[[int], Stream]
    tuned_as: str = ""
    """The name of another task whose settings count here: a shop too large to tune on."""
    tuning_rounds: int = 2_500


def columns(values: NDArray[np.float64], letter: str) -> list[Row]:
    """Rows of a matrix as dicts of numbers."""
    names = [f"{letter}{i}" for i in range(values.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in np.round(values, 4).tolist()]


def drawn(means: NDArray[np.float64], luck: NDArray[np.float64]) -> Rewards:
    """Clicks: all options of a round share its luck."""
    return (luck[:, None] < means).astype(np.float32)
