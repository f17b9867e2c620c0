"""Means with intervals, against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from banditboost.errors import ParameterError
from banditboost.experiments.statistics import mean_interval, paired_difference


@pytest.mark.parametrize("size", [3, 4, 5, 10, 20, 21, 500, 1001])
def test_the_interval_is_students(size: int) -> None:
    values = np.random.default_rng(size).random(size)
    low, high = stats.t.interval(0.95, size - 1, values.mean(), stats.sem(values))
    mean, half_width = mean_interval(values.tolist())
    assert mean == pytest.approx(values.mean(), rel=1e-12)
    assert half_width == pytest.approx((high - low) / 2, rel=1e-9)


@pytest.mark.parametrize("values", [[0.5], [0.4, 0.6]])
def test_below_three_values_there_is_no_interval(values: list[float]) -> None:
    mean, half_width = mean_interval(values)
    assert mean == 0.5
    assert math.isnan(half_width)


def test_no_value_has_no_mean() -> None:
    with pytest.raises(ParameterError, match="values is empty"):
        mean_interval([])


@pytest.mark.parametrize("size", [3, 5, 20])
def test_the_interval_of_a_difference_is_that_of_the_paired_t_test(size: int) -> None:
    draw = np.random.default_rng(size)
    scores, reference = draw.random(size), draw.random(size)
    found = paired_difference(dict(enumerate(scores)), dict(enumerate(reference)))
    low, high = stats.ttest_rel(scores, reference).confidence_interval(0.95)
    assert found.mean == pytest.approx((low + high) / 2, rel=1e-9)
    assert found.half_width == pytest.approx((high - low) / 2, rel=1e-9)
    assert found.seeds == size
    assert found.is_clear == (stats.ttest_rel(scores, reference).pvalue < 0.05)


def test_only_seeds_that_both_have_are_compared() -> None:
    found = paired_difference({1: 0.5, 2: 0.6, 3: 0.7, 9: 0.0}, {3: 0.6, 2: 0.5, 1: 0.4, 8: 1.0})
    assert (round(found.mean, 12), found.seeds) == (0.1, 3)
    with pytest.raises(ParameterError, match="no seed in common"):
        paired_difference({1: 0.5}, {2: 0.5})


def test_below_three_seeds_no_difference_is_clear() -> None:
    assert not paired_difference({1: 0.9, 2: 0.9}, {1: 0.1, 2: 0.1}).is_clear


@pytest.mark.parametrize("size", [3, 5, 10])
def test_the_interval_of_a_difference_covers_the_truth_as_often_as_it_says(size: int) -> None:
    """Seeds move both scores alike; differences are normal, so coverage is exactly 95 %: 4 standard errors of
    room.
    """
    trials, truth = 4000, 0.03
    draw = np.random.default_rng(size)
    stream = draw.normal(0.7, 0.2, (trials, size))
    scores = stream + truth + draw.normal(0, 0.01, (trials, size))
    reference = stream + draw.normal(0, 0.02, (trials, size))
    covered, narrower = 0, 0
    for one, other in zip(scores.tolist(), reference.tolist(), strict=True):
        found = paired_difference(dict(enumerate(one)), dict(enumerate(other)))
        covered += abs(found.mean - truth) <= found.half_width
        narrower += found.half_width < mean_interval(one)[1]
    assert covered / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))
    assert narrower > 0.9 * trials  # pairing takes the seed's share out
