"""The distribution of eq. (2): what a decision tells of it, and what is drawn from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import AdaBandit, BinBandit, OptBandit
from banditboost.boosting.exploration import draw_label, label_probability
from banditboost.compiled.rng import EXPLORE, uniform_at
from tests.naive import rng

LARGEST_U = 1.0 - 2.0**-53
LABELS = ("a", "b", "c", "d", "e")
BOOSTERS = [AdaBandit, OptBandit, BinBandit]


@given(st.integers(2, 50), st.floats(1e-6, 1 - 1e-6), st.floats(0.0, LARGEST_U), st.data())
def test_draw_equals_the_twin(k: int, rho: float, u: float, data: st.DataObject) -> None:
    greedy = data.draw(st.integers(0, k - 1))
    assert draw_label(greedy, rho, k, u) == rng.show(u, greedy, rho, k)


def first_number_beyond(u: float, greedy: int, rho: float, k: int) -> float:
    """The least number above u that draws another label than u does, by bisection; 1 if there is none."""
    label = draw_label(greedy, rho, k, u)
    low, high = u, 1.0
    if draw_label(greedy, rho, k, LARGEST_U) == label:
        return high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return high
        low, high = (middle, high) if draw_label(greedy, rho, k, middle) == label else (low, middle)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("k", [2, 3, 7, 26])
def test_numbers_that_draw_a_label_measure_its_probability(k: int, rho: float) -> None:
    """Each label is drawn by one interval of u.

    Their ends are found by bisection, their lengths are the probabilities of eq. (2).
    """
    for greedy in (0, k // 2, k - 1):
        lengths: dict[int, float] = {}
        u = 0.0
        while u < 1.0:
            end = first_number_beyond(u, greedy, rho, k)
            label = draw_label(greedy, rho, k, u)
            assert label not in lengths
            lengths[label] = end - u
            u = end
        assert sorted(lengths) == list(range(k))
        for label, length in lengths.items():
            assert length == pytest.approx(label_probability(label, greedy, rho, k), abs=1e-14)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("rho", [0.001, 0.05, 0.999])
def test_distribution_of_a_decision(booster: type, rho: float) -> None:
    model = booster(LABELS, n_learners=3, exploration=rho, seed=1)
    for t in range(30):
        decision = model.decide({"x": float(t % 3)})
        distribution = decision.distribution()
        assert tuple(distribution) == LABELS
        assert math.fsum(distribution.values()) == pytest.approx(1.0, abs=1e-15)
        assert distribution[decision.greedy] == 1.0 - rho
        assert distribution[decision.label] == decision.probability
        assert decision.explored == (decision.label != decision.greedy)
        model.learn(decision, decision.label == "c")


@pytest.mark.parametrize("booster", BOOSTERS)
def test_label_shown_is_drawn_from_the_distribution(booster: type) -> None:
    """The same walk along the distribution, the greedy label first, by hand."""
    model = booster(LABELS, n_learners=3, exploration=0.6, seed=9)
    for t in range(200):
        decision = model.decide({"x": float(t % 3)})
        distribution = decision.distribution()
        order = [decision.greedy, *(label for label in LABELS if label != decision.greedy)]
        u, reached = uniform_at(9, t, EXPLORE, 0), 0.0
        for label in order:
            reached += distribution[label]
            if u < reached:
                break
        assert label == decision.label
        model.learn(decision, decision.label == "c")


def test_no_exploration_shows_the_greedy_label_only() -> None:
    with pytest.warns(UserWarning, match="exploration is 0"):
        model = AdaBandit(LABELS, n_learners=3, exploration=0.0, seed=1)
    for _ in range(100):
        decision = model.decide({"x": 1.0})
        assert decision.label == decision.greedy
        assert decision.probability == 1.0
        model.learn(decision, decision.label == "c")


@pytest.mark.slow
@pytest.mark.parametrize("booster", BOOSTERS)
def test_100_000_draws(booster: type) -> None:
    """Chi-square of the shown labels against the distributions that the decisions told, summed over them."""
    from scipy.stats import chi2

    model = booster(LABELS, n_learners=3, exploration=0.3, seed=17)
    shown = dict.fromkeys(LABELS, 0)
    expected = dict.fromkeys(LABELS, 0.0)
    for _ in range(100_000):
        decision = model.decide({"x": 1.0})
        shown[decision.label] += 1
        for label, probability in decision.distribution().items():
            expected[label] += probability
    statistic = sum((shown[label] - expected[label]) ** 2 / expected[label] for label in LABELS)
    assert statistic < chi2.ppf(1 - 1e-6, df=len(LABELS) - 1)


@pytest.mark.slow
def test_100_000_draws_around_one_greedy_label() -> None:
    """The same for a model that has settled: the five labels by rank from the greedy one."""
    from scipy.stats import chi2

    model = AdaBandit(LABELS, n_learners=3, exploration=0.3, seed=18)
    for _ in range(50):
        decision = model.decide({"x": 1.0})
        model.learn(decision, decision.label == "c")
    drawn = [model.decide({"x": 1.0}) for _ in range(100_000)]
    assert {decision.greedy for decision in drawn} == {"c"}
    counts = np.array([sum(decision.label == label for decision in drawn) for label in LABELS])
    expected = np.array([0.075, 0.075, 0.7, 0.075, 0.075]) * len(drawn)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, df=4)
