"""Gaps in the paper's proofs, by brute force: the numbers that docs/theory.md tells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from banditboost import theory
from tests.naive import boosters as naive

FAR = 40.0  # N = 20 learners of one mind with alpha = 2: tanh is 1 to the last digit


def deviations(matrix: np.ndarray, rho: float) -> list[tuple[np.ndarray, int]]:
    """chat - c for every greedy, shown and right label, and which one was right."""
    k = len(matrix)
    found = []
    for yhat, ytilde, y in itertools.product(range(k), repeat=3):
        p = 1 - rho if ytilde == yhat else rho / (k - 1)
        lhat = np.array(naive.estimate_4(k, yhat, ytilde, p, ytilde == y))
        found.append((matrix @ (1 - lhat) - matrix[:, y], y))
    return found


def largest(matrix: np.ndarray, rho: float) -> float:
    return max(float(np.abs(off).max()) for off, _ in deviations(matrix, rho))


def logistic_matrices(k: int) -> list[np.ndarray]:
    """Of all votes in which any two labels are as far apart as can be, or tie."""
    return [
        np.array(naive.adaptive_cost_matrix(list(s))) for s in itertools.product((-FAR, 0.0, FAR), repeat=k)
    ]


# Estimated costs are not k/rho-bounded


@pytest.mark.parametrize("rho", [0.001, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_cost_deviation_is_the_largest_of_all_states(k: int, rho: float) -> None:
    assert max(largest(matrix, rho) for matrix in logistic_matrices(k)) == pytest.approx(
        theory.cost_deviation(k, rho), rel=1e-9
    )


@pytest.mark.parametrize(("k", "of_one_mind", "worst", "papers"), [(8, 414, 483, 80), (26, 5976, 6225, 260)])
def test_costs_stray_further_than_the_paper_says(
    k: int, of_one_mind: float, worst: float, papers: float
) -> None:
    """rho = 0.1, as for Mice and Isolet; all learners vote for one label, or for all labels but one."""
    rho = 0.1
    leads, trails = [0.0] * k, [0.0] * k
    leads[0], trails[0] = FAR, -FAR
    assert papers == theory.estimate_bound(k, rho) == pytest.approx(k / rho)
    explored = [0, 1, 2]  # the greedy, the shown and right one, and a third stand for all
    lhat = np.array(naive.estimate_4(k, 0, 1, rho / (k - 1), True))
    matrix = np.array(naive.adaptive_cost_matrix(leads))
    assert np.abs(matrix @ (1 - lhat) - matrix[:, 1])[explored].max() == pytest.approx(of_one_mind)
    lhat = np.array(naive.estimate_4(k, 1, 2, rho / (k - 1), True))
    matrix = np.array(naive.adaptive_cost_matrix(trails))
    assert np.abs(matrix @ (1 - lhat) - matrix[:, 2])[explored].max() == pytest.approx(worst)
    assert worst == theory.cost_deviation(k, rho)


@pytest.mark.parametrize("k", [3, 4])
def test_potential_costs_stray_as_far_as_votes_of_one_mind_do(k: int) -> None:
    rho, n = 0.1, 3
    states = [s for s in itertools.product(range(n), repeat=k) if sum(s) < n]
    found = max(
        largest(np.array(naive.optimal_cost_matrix(list(s), n - 1 - sum(s), 0.1)), rho) for s in states
    )
    assert found == pytest.approx((k - 2) * theory.estimate_deviation(k, rho))
    assert (8 - 2) * theory.estimate_deviation(8, rho) == pytest.approx(414)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_in_units_of_the_largest_weight_the_bound_holds(k: int) -> None:
    """d = c - c_y divided by the largest |d|_1 of all states, k (k - 1): far below k / rho."""
    rho = 0.1
    found, weight = 0.0, 0.0
    for matrix in logistic_matrices(k):
        found = max(found, *(float(np.abs(off - off[y]).max()) for off, y in deviations(matrix, rho)))
        weight = max(weight, float((matrix.sum(axis=0) - k * np.diag(matrix)).max()))
    assert weight == pytest.approx(k * (k - 1))
    assert 1.0 < found / weight < theory.estimate_bound(k, rho) / 3


def test_in_units_of_its_own_weight_there_is_no_bound() -> None:
    """The further the right label leads, the less the round weighs, and the estimate strays all the same."""
    ratios = []
    for lead in (0.0, 2.0, 5.0, 10.0):
        matrix = np.array(naive.adaptive_cost_matrix([lead, 0.0, 0.0]))
        weight = matrix[:, 0].sum() - 3 * matrix[0, 0]
        strayed = max(np.abs(off - off[0]).max() for off, y in deviations(matrix, 0.1) if y == 0)
        ratios.append(strayed / weight)
    assert ratios == sorted(ratios)
    assert ratios[-1] > 10_000 > theory.estimate_bound(3, 0.1)


# Hedge with estimated losses


@pytest.mark.parametrize(("k", "rho", "most"), [(8, 0.1, 70), (26, 0.1, 250), (3, 0.001, 2000)])
def test_the_bound_of_hedge_fails_for_losses_that_large(k: int, rho: float, most: float) -> None:
    """Two experts, one round: with eta = 1 and losses in [0, 1], the loss is at most 2 min + 2 ln N."""
    lhat = naive.estimate_4(k, 0, 1, rho / (k - 1), True)
    assert max(lhat) == pytest.approx(most) == pytest.approx((k - 1) / rho)
    suffered = (lhat[2] + lhat[1]) / 2  # experts for a third label and for the right one, of equal weight
    assert suffered > 2 * min(lhat[2], lhat[1]) + 2 * math.log(2)
    assert suffered == pytest.approx(most / 2)


@pytest.mark.parametrize("most", [1.0, 70.0])
def test_what_hedge_keeps_with_eta_one(most: float) -> None:
    """Losses in [0, B]: B / (1 - exp(-B)) (min + ln N), which for B = 1 is below 2 min + 2 ln N."""
    factor = most / (1 - math.exp(-most))
    assert most > 1 or factor < 2
    luck = np.random.default_rng(1)
    for n in (2, 5):
        log_weights, suffered, sums = np.zeros(n), 0.0, np.zeros(n)
        for _ in range(300):
            loss = most * (luck.random(n) < 1 / most / 2)
            weights = np.exp(log_weights - log_weights.max())
            suffered += float(weights @ loss / weights.sum())
            sums += loss
            log_weights -= loss
            assert suffered <= factor * (sums.min() + math.log(n)) + 1e-9


# The logistic loss at 0


@pytest.mark.parametrize("k", [2, 3, 26])
def test_logistic_loss_at_zero_has_a_term_for_the_right_label_too(k: int) -> None:
    """k ln 2, where the proof has (k - 1) ln 2; and never below ln 2, so that the difference is as it says."""
    assert naive.logistic_loss(0, [0.0] * k) == pytest.approx(k * math.log(2))
    for s in itertools.product((-9.0, 0.0, 9.0), repeat=min(k, 4)):
        assert naive.logistic_loss(0, list(s)) >= math.log(2)


def test_the_constant_of_theorem_3_3_bears_it() -> None:
    """8 k ln 2 + k, after the last step of the proof, is still below 8 k."""
    assert 8 * math.log(2) + 1 < 8
    assert Fraction(6545, 1000) < 8 * math.log(2) + 1 < Fraction(6546, 1000)
