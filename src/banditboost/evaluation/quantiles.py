"""Quantiles of the normal distribution and of Student's."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from banditboost.types import Array

_MANY = 1000  # degrees of freedom from which on the expansion is exact to the last digits
_POINTS = 200
_BISECTIONS = 80


def normal_half_width(level: float) -> float:
    """The z with P(|Z| <= z) = level.

    >>> round(normal_half_width(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1.0 + level) / 2.0)


@cache
def student_half_width(level: float, freedom: int) -> float:
    """The t with P(|T| <= t) = level.

    >>> round(student_half_width(0.95, 10), 6)
    2.228139
    """
    if freedom > _MANY:
        return _expanded(normal_half_width(level), freedom)
    whole = math.sqrt(math.pi) / 2.0 * math.exp(math.lgamma(freedom / 2.0) - math.lgamma((freedom + 1) / 2.0))
    low, high = 0.0, math.pi / 2.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _within(middle, freedom) < level * whole else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2.0)


def _within(angle: float, freedom: int) -> float:
    """The integral of cos^(freedom - 1) up to an angle: T = sqrt(freedom) tan(angle)."""
    places, weights = _points()
    cosines = np.cos(angle / 2.0 * (places + 1.0))
    return float(angle / 2.0 * np.sum(weights * cosines ** (freedom - 1)))


@cache
def _points() -> tuple[Array, Array]:
    """Of Gauss and Legendre, on [-1, 1]."""
    found: tuple[Array, Array] = np.polynomial.legendre.leggauss(_POINTS)
    return found


def _expanded(z: float, freedom: int) -> float:
    """Abramowitz and Stegun 26.7.5."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom ** (power + 1) for power, term in enumerate(terms))
