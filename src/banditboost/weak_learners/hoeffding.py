"""The Hoeffding tree as users configure it; docs/trees.md says what it does, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from banditboost.errors import ParameterError
from banditboost.text import quoted
from banditboost.validation import is_number, is_whole

Range = float | tuple[float, float]
LeafPrediction = Literal["majority", "naive_bayes", "adaptive"]
LEAF_PREDICTIONS: tuple[LeafPrediction, ...] = ("majority", "naive_bayes", "adaptive")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and is_number(value)


def _bounds(name: str, value: Range, low: float, high: float) -> tuple[float, float]:
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2 or not all(_is_number(v) and low < v <= high for v in pair) or pair[0] > pair[1]:
        raise ParameterError(
            f"{name} is {quoted(value)}; give a number in ({low}, {high}], or a pair (low, high) of them"
        )
    return float(pair[0]), float(pair[1])


@dataclass(frozen=True)
class HoeffdingTree:
    """An online decision tree (VFDT, Domingos and Hulten 2000) with importance weights.

    A pair is a range from which each tree of a committee draws its own value: the grace period uniformly,
    confidence and tie threshold log-uniformly. The defaults are the ranges of the paper's experiments with
    few labels.

    Args:
        grace_period: weight that a leaf gathers between two attempts to split.
        split_confidence: delta of the Hoeffding bound.
        tie_threshold: a bound below this splits even though two features are nearly as good.
        leaf_prediction: 'majority', 'naive_bayes', or 'adaptive', which takes whichever has been right more
            often in that leaf.
        min_branch_fraction: at least two branches of a split must get this share of the leaf.
        max_columns: a leaf looks at so many columns at most, each leaf of wide rows at others. None: at all.

    >>> HoeffdingTree(grace_period=50).grace_period
    50
    """

    grace_period: Range = (5.0, 20.0)
    split_confidence: Range = (0.01, 0.9)
    tie_threshold: Range = (0.01, 0.9)
    leaf_prediction: LeafPrediction = "majority"
    min_branch_fraction: float = 0.01
    max_columns: int | None = 80

    def __post_init__(self) -> None:
        self.ranges()
        if not isinstance(self.leaf_prediction, str) or self.leaf_prediction not in LEAF_PREDICTIONS:
            raise ParameterError(
                f"leaf_prediction is {quoted(self.leaf_prediction)}; it must be one of "
                f"{', '.join(LEAF_PREDICTIONS)}"
            )
        if not _is_number(self.min_branch_fraction) or not 0.0 <= self.min_branch_fraction < 0.5:
            raise ParameterError(
                f"min_branch_fraction is {quoted(self.min_branch_fraction)}; give a number in [0, 0.5)"
            )
        if self.max_columns is not None and not (is_whole(self.max_columns) and self.max_columns >= 1):
            raise ParameterError(
                f"max_columns is {quoted(self.max_columns)}; give a whole number of at least 1, or None for "
                "all"
            )

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Grace period, split confidence and tie threshold as (low, high)."""
        return (
            _bounds("grace_period", self.grace_period, 0.0, 1e12),
            _bounds("split_confidence", self.split_confidence, 0.0, 1.0),
            _bounds("tie_threshold", self.tie_threshold, 0.0, 1e12),
        )
