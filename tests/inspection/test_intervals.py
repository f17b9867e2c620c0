"""Intervals of mean rewards: exact for verdicts, and of about the right coverage for graded rewards."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.inspection.accuracy import Accuracy

Draw = Callable[[np.random.Generator, Any], np.ndarray]
SHAPES: dict[str, tuple[Draw, float]] = {
    "uniform": (lambda luck, size: luck.random(size), 0.5),
    "narrow": (lambda luck, size: luck.beta(60, 40, size), 0.6),
    "U": (lambda luck, size: luck.beta(0.3, 0.5, size), 0.375),
    "ratings": (
        lambda luck, size: luck.choice([0, 0.25, 0.5, 0.75, 1], size, p=[0.1, 0.1, 0.2, 0.3, 0.3]),
        0.65,
    ),
    "prices": (lambda luck, size: 0.6 * (luck.random(size) < 0.3), 0.18),
    "near 1": (lambda luck, size: 1.0 - 0.1 * luck.beta(2, 5, size), 1.0 - 0.1 * 2 / 7),
}


@given(right=st.integers(0, 500), wrong=st.integers(0, 500))
def test_of_verdicts_it_is_wilsons(right: int, wrong: int) -> None:
    if right + wrong:
        assert Accuracy.of_rewards(right, right, right + wrong) == Accuracy.of(right, right + wrong)
    assert math.isnan(Accuracy.of_rewards(0, 0, 0).share)


@given(rewards=st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_it_is_within_that_of_verdicts_and_around_the_mean(rewards: list[float]) -> None:
    total, squares = float(np.sum(rewards)), float(np.sum(np.square(rewards)))
    found, widest = Accuracy.of_rewards(total, squares, len(rewards)), Accuracy.of(total, len(rewards))
    assert 0.0 <= widest.low <= found.low + 1e-12
    assert found.high - 1e-12 <= widest.high <= 1.0
    assert found.low <= found.share <= found.high
    scaled = Accuracy.of_rewards(total, squares, len(rewards), (-2.0, 6.0))
    assert scaled.low == pytest.approx(8 * found.low - 2, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 30, 100, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_coverage(shape: str, n: int) -> None:
    draw, mean = SHAPES[shape]
    samples = draw(np.random.default_rng(1), (4000, n))
    found = [Accuracy.of_rewards(float(s.sum()), float((s * s).sum()), n) for s in samples]
    covered = np.mean([one.low <= mean <= one.high for one in found])
    assert covered > 0.93
    if n >= 1000:
        assert covered < 0.985
