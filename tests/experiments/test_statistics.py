"""Means with intervals, against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from banditboost.experiments.statistics import mean_interval


@pytest.mark.parametrize("size", [2, 3, 4, 5, 10, 20, 21, 500, 1001])
def test_the_interval_is_students(size: int) -> None:
    values = np.random.default_rng(size).random(size)
    low, high = stats.t.interval(0.95, size - 1, values.mean(), stats.sem(values))
    mean, half_width = mean_interval(values.tolist())
    assert mean == pytest.approx(values.mean(), rel=1e-12)
    assert half_width == pytest.approx((high - low) / 2, rel=1e-9)


def test_one_value_has_no_interval() -> None:
    mean, half_width = mean_interval([0.5])
    assert mean == 0.5
    assert math.isnan(half_width)


def test_no_value_has_no_mean() -> None:
    with pytest.raises(ValueError, match="values is empty"):
        mean_interval([])
