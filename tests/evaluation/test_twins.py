"""The running sums against plain loops, and against the package vw-estimators."""

from __future__ import annotations

import math

import numpy as np
import pytest

from banditboost.evaluation import PolicyDifference, PolicyValue, Replay, baseline
from banditboost.evaluation.mixture import boundary, log_wealth
from banditboost.evaluation.quantiles import student_half_width
from tests.evaluation.worlds import made
from tests.naive import evaluation as naive

pytest.importorskip("estimators.bandits.cs", reason="pip install vw-estimators")
from estimators.bandits import cressieread, cs, gaussian
from estimators.bandits import ips as vw_ips
from estimators.bandits import snips as vw_snips

SIZES = (1, 2, 3, 30, 400, 3000)


def tame(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows after which no guess was above 1: small weights come first."""
    u, p, pi = made(n, seed, least=0.3)
    pi[:40] *= p[:40]
    w = (pi / p).tolist()
    for scores in (
        [a * b for a, b in zip(w, u, strict=True)],
        [a * (1 - b) for a, b in zip(w, u, strict=False)],
    ):
        assert max(naive.guesses(scores, math.inf)) <= 1.0
    return u, p, pi


def value_of(n: int, seed: int = 1, **settings: object) -> tuple[PolicyValue, list[tuple[float, ...]]]:
    columns = made(n, seed)
    value = PolicyValue(**settings)  # type: ignore[arg-type]
    value.add_many(*columns)
    return value, list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("n", SIZES)
def test_estimates_are_those_of_plain_loops(n: int) -> None:
    value, rows = value_of(n, clip=1.5)
    assert value.estimate("ips") == pytest.approx(naive.ips(rows), rel=1e-12)
    assert value.estimate("snips") == pytest.approx(naive.snips(rows), rel=1e-12)
    assert value.estimate("clipped") == pytest.approx(naive.clipped(rows, 1.5), rel=1e-12)
    weights = [pi / p for _, p, pi in rows]
    assert value.mean_weight == pytest.approx(sum(weights) / n)
    assert value.effective_sample_size == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))


@pytest.mark.parametrize("n", SIZES)
def test_all_is_equal_to_vw_estimators(n: int) -> None:
    columns = tame(n, seed=n)
    value = PolicyValue()
    value.add_many(*columns)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    theirs = (vw_ips.Estimator(), vw_snips.Estimator(), cressieread.Estimator())
    bounds = (cs.Interval(), cressieread.Interval(), gaussian.Interval())
    for u, p, pi in rows:
        for one in (*theirs, *bounds):
            one.add_example(p, u, pi)
    for name, one in zip(("ips", "snips", "likelihood"), theirs, strict=True):
        assert value.estimate(name) == pytest.approx(one.get(), abs=1e-9)
    ours = value.interval("ips"), value.interval("likelihood"), value.interval("ips", "gaussian")
    for found, one in zip(ours, bounds, strict=True):
        if n > 1 or found.kind != "gaussian":
            assert found[:2] == pytest.approx(one.get(), abs=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.99])
@pytest.mark.parametrize("seed", range(5))
def test_other_levels_ranges_of_rewards_and_weights_are_those_of_vw_estimators(
    seed: int, level: float
) -> None:
    u, p, pi = tame(200, seed)
    rewards = -1.0 + 3.0 * u
    value = PolicyValue((-1, 2), weights=(0, 15))
    value.add_many(rewards, p, pi)
    sequence, likelihood = cs.Interval(-1, 2), cressieread.Interval(0, 15, -1, 2)
    for row in zip(p.tolist(), rewards.tolist(), pi.tolist(), strict=True):
        sequence.add_example(*row)
        likelihood.add_example(*row)
    assert value.interval("ips", level=level)[:2] == pytest.approx(sequence.get(1 - level), abs=1e-9)
    assert value.interval("likelihood", level=level)[:2] == pytest.approx(likelihood.get(1 - level), abs=1e-9)


def test_a_guess_above_1_is_cut_where_vw_estimators_goes_on_with_it() -> None:
    """Its bound is no bound then: a score of 0 is more than 1 below the guess."""
    value, theirs = PolicyValue(), cs.Interval()
    for u, p, pi in [(1.0, 0.01, 1.0), (1.0, 0.5, 0.0), (1.0, 0.01, 0.2), (1.0, 0.5, 0.4)]:
        value.add(u, p, pi)
        theirs.add_example(p, u, pi)
    scores = [100.0, 0.0, 20.0, 0.8]
    assert value.interval().low == pytest.approx(max(0.0, naive.lower_bound(scores, 1.0, 0.025)), abs=1e-6)
    assert value._sequences["ips"].sides[0, 1] != pytest.approx(
        sum(
            (score - guess) ** 2 for score, guess in zip(scores, naive.guesses(scores, math.inf), strict=True)
        )
    )


@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_those_of_an_integral(seed: int) -> None:
    value, rows = value_of(60, seed, rows=60)
    scores = [pi / p * u for u, p, pi in rows]
    turned = [pi / p * (1 - u) for u, p, pi in rows]
    for kind, bound in (
        ("sequence", lambda found: naive.lower_bound(found, 1.0, 0.025)),
        ("bernstein", lambda found: naive.planned_bound(found, 1.0, 0.025, 60)),
    ):
        wanted = (min(1, max(0, bound(scores))), min(1, max(0, 1 - bound(turned))))
        assert value.interval("ips", kind)[:2] == pytest.approx(wanted, abs=1e-7)


def test_wealth_is_the_integral_and_the_boundary_where_it_comes_to_the_limit() -> None:
    s, v = np.array([0.0, 1.0, 5.0, 20.0]), np.array([2.0, 3.0, 10.0, 100.0])
    slow = [math.log(naive.wealth(a, b, steps=20_000)) for a, b in zip(s, v, strict=True)]
    assert log_wealth(s, v).tolist() == pytest.approx(slow, abs=1e-8)
    for spread in (0.0, 1e-9, 1.0, 1e3, 1e6, 1e9, 1e17, 1e30, 1e60):
        at = boundary(np.array(spread), 3.7)
        assert float(log_wealth(at, np.array(spread))) == pytest.approx(3.7, abs=1e-9)


@pytest.mark.parametrize("a", [1e6, 3e6, 1e7])
@pytest.mark.parametrize("deviations", [0.0, 0.3, 1.0, 4.0, 8.0])
def test_where_there_are_too_many_terms_an_expansion_is_the_series(a: float, deviations: float) -> None:
    s = deviations * math.sqrt(a)
    found = log_wealth(np.array(s), np.array(a - 1.0)) - log_wealth(np.array(0.0), np.array(0.0))
    assert float(found) == pytest.approx(naive.log_g(a, a + s) - naive.log_g(1.0, 1.0), abs=1e-9)


def test_the_boundary_has_no_step_where_the_expansion_begins() -> None:
    near = boundary(np.array([1e6 - 1.5, 1e6 - 0.5]), 3.7)
    assert 0.0 < near[1] - near[0] < 0.01


def test_a_row_of_an_enormous_weight_has_bounds() -> None:
    value = PolicyValue()
    value.add_many([1.0, 0.5], [1e-30, 0.5], [1.0, 0.5])
    assert value.interval()[:2] == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_empirical_likelihood_is_the_tilted_sum(seed: int) -> None:
    value, rows = value_of(50, seed, weights=(0.0, 12.0))
    unseen = 12.0 if value.mean_weight < 1 else 0.0
    assert value.estimate("likelihood") == pytest.approx(naive.likelihood_value(rows, unseen), rel=1e-9)
    limit = naive.divergence(naive.tilted(rows, unseen, 0.0)[0]) + student_half_width(0.95, 50) ** 2
    turned = [(1 - u, p, pi) for u, p, pi in rows]
    lowest = [_lowest(which, limit) for which in (rows, turned)]
    assert value.interval("likelihood")[:2] == pytest.approx((lowest[0], 1 - lowest[1]), abs=1e-7)


def _lowest(rows: list[tuple[float, ...]], limit: float) -> float:
    possible = [w for w in (0.0, 12.0) if naive.divergence(naive.tilted(rows, w, 0.0)[0]) < limit + 1e-9]
    return max(0.0, min(naive.likelihood_lowest(rows, w, limit) for w in possible))


def test_doubly_robust_estimates_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(3)
    n, k = 300, 4
    h, pi = rng.dirichlet(np.ones(k), n), rng.dirichlet(np.ones(k), n)
    q = rng.random((n, k))
    a = np.array([rng.choice(k, p=row) for row in h])
    u, at = rng.random(n), np.arange(n)
    model = baseline(a, pi, q, logging=h, cut=1)
    value = PolicyValue(switch=2.0, cut=1)
    value.add_many(u, h[at, a], pi[at, a], model)
    rows = [(u[t], h[t, a[t]], pi[t, a[t]], q[t, a[t]], float(pi[t] @ q[t])) for t in range(n)]
    assert value.estimate("doubly_robust") == pytest.approx(naive.doubly_robust(rows), rel=1e-12)
    assert value.estimate("switch") == pytest.approx(naive.doubly_robust(rows, 2.0), rel=1e-12)
    assert value.estimate("direct") == pytest.approx(sum(row[4] for row in rows) / n, rel=1e-12)
    cut = [
        naive.cut_score(*row[:3], a[t], q[t].tolist(), list(zip(pi[t], h[t], strict=True)), 1) / 2
        for t, row in enumerate(rows)
    ]
    low = 2 * naive.lower_bound(cut, 0.5, 0.025)
    assert value.interval("doubly_robust").low == pytest.approx(max(0.0, low), abs=1e-6)


def test_a_difference_is_that_of_plain_loops() -> None:
    u, p, pi = made(80, 5)
    other = made(80, 6)[2]
    ahead = PolicyDifference(rows=80)
    ahead.add_many(u, p, pi, other)
    w, v = pi / p, other / p
    assert ahead.estimate() == pytest.approx(float(np.mean((w - v) * u)))
    scores = ((w * u + v * (1 - u)) / 2).tolist()
    assert ahead.interval().low == pytest.approx(
        max(-1.0, 2 * naive.lower_bound(scores, 1.0, 0.025) - 1), abs=1e-6
    )
    planned = 2 * naive.planned_bound(scores, 1.0, 0.025, 80) - 1
    assert ahead.interval("bernstein").low == pytest.approx(max(-1.0, planned), abs=1e-9)


def test_student_is_that_of_scipy() -> None:
    scipy = pytest.importorskip("scipy.stats", reason="pip install scipy")
    for level in (0.8, 0.95, 0.999):
        for freedom in (1, 2, 3, 10, 100, 999, 1000, 1001, 10_000, 10**7):
            found = student_half_width(level, freedom)
            assert found == pytest.approx(scipy.t.ppf((1 + level) / 2, freedom), rel=1e-10)


def test_replay_keeps_rows_as_often_as_the_policy_would_make_them() -> None:
    u, p, pi = made(20_000, 7)
    replay = Replay(most_weight=float((pi / p).max()), seed=2)
    kept = replay.add_many(u, p, pi)
    again = Replay(most_weight=float((pi / p).max()), seed=2)
    parts = [again.add_many(u[i : i + 777], p[i : i + 777], pi[i : i + 777]) for i in range(0, 20_000, 777)]
    assert kept.tolist() == np.concatenate(parts).tolist()
    assert replay.estimate() == again.estimate() == pytest.approx(float(u[kept].mean()))
    assert replay.n == 20_000
    low, high = replay.interval(level=0.999)[:2]
    assert low <= naive.ips(list(zip(u, p, pi, strict=True))) <= high
