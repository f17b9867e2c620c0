"""Empirical likelihood with the Cressie-Read divergence of power -2: an estimate and an interval from sums.

Karampatziakis, Langford and Mineiro, *Empirical likelihood for contextual bandits*, NeurIPS 2020. Rows get
probabilities, as equal as can be, under which the weights have the mean that they must have: 1. One row of
the least or the largest possible weight, which was not seen, is among them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from banditboost.evaluation.quantiles import student_half_width

_NOTHING = 1e-9


class Moments(NamedTuple):
    """Sums over rows with weight w and a reward u in [0, 1]; the range of all weights that are possible."""

    n: float
    w: float
    ww: float
    wu: float
    wwu: float
    wwuu: float
    u: float
    least: float
    most: float

    def turned(self) -> Moments:
        """Of rewards 1 - u."""
        return self._replace(
            wu=self.w - self.wu,
            wwu=self.ww - self.wwu,
            wwuu=self.ww - 2.0 * self.wwu + self.wwuu,
            u=self.n - self.u,
        )

    @property
    def unseen(self) -> float:
        """The weight of the row that was not seen: what the mean lacks is above, or below."""
        return self.most if self.w < self.n else self.least


def likelihood_estimate(sums: Moments) -> float:
    """The value in [0, 1]; NaN without rows."""
    if not sums.n:
        return math.nan
    if math.isinf(sums.unseen):
        constant, slope = (1.0 + sums.n) / sums.n, 0.0
    else:
        mean = (sums.unseen + sums.w) / (1.0 + sums.n)
        square = (sums.unseen**2 + sums.ww) / (1.0 + sums.n)
        spread = square - mean * mean
        if not spread > 0.0:  # all weights are 1
            return sums.wu / sums.n
        constant, slope = (square - mean) / spread, (1.0 - mean) / spread
    known = (constant * sums.w + slope * sums.ww) / (1.0 + sums.n)
    value = (constant * sums.wu + slope * sums.wwu) / (1.0 + sums.n)
    return value + max(0.0, 1.0 - known) * sums.u / sums.n


def likelihood_interval(sums: Moments, level: float) -> tuple[float, float]:
    """Bounds on the value, in [0, 1]; approximate: exact only as rows become many, and all alike."""
    if not sums.n:
        return 0.0, 1.0
    return _lowest(sums, level), 1.0 - _lowest(sums.turned(), level)


def _lowest(sums: Moments, level: float) -> float:
    """The least value whose probabilities diverge little enough, whatever the unseen row's weight is."""
    budget = -(_least_divergence(sums) + student_half_width(level, int(sums.n)) ** 2) / (2.0 * (1.0 + sums.n))
    found = [_lowest_with(sums, unseen, budget) for unseen in (sums.least, sums.most)]
    possible = [value for value in found if value is not None]
    return min(1.0, max(0.0, min(possible, default=0.0)))


def _least_divergence(sums: Moments) -> float:
    """That of the probabilities of the estimate."""
    if math.isinf(sums.unseen):
        return 1.0 + 1.0 / sums.n
    mean = (sums.unseen + sums.w) / (1.0 + sums.n)
    spread = (sums.unseen**2 + sums.ww) / (1.0 + sums.n) - mean * mean
    return (1.0 + sums.n) * (mean - 1.0) ** 2 / spread if spread > 0.0 else 0.0


def _lowest_with(sums: Moments, unseen: float, budget: float) -> float | None:
    """With this weight of the unseen row, whose reward is 0; None if there are no such probabilities."""
    total = 1.0 + sums.n
    if math.isinf(unseen):
        centre = sums.wu / sums.n
        curve = sums.wu**2 / (sums.n * total) - sums.wwuu / total
        left = budget + 1.0 / (2.0 * sums.n)
    else:
        w, ww, wu = (unseen + sums.w) / total, (unseen**2 + sums.ww) / total, sums.wu / total
        spread = ww - w * w
        if not spread > 0.0:
            return None
        common = sums.wwu / total - w * wu
        centre = wu + (1.0 - w) * common / spread
        curve = common * common / spread - (sums.wwuu / total - wu * wu)
        left = budget + (1.0 - w) ** 2 / (2.0 * spread)
    if abs(curve * left) <= _NOTHING**2:
        return centre - math.sqrt(2.0) * _NOTHING
    if left > 0.0 or curve * left < 0.0:
        return None
    return centre - math.sqrt(2.0 * curve * left)
