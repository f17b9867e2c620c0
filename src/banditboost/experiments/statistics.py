"""Means with intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

_CONFIDENCE = 0.95
_BISECTIONS = 60  # of an interval of length pi/2: down to the last bits of a float


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval (Student t); NaN for the latter if there is only one value.

    >>> mean, half_width = mean_interval([0.9, 0.92, 0.94])
    >>> round(mean, 4), round(half_width, 4)
    (0.92, 0.0497)
    """
    if not values:
        raise ValueError("values is empty; give at least one number")
    mean = statistics.fmean(values)
    if len(values) == 1:
        return mean, math.nan
    return mean, _quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


@cache
def _quantile(freedom: int) -> float:
    """The t with P(|T| <= t) = 0.95."""
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _central_probability(middle, freedom) < _CONFIDENCE else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _central_probability(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) tan(angle)): exact, a finite series (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    odd = freedom % 2
    cosine = math.cos(angle)
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    series = math.sin(angle) * total
    return (angle + series) * 2 / math.pi if odd else series
