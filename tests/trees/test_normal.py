"""The polynomials behind split merits, against the mathematics of the standard library and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr, xlog1py, xlogy

from banditboost.trees.special_functions import cut, exp_negative, xlogx

GRID = np.linspace(-40.0, 40.0, 8001)


def below(z: float) -> float:
    return float(cut(z)[0])


def entropy(z: float) -> float:
    return float(cut(z)[1])


def test_the_share_below_equals_scipy() -> None:
    ours = np.array([below(z) for z in GRID.tolist()])
    assert np.abs(ours - ndtr(GRID)).max() < 1e-12
    assert ours.min() >= 0.0
    assert ours.max() <= 1.0


def test_the_entropy_equals_scipy() -> None:
    ours = np.array([entropy(z) for z in GRID.tolist()])
    tail = ndtr(-np.abs(GRID))
    assert np.abs(ours + xlogy(tail, tail) + xlog1py(1.0 - tail, -tail)).max() < 1e-12
    assert ours.min() >= 0.0


@given(st.floats(-1e300, 1e300))
@example(5e-324)
def test_the_share_below_equals_erfc(z: float) -> None:
    assert abs(below(z) - 0.5 * math.erfc(-z / math.sqrt(2))) < 1e-12


@given(st.floats(0.0, 50.0))
def test_both_are_symmetric(z: float) -> None:
    assert below(z) + below(-z) == pytest.approx(1.0, abs=1e-12)
    assert entropy(z) == entropy(-z)


@pytest.mark.parametrize("far", [9.0, 40.0, 1e10, 1e308, math.inf])
def test_both_far_out(far: float) -> None:
    assert below(far) == 1.0
    assert 0.0 <= below(-far) < 1e-17
    assert 0.0 <= entropy(far) < 1e-15


@given(st.floats(-689.9, 0.0))
@example(0.0)
@example(-5e-324)
@example(-689.9)
def test_exp_negative_equals_exp(x: float) -> None:
    assert exp_negative(x) == pytest.approx(math.exp(x), rel=1e-12, abs=0.0)


@given(st.floats(0.0, 1e300))
@example(0.0)
@example(5e-324)
@example(1.0)
@example(math.nextafter(1.0, 0.0))
def test_xlogx_equals_log(x: float) -> None:
    assert xlogx(x) == pytest.approx(x * math.log(x) if x else 0.0, rel=1e-13, abs=0.0)
