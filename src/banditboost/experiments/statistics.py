"""Means over seeds with intervals, and differences of learners that were played with the same seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from banditboost.errors import ParameterError
from banditboost.text import quoted
from banditboost.validation import check_number

FEWEST_FOR_AN_INTERVAL = 3
"""Seeds.

Of two, Student's interval is nine times as wide as the values are apart: it says nothing about accuracies.
"""
_CONFIDENCE = 0.95
_BISECTIONS = 60  # of an interval of length pi/2: down to the last bits of a float


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval (Student t); NaN for the latter below three values.

    >>> mean, half_width = mean_interval([0.9, 0.92, 0.94])
    >>> round(mean, 4), round(half_width, 4)
    (0.92, 0.0497)
    """
    try:
        found = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"values is {quoted(values)}; give a list of numbers") from None
    if not found:
        raise ParameterError("values is empty; give at least one number")
    if not all(map(math.isfinite, found)):
        raise ParameterError(f"values is {quoted(values)}; give finite numbers")
    mean = statistics.fmean(found)
    if len(found) < FEWEST_FOR_AN_INTERVAL:
        return mean, math.nan
    return mean, _quantile(len(found) - 1) * statistics.stdev(found) / math.sqrt(len(found))


@dataclass(frozen=True)
class PairedDifference:
    """By how much one learner is ahead of another, on average over the seeds that both were played with.

    >>> PairedDifference(mean=0.02, half_width=0.01, seeds=5).is_clear
    True
    """

    mean: float
    half_width: float
    """Half the width of the 95 % interval (paired Student t); NaN below three seeds."""
    seeds: int
    """How many seeds both have."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0; False if there is no interval."""
        return abs(self.mean) > self.half_width


def paired_difference(scores: Mapping[int, float], reference: Mapping[int, float]) -> PairedDifference:
    """Compare scores with those of a reference, seed by seed.

    A seed is the stream's order as well as the model's, so scores of one seed go up and down together. Their
    differences vary less than the scores do, and the interval of their mean is narrower than two intervals
    side by side suggest. It is exact if the differences are normally distributed. It holds for one
    comparison: among twenty with no difference, one interval is expected to leave out 0.

    Args:
        scores: by seed.
        reference: by seed. Seeds that only one of the two has are left out.

    >>> found = paired_difference({1: 0.90, 2: 0.81, 3: 0.86}, {1: 0.88, 2: 0.80, 3: 0.83})
    >>> round(found.mean, 4), round(found.half_width, 4), found.is_clear
    (0.02, 0.0248, False)
    """
    for name, given in (("scores", scores), ("reference", reference)):
        if not isinstance(given, Mapping):
            raise ParameterError(f"{name} is {quoted(given)}; give scores by seed, as a dict")
        for score in given.values():
            check_number(f"a score of {name}", score, -math.inf, math.inf)
    both = [seed for seed in scores if seed in reference]
    if not both:
        raise ParameterError("scores and reference have no seed in common; play both with the same seeds")
    mean, half_width = mean_interval([scores[seed] - reference[seed] for seed in both])
    return PairedDifference(mean, half_width, len(both))


@cache
def _quantile(freedom: int) -> float:
    """The t with P(|T| <= t) = 0.95."""
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _central_probability(middle, freedom) < _CONFIDENCE else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _central_probability(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) tan(angle)), exactly.

    It is a finite series (Abramowitz and Stegun 26.7.3 and 26.7.4).
    """
    odd = freedom % 2
    cosine = math.cos(angle)
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    series = math.sin(angle) * total
    return (angle + series) * 2 / math.pi if odd else series
