"""The paper's bounds: limits, inverses and minimisers that can be checked without trusting the formulas
twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import theory
from banditboost.errors import ParameterError

LABELS = st.integers(2, 1000)
LEARNERS = st.integers(1, 500)
EDGE = st.floats(0.01, 1.0)
EXPLORATION = st.floats(0.001, 0.999)
ROUNDS = st.integers(1, 10**9)


# Asymptotic errors


@given(LABELS, EDGE)
def test_every_learner_takes_off_the_same_factor(k: int, edge: float) -> None:
    """From k - 1, which is the error of no learners, by exp(-edge^2 / 2) each."""
    factor = math.exp(-edge * edge / 2)
    assert theory.optimal_asymptotic_error(k, 1, edge) == pytest.approx((k - 1) * factor, rel=1e-14)
    assert theory.optimal_asymptotic_error(k, 8, edge) == pytest.approx(
        theory.optimal_asymptotic_error(k, 7, edge) * factor, rel=1e-12
    )


def test_more_learners_lower_both_bounds() -> None:
    bounds = [theory.optimal_asymptotic_error(5, n, 0.2) for n in range(1, 200)]
    assert all(later < earlier for earlier, later in pairwise(bounds))
    bounds = [theory.adaptive_asymptotic_error(5, [0.2] * n) for n in range(1, 200)]
    assert all(later < earlier for earlier, later in pairwise(bounds))


def test_adaptive_error_is_exact_for_dyadic_edges_of_either_sign() -> None:
    assert theory.adaptive_asymptotic_error(3, [0.5, -0.5, 0.25, 1.0]) == float(
        Fraction(24) / (Fraction(1, 2) + Fraction(1, 16) + 1)
    )


@given(LABELS, st.lists(EDGE, min_size=1, max_size=30))
def test_the_sharper_form_is_sharper(k: int, edges: list[float]) -> None:
    sharper = theory.adaptive_asymptotic_error(k, edges, sharper=True)
    assert sharper < theory.adaptive_asymptotic_error(k, edges)
    # The last step of the proof adds k T / sum of squares to it (arithmetic and geometric mean) and must stay
    # below 8k.
    assert sharper + k / math.fsum(edge * edge for edge in edges) <= theory.adaptive_asymptotic_error(
        k, edges
    )


# Mistake bounds


@given(LABELS, LEARNERS, EDGE, ROUNDS, EXPLORATION)
def test_optimal_bound_term_by_term(k: int, n: int, edge: float, rounds: int, rho: float) -> None:
    bound = theory.optimal_mistake_bound(k, n, edge, rounds, rho)
    assert bound.asymptotic == theory.optimal_asymptotic_error(k, n, edge) * rounds
    assert bound.exploration == 2 * rho * rounds
    assert bound.hidden**2 == pytest.approx(k**7 * n / rho**2, rel=1e-12)
    assert bound.total == bound.asymptotic + bound.exploration + bound.hidden
    assert bound.error == bound.total / rounds
    assert bound.failures == n + 1


@given(LABELS, st.lists(EDGE, min_size=1, max_size=30), ROUNDS, EXPLORATION)
def test_adaptive_bound_term_by_term(k: int, edges: list[float], rounds: int, rho: float) -> None:
    bound = theory.adaptive_mistake_bound(k, edges, rounds, rho)
    squares = float(sum(Fraction(edge) ** 2 for edge in edges))
    assert bound.asymptotic == theory.adaptive_asymptotic_error(k, edges) * rounds
    assert bound.exploration == 2 * rho * rounds
    assert bound.hidden == pytest.approx(k**3 * len(edges) ** 2 / (rho**2 * squares), rel=1e-12)
    assert bound.failures == len(edges) + 4


@given(LABELS, st.lists(EDGE, min_size=1, max_size=30), ROUNDS, EXPLORATION)
def test_the_theorem_follows_from_the_sharper_form(
    k: int, edges: list[float], rounds: int, rho: float
) -> None:
    """The paper's last step, 2 c k^2 N sqrt(T) <= k T + c^2 k^3 N^2 with c = 1/rho, holds with constant 1 as
    well.
    """
    sharper = theory.adaptive_mistake_bound(k, edges, rounds, rho, sharper=True)
    assert sharper.total <= theory.adaptive_mistake_bound(k, edges, rounds, rho).total * (1 + 1e-12)


def test_the_error_tends_to_the_asymptotic_error_along_the_suggested_rates() -> None:
    rounds = 2**53
    rho = theory.optimal_exploration(2, 20, rounds).rate
    limit = theory.optimal_asymptotic_error(2, 20, 0.5)
    assert theory.optimal_mistake_bound(2, 20, 0.5, rounds, rho).error == pytest.approx(limit, rel=1e-4)
    rho = theory.adaptive_exploration(2, [0.5] * 20, rounds).rate
    limit = theory.adaptive_asymptotic_error(2, [0.5] * 20)
    assert theory.adaptive_mistake_bound(2, [0.5] * 20, rounds, rho).error == pytest.approx(limit, rel=1e-3)


def test_vacuous_means_that_the_explicit_terms_already_reach_every_round() -> None:
    assert theory.adaptive_mistake_bound(
        3, [0.1] * 15, 10**9, 0.001
    ).vacuous  # 24 / 0.15 = 160 mistakes a round
    assert theory.optimal_mistake_bound(2, 5000, 0.1, 1000, 0.5).vacuous  # 2 rho = 1
    assert not theory.optimal_mistake_bound(2, 5000, 0.1, 10**6, 0.1).vacuous


def test_a_given_excess_loss_replaces_k_over_rho() -> None:
    default = theory.optimal_mistake_bound(4, 10, 0.3, 1000, 0.5)
    assert theory.optimal_mistake_bound(4, 10, 0.3, 1000, 0.5, excess=8.0) == default
    assert theory.optimal_mistake_bound(4, 10, 0.3, 1000, 0.5, excess=16.0).hidden == 2 * default.hidden


def test_probability_is_a_union_bound() -> None:
    bound = theory.optimal_mistake_bound(2, 7, 0.5, 10, 0.1)
    assert bound.probability(1 / 32) == 1 - 8 / 32
    assert bound.probability(0.5) == 0.0


# Exploration rates


def _costs(bound: Callable[[float], theory.MistakeBound], rates: list[float]) -> list[float]:
    return [result.exploration + result.hidden for result in map(bound, rates)]


@given(st.integers(2, 10), st.lists(st.floats(0.1, 1.0), min_size=1, max_size=20), st.integers(10**8, 10**10))
def test_the_adaptive_rate_is_the_minimiser(k: int, edges: list[float], rounds: int) -> None:
    best = theory.adaptive_exploration(k, edges, rounds).rate
    around = [best * (1 + step / 100) for step in range(-20, 21)]
    costs = _costs(lambda rho: theory.adaptive_mistake_bound(k, edges, rounds, rho), around)
    assert min(costs) == costs[20]
    assert costs[20] == pytest.approx(3 * best * rounds, rel=1e-12)  # 2 rho T + rho T at the minimum


@given(st.integers(2, 10), st.integers(1, 100), st.integers(10**8, 10**10))
def test_the_optimal_rate_is_the_minimiser_up_to_the_square_root_of_two(k: int, n: int, rounds: int) -> None:
    rate = theory.optimal_exploration(k, n, rounds).rate
    best = rate / math.sqrt(2)
    around = [best * (1 + step / 100) for step in range(-20, 21)]
    costs = _costs(lambda rho: theory.optimal_mistake_bound(k, n, 0.1, rounds, rho), [*around, rate])
    assert min(costs) == costs[20]
    assert costs[-1] / costs[20] == pytest.approx(
        3 / math.sqrt(8), rel=1e-12
    )  # 1.06: what the paper's round constant costs


@given(st.integers(2, 30), st.integers(1, 100))
def test_rounds_needed_is_where_the_optimal_rate_falls_below_one(k: int, n: int) -> None:
    needed = theory.optimal_exploration(k, n, 1).rounds_needed
    assert needed**2 > k**7 * n >= (needed - 1) ** 2
    assert (
        theory.optimal_exploration(k, n, needed + 1).rate
        < 1
        <= theory.optimal_exploration(k, n, max(1, needed - 2)).rate
    )


def test_rounds_needed_is_where_the_adaptive_rate_falls_below_one() -> None:
    suggestion = theory.adaptive_exploration(3, [0.5] * 4, 432)  # 27 * 16 / 1
    assert suggestion.rate == pytest.approx(1.0, rel=1e-15)
    assert suggestion.rounds_needed == 433
    assert theory.adaptive_exploration(3, [0.5] * 4, 431).vacuous
    assert not theory.adaptive_exploration(3, [0.5] * 4, 433).vacuous


# How many weak learners


@given(LABELS, EDGE, st.floats(1e-6, 0.99))
def test_optimal_inverse_is_tight(k: int, edge: float, target: float) -> None:
    n = theory.optimal_learners_needed(k, edge, target)
    assert theory.optimal_asymptotic_error(k, n, edge) <= target
    assert n == 1 or theory.optimal_asymptotic_error(k, n - 1, edge) > target


@given(st.integers(2, 9), st.floats(0.3, 1.0), st.floats(0.1, 0.99))
def test_adaptive_inverse_is_tight(k: int, edge: float, target: float) -> None:
    n = theory.adaptive_learners_needed(k, edge, target)
    assert theory.adaptive_asymptotic_error(k, [edge] * n) <= target
    assert theory.adaptive_asymptotic_error(k, [edge] * (n - 1)) > target


def test_an_impossible_target_is_refused() -> None:
    with pytest.raises(ParameterError, match="edge is 1e-200; give a larger one"):
        theory.optimal_learners_needed(3, 1e-200, 0.1)


# The loss estimate and Theorem 3.1


def _deviations(k: int, rho: float) -> list[float]:
    """Every |lhat_i - l_i| of eq.

    (4), by enumeration of the true label, the shown label and i; the greedy label is 0.
    """
    deviations = []
    for y in range(k):
        for shown in range(k):
            p = 1 - rho if shown == 0 else rho / (k - 1)
            for i in range(k):
                right = (shown == y) / p * (y != i) * (i != 0)
                wrong = (shown == 0) / p * (y != 0) * (i == 0)
                deviations.append(abs(right + wrong - (i != y)))
    return deviations


@pytest.mark.parametrize("k", [2, 3, 4, 7])
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.5, 0.7, 0.9])
def test_estimate_deviation_is_the_largest_that_can_happen(k: int, rho: float) -> None:
    assert theory.estimate_deviation(k, rho) == pytest.approx(max(_deviations(k, rho)), rel=1e-12)


@given(LABELS, EXPLORATION)
def test_the_papers_bound_on_the_estimate_holds_up_to_the_stated_rate(k: int, rho: float) -> None:
    stated = (math.sqrt(k * k + 4 * k) - k) / 2
    assert stated > 0.73
    if rho < stated * (1 - 1e-9):
        assert theory.estimate_deviation(k, rho) <= theory.estimate_bound(k, rho)


def test_the_papers_bound_on_the_estimate_fails_above_it() -> None:
    assert theory.estimate_deviation(2, 0.74) > theory.estimate_bound(2, 0.74)


@given(
    st.integers(2, 50),
    EDGE,
    st.floats(2.0, 1000.0),
    st.floats(1e-6, 0.5),
    st.floats(0.05, 1.0),
    st.floats(0.0, 100.0),
)
def test_excess_loss_has_a_closed_form_for_square_root_regret(
    k: int, edge: float, bound: float, delta: float, weight: float, scale: float
) -> None:
    """-a T + c sqrt(T) has its maximum c^2 / (4a) at T = (c / 2a)^2; the nearest whole round is below by at
    most a / 4T.
    """
    slope = edge * weight / k
    c = bound * math.sqrt(2 * math.log(1 / delta)) + scale
    found = theory.excess_loss(
        k, edge, bound, delta, min_weight=weight, regret=lambda rounds: scale * math.sqrt(rounds)
    )
    peak = c * c / (4 * slope)
    assert peak - slope <= found * (1 + 1e-12)
    assert found <= peak * (1 + 1e-9)


def test_excess_loss_is_the_best_of_all_rounds() -> None:
    def regret(rounds: int) -> float:
        return 3 * math.log1p(rounds)

    noise, slope = 2 * math.sqrt(2 * math.log(4)), 0.5 / 3
    tried = max(noise * math.sqrt(rounds) + regret(rounds) - slope * rounds for rounds in range(1, 5000))
    assert theory.excess_loss(3, 0.5, 2.0, 0.25, regret=regret) == pytest.approx(tried, rel=1e-12)


def test_excess_loss_grows_with_the_square_of_the_bound() -> None:
    """So S = O-tilde(k/rho) is an assumption of the paper, not a consequence of its Theorem 3.1."""
    once, twice = (theory.excess_loss(3, 0.1, bound, 0.05) for bound in (100.0, 200.0))
    assert twice / once == pytest.approx(4, rel=1e-6)


def test_excess_loss_is_never_negative() -> None:
    assert theory.excess_loss(2, 1.0, 1e-9, 0.9) == 0.0


@pytest.mark.parametrize(
    ("regret", "message"),
    [(lambda rounds: 1.0 * rounds, "outgrows"), (lambda _: math.inf, r"regret\(\d+\) is inf; ")],
)
def test_excess_loss_refuses_regrets_without_a_maximum(regret: Callable[[int], float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        theory.excess_loss(3, 0.1, 10.0, 0.05, regret=regret)


# Empirical edges


def test_empirical_edge_of_perfect_and_of_perverse_learners() -> None:
    truth = [-1.5, -0.25, -0.75]
    assert theory.empirical_edge(truth, truth) == 1.0
    assert theory.empirical_edge([-cost for cost in truth], truth) == -1.0
    assert theory.empirical_edge([0.0] * 3, truth) == 0.0


# Bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: theory.optimal_asymptotic_error(1, 5, 0.1),
            r"^n_labels is 1; give a whole number from 2 to 2\*\*53: ",
        ),
        (lambda: theory.optimal_asymptotic_error(3.0, 5, 0.1), r"^n_labels is 3\.0; "),  # type: ignore[arg-type]
        (
            lambda: theory.optimal_asymptotic_error(3, 0, 0.1),
            r"^n_learners is 0; give a whole number from 1 to ",
        ),
        (lambda: theory.optimal_asymptotic_error(3, True, 0.1), r"^n_learners is True; "),
        (lambda: theory.optimal_asymptotic_error(3, 5, 0.0), r"^edge is 0\.0; give a number in \(0, 1\]: "),
        (lambda: theory.optimal_asymptotic_error(3, 5, math.nan), r"^edge is nan; "),
        (lambda: theory.optimal_asymptotic_error(3, 5, "0.1"), r"^edge is '0\.1'; "),  # type: ignore[arg-type]
        (lambda: theory.optimal_mistake_bound(3, 5, 0.1, 0, 0.1), r"^rounds is 0; "),
        (
            lambda: theory.optimal_mistake_bound(3, 5, 0.1, 9, 1.0),
            r"^exploration is 1\.0; give a number in \(0, 1\): ",
        ),
        (
            lambda: theory.optimal_mistake_bound(3, 5, 0.1, 9, 0.1, excess=-1.0),
            r"^excess is -1\.0; give a finite number above 0: ",
        ),
        (lambda: theory.optimal_mistake_bound(3, 5, 0.1, 9, 0.1).probability(0), r"^delta is 0; "),
        (
            lambda: theory.adaptive_asymptotic_error(3, [0.1, 1.5]),
            r"^edges\[1\] is 1\.5; give a number in \[-1, 1\]: ",
        ),
        (lambda: theory.adaptive_asymptotic_error(3, [0.0, 0.0]), r"^edges is \[0\.0, 0\.0\]; "),
        (lambda: theory.adaptive_asymptotic_error(3, []), r"^edges is \[\]; "),
        (lambda: theory.adaptive_learners_needed(3, 0.1, 0.0), r"^target_error is 0\.0; "),
        (lambda: theory.excess_loss(3, 0.1, math.inf, 0.05), r"^bound is inf; "),
        (lambda: theory.excess_loss(3, 0.1, 10.0, 0.05, min_weight=0.0), r"^min_weight is 0\.0; "),
        (lambda: theory.empirical_edge([0.0], [0.0]), r"^the sum of costs_of_truth is 0\.0; "),
    ],
)
def test_bad_arguments_are_named_with_their_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
