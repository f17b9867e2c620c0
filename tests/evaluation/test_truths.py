"""Exact truths, by enumeration of all rows that there can be: what has which mean, and that wealth does not grow."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from banditboost.evaluation import PolicyDifference, PolicyValue, baseline
from tests.evaluation import worlds
from tests.naive import evaluation as naive


def mean_of(estimator: str, policy: tuple[tuple[float, ...], ...], **settings: float) -> float:
    """The mean over all rows of what one row says."""
    total = 0.0
    for share, x, a, u in worlds.rows():
        value = PolicyValue(**settings)
        model = baseline([a], [policy[x]], [worlds.MODEL[x]], logging=[worlds.LOGGING[x]])
        value.add_many([u], [worlds.LOGGING[x][a]], [policy[x][a]], model)
        total += share * value.estimate(estimator)
    return total


@pytest.mark.parametrize("policy", [worlds.POLICY, worlds.OTHER, worlds.LOGGING])
@pytest.mark.parametrize("estimator", ["ips", "doubly_robust"])
def test_ips_and_doubly_robust_are_unbiased(estimator: str, policy: tuple[tuple[float, ...], ...]) -> None:
    assert mean_of(estimator, policy) == pytest.approx(worlds.value_of(policy), abs=1e-14)


def test_a_switch_that_is_never_reached_is_doubly_robust_and_one_of_zero_the_model() -> None:
    assert mean_of("switch", worlds.POLICY, switch=100.0) == pytest.approx(
        worlds.value_of(worlds.POLICY), abs=1e-14
    )
    assert mean_of("switch", worlds.OTHER, switch=0.0) == pytest.approx(
        mean_of("direct", worlds.OTHER), abs=1e-14
    )


def test_clipping_never_says_too_much() -> None:
    assert mean_of("clipped", worlds.POLICY, clip=1.0) < worlds.value_of(worlds.POLICY)


@pytest.mark.parametrize("known", ["logging", "least"])
def test_scores_for_bounds_have_the_right_mean_and_are_not_below_minus_one(known: str) -> None:
    low = high = 0.0
    for share, x, a, u in worlds.rows():
        told = {"logging": [worlds.LOGGING[x]]} if known == "logging" else {"least": min(worlds.LOGGING[x])}
        model = baseline([a], [worlds.POLICY[x]], [worlds.MODEL[x]], cut=1, **told)
        w = worlds.POLICY[x][a] / worlds.LOGGING[x][a]
        assert model.low is not None
        assert model.high is not None
        one = float(w * (u - model.low[0][0]) + model.low[1][0])
        other = float(w * (1.0 - u - model.high[0][0]) + model.high[1][0])
        assert min(one, other) >= -1.0
        low, high = low + share * one, high + share * other
        if known == "logging":
            pairs = list(zip(worlds.POLICY[x], worlds.LOGGING[x], strict=True))
            slow = naive.cut_score(u, worlds.LOGGING[x][a], worlds.POLICY[x][a], a, worlds.MODEL[x], pairs, 1)
            assert one == pytest.approx(slow, abs=1e-14)
    value = worlds.value_of(worlds.POLICY)
    assert (low, high) == pytest.approx((value, 1.0 - value), abs=1e-14)


def test_the_difference_is_unbiased_on_both_sides() -> None:
    ahead = 0.0
    for share, x, a, u in worlds.rows():
        found = PolicyDifference()
        p = worlds.LOGGING[x][a]
        found.add_many([u], [p], [worlds.POLICY[x][a]], [worlds.OTHER[x][a]])
        ahead += share * found.estimate()
        scores = found._sequence.sides[:, 0] * 2.0
        assert np.all(scores >= 0.0)
    assert ahead == pytest.approx(worlds.value_of(worlds.POLICY) - worlds.value_of(worlds.OTHER), abs=1e-14)
    sides = sum(share * side for share, side in _sides())
    truth = worlds.value_of(worlds.POLICY) - worlds.value_of(worlds.OTHER)
    assert sides.tolist() == pytest.approx([1.0 + truth, 1.0 - truth], abs=1e-14)


def _sides() -> list[tuple[float, np.ndarray]]:
    found = []
    for share, x, a, u in worlds.rows():
        one = PolicyDifference()
        one.add(u, worlds.LOGGING[x][a], worlds.POLICY[x][a], worlds.OTHER[x][a])
        found.append((share, one._sequence.sides[:, 0] * 2.0))
    return found


def test_wealth_is_not_expected_to_grow_while_the_logging_policy_learns() -> None:
    """All paths of three rows; the second and third are logged by what the first ones earned."""
    value, expected, by_rate = worlds.value_of(worlds.POLICY), 0.0, dict.fromkeys((0.1, 0.5, 0.9), 0.0)
    steps = list(itertools.product(range(2), range(3), (0.0, 1.0)))
    for path in itertools.product(steps, repeat=3):
        share, scores, last = 1.0, [], None
        for x, a, u in path:
            h = _learned(x, last)
            share *= worlds.CONTEXTS[x] * h[a] * (worlds.REWARDS[x][a] if u else 1 - worlds.REWARDS[x][a])
            scores.append(worlds.POLICY[x][a] / h[a] * u)
            last = a if u else None
        v = sum((score - guess) ** 2 for score, guess in zip(scores, naive.guesses(scores, 1.0), strict=True))
        s = sum(scores) - 3 * value
        expected += share * naive.wealth(s, v, steps=200)
        for rate in by_rate:
            by_rate[rate] += share * math.exp(rate * s - naive.psi(rate) * v)
    assert 0.3 < expected <= 1.0
    assert all(0.1 < wealth <= 1.0 for wealth in by_rate.values())


def _learned(x: int, last: int | None) -> tuple[float, ...]:
    """Whoever was rewarded last is shown more often."""
    if last is None:
        return worlds.LOGGING[x]
    return tuple(0.2 * h + 0.8 * (a == last) for a, h in enumerate(worlds.LOGGING[x]))


def test_the_difference_with_a_model_is_unbiased_and_its_scores_are_bounded() -> None:
    low = high = ahead = 0.0
    cut = 0.7
    for share, x, a, u in worlds.rows():
        found = PolicyDifference(cut=cut)
        model = baseline([a], [worlds.POLICY[x]], [worlds.MODEL[x]], logging=[worlds.LOGGING[x]], cut=cut)
        found.add_many([u], [worlds.LOGGING[x][a]], [worlds.POLICY[x][a]], model=model)
        one, other = (found._sequence.sides[:, 0] * (2.0 + cut)).tolist()
        assert min(one, other) >= -cut
        low, high, ahead = low + share * one, high + share * other, ahead + share * found.estimate()
    truth = worlds.value_of(worlds.POLICY) - worlds.value_of(worlds.LOGGING)
    assert (low, high, ahead) == pytest.approx((1 + truth, 1 - truth, truth), abs=1e-14)
