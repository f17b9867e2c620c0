"""Numbers of tables in words: counts, differences, parameters, and what their intervals are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from banditboost.experiments.grouping import Estimate
from banditboost.experiments.statistics import FEWEST_FOR_AN_INTERVAL
from banditboost.text import visible


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "seed"), count(1200, "combination")
    ('1 seed', '1,200 combinations')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def value_text(value: Any) -> str:
    """A parameter for people: a range is written 5 to 20."""
    if isinstance(value, list):
        return " to ".join(value_text(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else visible(value)


def signed(number: float) -> str:
    return f"{round(number, 3) + 0.0:+.3f}".replace("-", "−")


def finite(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 5)


def interval_note(scores: Iterable[Estimate]) -> str:
    """What the numbers of a table are: means with intervals, or without them where seeds are too few."""
    found = list(scores)
    most = max(score.seeds for score in found)
    fewest = f"intervals take at least {FEWEST_FOR_AN_INTERVAL} seeds"
    if all(score.has_interval for score in found):
        return "mean ± half the 95 % interval over seeds."
    if any(score.has_interval for score in found):
        return f"mean ± half the 95 % interval over seeds; {fewest}."
    return f"one seed; {fewest}." if most == 1 else f"mean over {most} seeds; {fewest}."
