"""Bounds on the mean of scores that hold at any time: one running sum for each side of an interval.

Anytime-valid off-policy inference: Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, arXiv 2210.10768.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from banditboost.errors import ParameterError
from banditboost.evaluation.mixture import boundary
from banditboost.types import Array

TOTAL, VARIANCE, RATES, RATED, PRICE = range(5)
"""Of a side: sums of scores, of (score - guess)^2; and of lambda, lambda score, psi(lambda) (score - guess)^2
for a number of rows that is planned."""
_PER_SIDE = 5
_FIRST_GUESS = 0.5
_FIRST_VARIANCE = 0.25
_LARGEST_RATE = 0.5
_PLANNED_LIMIT = math.log(2.0 / 0.05)  # rates are made for 95 %, and hold at every level


def running(start: Array, terms: Array) -> tuple[Array, Array]:
    """The sums before each row, and after all; one by one, so that all sizes of blocks come to the same."""
    sums = _sums(start, terms)
    return sums[:-1], sums[-1]


def _sums(start: Array, terms: Array) -> Array:
    """Before the first row, and after each."""
    return np.cumsum(np.concatenate([start[None], terms]), axis=0)


class Sequence:
    """A lower bound on the mean of one kind of scores, and one on that of the scores turned around.

    The target is `scale * mean - offset` of the low scores and `1 - scale * mean` of the high ones, where
    the scores, divided by the scale, are at least -1 + `cap`, and the cap is `1 / scale` at most.

    Args:
        scale, offset: as above.
        rows: how many are planned, for bounds of a fixed size; 0 if none are asked for.
        shape: of many sequences side by side.
    """

    def __init__(
        self, scale: float = 1.0, offset: float = 0.0, *, rows: int = 0, shape: tuple[int, ...] = ()
    ) -> None:
        self.scale, self._offset, self._rows = scale, offset, rows
        # Values lie between 0 and 1, those of differences between -1 and 1.
        self._cap = (1.0 + offset) / scale
        self.n = 0
        self.sides = np.zeros((2, _PER_SIDE, *shape))

    def add(self, low: Array, high: Array, marks: Iterable[int] = ()) -> Array:
        """Scores, a row for each event.

        Returns:
            The totals and the variances of both sides after so many of these rows, for each mark.
        """
        places = [*marks]
        advanced = [
            self._advanced(side, scores / self.scale, places)
            for side, scores in zip(self.sides, (low, high), strict=True)
        ]
        self.sides, self.n = np.stack([after for after, _ in advanced]), self.n + len(low)
        return np.stack([marked for _, marked in advanced], axis=1)

    def _advanced(self, side: Array, scores: Array, marks: list[int]) -> tuple[Array, Array]:
        after = side.copy()
        seen = np.arange(self.n, self.n + len(scores), dtype=np.float64).reshape(-1, *[1] * (scores.ndim - 1))
        totals = _sums(side[TOTAL], scores)
        guesses = np.minimum((totals[:-1] + _FIRST_GUESS) / (seen + 1.0), self._cap)
        squares = (scores - guesses) ** 2
        variances = _sums(side[VARIANCE], squares)
        variance = variances[:-1]
        after[TOTAL], after[VARIANCE] = totals[-1], variances[-1]
        if self._rows:
            spread = (_FIRST_VARIANCE + variance) / (seen + 1.0)
            rates = np.minimum(np.sqrt(2.0 * _PLANNED_LIMIT / (spread * self._rows)), _LARGEST_RATE)
            after[RATES] = running(side[RATES], rates)[1]
            after[RATED] = running(side[RATED], rates * scores)[1]
            after[PRICE] = running(side[PRICE], (-np.log1p(-rates) - rates) * squares)[1]
        return after, np.stack([totals[marks], variances[marks]], axis=1)

    def anytime(self, level: float) -> tuple[Array, Array]:
        """The target's bounds now: at all times together they hold with this probability."""
        if not self.n:
            return self._nothing_known()
        limit = math.log(2.0 / (1.0 - level))
        total, variance = self.sides[:, TOTAL], self.sides[:, VARIANCE]
        return self.target((total - boundary(variance, limit)) / self.n)

    def fixed(self, level: float) -> tuple[Array, Array]:
        """The target's bounds, made for the planned number of rows."""
        if not self._rows:
            raise ParameterError(
                "rows is None; say at the beginning for how many rows an interval of a fixed size is "
                "planned, or ask for kind='sequence'"
            )
        if not self.n:
            return self._nothing_known()
        limit = math.log(2.0 / (1.0 - level))
        rates, rated, price = (self.sides[:, place] for place in (RATES, RATED, PRICE))
        return self.target((rated - price - limit) / rates)

    def _nothing_known(self) -> tuple[Array, Array]:
        shape = self.sides.shape[2:]
        return np.full(shape, 0.0 - self._offset), np.ones(shape)

    def target(self, lower: Array) -> tuple[Array, Array]:
        """From lower bounds on the means of both sides."""
        low, high = self.scale * lower[0] - self._offset, 1.0 - self.scale * lower[1]
        least = 0.0 - self._offset
        return np.clip(low, least, 1.0), np.clip(high, least, 1.0)

    def copy(self) -> Self:
        """One that goes on by itself."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)  # its arrays are replaced, never written on
        return made

    def to_plain(self) -> dict[str, Any]:
        return {"n": self.n, "sides": self.sides.tolist()}

    def restore(self, n: int, sides: Array) -> None:
        self.n, self.sides = n, sides
