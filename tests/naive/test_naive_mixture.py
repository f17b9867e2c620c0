"""The twin's own sanity: what only one moving entry of s makes simple, against the definitions."""

import math
import random

import pytest

from . import boosters, mixture


def moved(s, h, alpha):
    after = list(s)
    after[h] += alpha
    return after


def logistic_loss(y, s):
    """l_y(s) = -ln softmax(s)_y."""
    return math.log(sum(math.exp(entry) for entry in s)) - s[y]


def loss_of_alpha(s, h, alpha, vector):
    return mixture.loss_of_alpha(mixture.softmax(s)[h], alpha, vector[h], sum(vector))


def draw(luck, k):
    return [luck.gauss(0, 1.5) for _ in range(k)]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_what_a_round_adds_is_the_estimated_loss_but_for_a_constant(k):
    luck = random.Random(k)
    for _ in range(20):
        s, vector, h = draw(luck, k), draw(luck, k), luck.randrange(k)
        constants = []
        for alpha in (-2.0, -0.3, 0.0, 1.1, 2.0):
            whole = sum(logistic_loss(j, moved(s, h, alpha)) * vector[j] for j in range(k))
            constants.append(whole - loss_of_alpha(s, h, alpha, vector))
        assert constants == pytest.approx([constants[0]] * 5, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_mixture_is_the_mean_of_softmax(k):
    luck = random.Random(k)
    s, h = draw(luck, k), luck.randrange(k)
    log_density = [-3.0 * (alpha - 0.4) ** 2 for alpha in mixture.POINTS]
    mass = mixture.masses(log_density)
    expected = [0.0] * k
    for j, alpha in enumerate(mixture.POINTS):
        p = mixture.softmax(moved(s, h, alpha))
        expected = [expected[label] + mass[j] * p[label] for label in range(k)]
    assert mixture.mixture(s, h, log_density) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_costs_are_the_gradient_of_the_logistic_loss(k):
    luck, step = random.Random(k), 1e-6
    s = draw(luck, k)
    C = mixture.cost_matrix(s)
    for label in range(k):
        for r in range(k):
            rise = logistic_loss(r, moved(s, label, step)) - logistic_loss(r, moved(s, label, -step))
            assert C[label][r] == pytest.approx(rise / (2 * step), abs=1e-8)


def test_points_integrate():
    """A steep exponential at the end, and a narrow bell."""
    rate = 90.0
    found = sum(w * math.exp(-rate * (2 - a)) for a, w in zip(mixture.POINTS, mixture.WEIGHTS, strict=True))
    assert found == pytest.approx((1 - math.exp(-4 * rate)) / rate, rel=1e-10)
    width = 0.1
    found = sum(
        w * math.exp(-0.5 * (a / width) ** 2) for a, w in zip(mixture.POINTS, mixture.WEIGHTS, strict=True)
    )
    assert found == pytest.approx(width * math.sqrt(2 * math.pi), rel=1e-9)


@pytest.mark.parametrize("estimator", [3, 4])
@pytest.mark.parametrize(("k", "rho"), [(2, 0.3), (3, 0.001), (5, 0.2)])
def test_what_enters_the_exponent_is_unbiased(k, rho, estimator):
    """Over all labels that may be shown, the mean of the estimated loss is the loss, whatever is right."""
    luck = random.Random(k)
    s, h = draw(luck, k), luck.randrange(k)
    for y in range(k):
        for yhat in range(k):
            for alpha in (-2.0, 0.5, 2.0):
                mean = 0.0
                for ytilde in range(k):
                    p = 1 - rho if ytilde == yhat else rho / (k - 1)
                    lhat = boosters.ESTIMATES[estimator](k, yhat, ytilde, p, ytilde == y)
                    mean += p * loss_of_alpha(s, h, alpha, [1 - loss for loss in lhat])
                expected = loss_of_alpha(s, h, alpha, boosters.basis(y, k))
                assert mean == pytest.approx(expected, abs=1e-9)


def test_smoothing_costs_ln_2_at_most_over_all_rounds():
    total = 0.0
    for round in range(10_000):
        p = mixture.smooth([1.0, 0.0, 0.0], round)
        assert sum(p) == pytest.approx(1.0)
        assert min(p) > 0.0
        total -= math.log(p[0])
    assert total < math.log(2)
