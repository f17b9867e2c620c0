"""The estimates of the loss, equations (3) and (4): unbiased, bounded, and what the twin says."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.boosting.estimate import estimate, estimated_loss
from banditboost.theory import estimate_bound, estimate_deviation
from tests.boosting.kernels import label_probability, memo_of, settings_of
from tests.naive.boosters import ESTIMATES

RATES = [1e-6, 0.001, 0.1, 0.5, 0.9]
CASES = [(k, rho) for k in (2, 3, 4, 7) for rho in RATES]


def estimate_of(k: int, yhat: int, ytilde: int, p: float, correct: bool, estimator: int = 4) -> list[float]:
    """lhat of all labels."""
    of = estimate(settings_of(k, estimator=estimator), memo_of(yhat, ytilde, p), int(correct))
    return [estimated_loss(of, label) for label in range(k)]


def rounds(k: int) -> list[tuple[int, int]]:
    """Greedy and right label: all pairs."""
    return [(yhat, y) for yhat in range(k) for y in range(k)]


def mean_estimate(k: int, rho: float, yhat: int, y: int, estimator: int) -> list[float]:
    """The expectation over the k labels that might be shown."""
    mean = [0.0] * k
    for ytilde in range(k):
        p = label_probability(ytilde, yhat, rho, k)
        lhat = estimate_of(k, yhat, ytilde, p, ytilde == y, estimator)
        mean = [m + p * loss for m, loss in zip(mean, lhat, strict=True)]
    return mean


@pytest.mark.parametrize("estimator", [3, 4])
@pytest.mark.parametrize(("k", "rho"), CASES)
def test_estimate_is_unbiased(k: int, rho: float, estimator: int) -> None:
    for yhat, y in rounds(k):
        loss = [float(label != y) for label in range(k)]
        assert mean_estimate(k, rho, yhat, y, estimator) == pytest.approx(loss, abs=1e-12)


@given(k=st.integers(2, 40), rho=st.floats(1e-9, 1 - 1e-9), estimator=st.sampled_from([3, 4]), data=st.data())
def test_estimate_is_unbiased_for_any_rate(k: int, rho: float, estimator: int, data: st.DataObject) -> None:
    yhat, y = data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))
    loss = [float(label != y) for label in range(k)]
    assert mean_estimate(k, rho, yhat, y, estimator) == pytest.approx(loss, abs=1e-12)


@given(
    k=st.integers(2, 300), rho=st.floats(1e-9, 1 - 1e-9), estimator=st.sampled_from([3, 4]), data=st.data()
)
def test_estimate_equals_the_twin(k: int, rho: float, estimator: int, data: st.DataObject) -> None:
    yhat, ytilde = data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))
    correct = data.draw(st.booleans())
    p = label_probability(ytilde, yhat, rho, k)
    expected = ESTIMATES[estimator](k, yhat, ytilde, p, correct)
    # What is written as 1 - lhat = base + ... loses the last bits of 1 / p.
    assert estimate_of(k, yhat, ytilde, p, correct, estimator) == pytest.approx(
        expected, rel=1e-14, abs=1e-15 / p
    )


def largest_deviation(k: int, rho: float) -> float:
    """max |lhat_l - l_l| over all rounds and draws, of equation (4)."""
    largest = 0.0
    for yhat, y in rounds(k):
        for ytilde in range(k):
            lhat = estimate_of(k, yhat, ytilde, label_probability(ytilde, yhat, rho, k), ytilde == y)
            largest = max([largest, *(abs(lhat[label] - (label != y)) for label in range(k))])
    return largest


@pytest.mark.parametrize(("k", "rho"), CASES)
def test_deviation_is_what_theory_says(k: int, rho: float) -> None:
    deviation = largest_deviation(k, rho)
    assert deviation == pytest.approx(estimate_deviation(k, rho), rel=1e-9)
    if rho <= (math.sqrt(k * k + 4 * k) - k) / 2:
        assert deviation <= estimate_bound(k, rho) == k / rho


def test_bound_fails_where_theory_says_it_fails() -> None:
    assert largest_deviation(2, 0.9) > estimate_bound(2, 0.9)


def test_full_information_needs_no_estimate() -> None:
    of = estimate(settings_of(4, full_information=1), memo_of(1, 1, 1.0), 2)
    assert [estimated_loss(of, label) for label in range(4)] == [1.0, 1.0, 0.0, 1.0]
    assert of.right == 2


@pytest.mark.parametrize("estimator", [3, 4])
def test_right_label_is_known_in_correct_rounds_only(estimator: int) -> None:
    for ytilde in (0, 1):
        settings, memo = (
            settings_of(3, estimator=estimator),
            memo_of(0, ytilde, label_probability(ytilde, 0, 0.1, 3)),
        )
        assert estimate(settings, memo, 1).right == ytilde
        assert estimate(settings, memo, 0).right == -1
