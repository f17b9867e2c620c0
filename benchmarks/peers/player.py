"""What a player is: somebody who shows a label for each row of a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from banditboost.datasets import Stream
from benchmarks.peers.bags import Bags

IntArray = NDArray[np.int64]
Parameters = Mapping[str, Any]
AnyStream = Stream | Bags


class Game(Protocol):
    """A player before a stream.

    What it takes to get ready (imports, rows in its own format) happens in the constructor.
    """

    def __init__(self, stream: Any, parameters: Parameters, seed: int) -> None: ...

    def play(self, limit: float) -> None:
        """Play on until the stream ends or about `limit` CPU seconds are over. This is what is measured."""

    def shown(self) -> IntArray:
        """The labels shown, by position, for as many rounds as were played."""


def _no_others(_: Parameters) -> Sequence[Parameters]:
    return ()


@dataclass(frozen=True)
class Player:
    """Who plays, and the settings that are tried."""

    name: str
    game: Callable[[Any, Parameters, int], Game]
    package: str
    """Whose it is: 'banditboost' or the name on PyPI."""
    settings: Callable[[str], Sequence[Parameters]]
    """Name of a stream -> settings to try first; one alone is not tuned."""
    neighbours: Callable[[Parameters], Sequence[Parameters]] = _no_others
    """The best of those -> what else to try."""
    told: bool = False
    """Is told the right label after every round (full information)."""
    seeds: int = 3

    @property
    def ours(self) -> bool:
        return self.package == "banditboost"


class Clock:
    """CPU seconds since it was made, against a limit."""

    def __init__(self, limit: float) -> None:
        self._end = time.process_time() + limit

    @property
    def over(self) -> bool:
        return time.process_time() > self._end
