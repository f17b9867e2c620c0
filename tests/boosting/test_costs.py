"""Cost matrices, cost vectors, and what a learner is taught from one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import AdaBandit
from banditboost.boosting import costs as module
from banditboost.boosting.costs import (
    LESSONS,
    Ballot,
    Logistic,
    add_vote,
    estimated_costs,
    label_and_weight,
    list_active,
    logistic_cost,
    zeros_for,
)
from banditboost.boosting.estimate import Estimate, estimate
from banditboost.boosting.experts import slot_of
from banditboost.boosting.potential import make_table, vote_costs
from tests.boosting.kernels import key_of, label_probability, memo_of, settings_of
from tests.naive import boosters as naive
from tests.naive import rng

Votes = list[tuple[int, float]]

# They hand out parts of arrays, which compiled code may take from them, but Python may not: here the
# interpreter runs them.
open_ballot = getattr(module.open_ballot, "py_func", module.open_ballot)
no_votes = getattr(module.no_votes, "py_func", module.no_votes)

LABELS = st.integers(2, 12)


@st.composite
def cast_votes(draw: st.DrawFn) -> tuple[int, Votes]:
    """k, and up to 20 votes as (label, alpha)."""
    k = draw(LABELS)
    return k, draw(st.lists(st.tuples(st.integers(0, k - 1), st.floats(-2.0, 2.0)), max_size=20))


def sums_of(k: int, votes: Votes) -> list[float]:
    sums = [0.0] * k
    for label, weight in votes:
        sums[label] += weight
    return sums


def ballot_of(votes: Votes, first: int, second: int = -1) -> Ballot:
    active = np.empty(len(votes) + 2, np.int64)
    n_active = list_active(np.array([label for label, _ in votes], np.float64), first, second, active)
    ballot: Ballot = open_ballot(active, n_active, first, second)
    return ballot


def slot(ballot: Ballot, label: int) -> int:
    return slot_of(ballot.active, ballot.n_active, label)


def logistic_after(k: int, votes: Votes, ballot: Ballot) -> Logistic:
    costs: Logistic = no_votes(ballot.n_active, k, zeros_for(ballot.n_active))
    for label, weight in votes:
        add_vote(costs, slot(ballot, label), weight)
    return costs


def adaptive_matrix(k: int, votes: Votes) -> np.ndarray:
    """C of equation (10), all of it, from the compiled slots."""
    ballot = ballot_of(votes, 0)
    costs = logistic_after(k, votes, ballot)
    slots = [slot(ballot, label) for label in range(k)]
    matrix = np.full((k, k), 0.5)  # which is right between two labels without votes: they share a slot
    for label in range(k):
        for right in range(k):
            if label == right or slots[label] != slots[right]:
                matrix[label, right] = logistic_cost(costs, slots[label], slots[right], k)
    return matrix


# The matrices


@given(cast_votes())
def test_adaptive_matrix_equals_the_twin(cast: tuple[int, Votes]) -> None:
    k, votes = cast
    expected = np.array(naive.adaptive_cost_matrix(sums_of(k, votes)))
    np.testing.assert_allclose(adaptive_matrix(k, votes), expected, rtol=1e-12, atol=1e-13)


@given(cast_votes())
def test_adaptive_columns_sum_to_zero_and_are_least_at_the_right_label(cast: tuple[int, Votes]) -> None:
    matrix = adaptive_matrix(*cast)
    np.testing.assert_allclose(matrix.sum(axis=0), 0.0, atol=1e-12)
    for right in range(len(matrix)):
        assert matrix[right, right] <= matrix[:, right].min()
        assert matrix[right, right] < 0.0


@pytest.mark.parametrize("n_learners", [355, 400])
def test_largest_votes_do_not_overflow(n_learners: int) -> None:
    """All learners at the bound, alpha = 2, and of one mind: exp(-sum) is 0, exp(sum) beyond any number."""
    matrix = adaptive_matrix(3, [(0, 2.0)] * n_learners)
    np.testing.assert_allclose(matrix, [[0.0, 1.0, 1.0], [0.0, -1.5, 0.5], [0.0, 0.5, -1.5]], atol=1e-12)


def optimal_column(k: int, counts: list[int], n_learners: int, edge: float, right: int) -> list[float]:
    """Column `right` of equation (9) for the learner that votes next, from the compiled potential."""
    table = make_table(n_learners, k, edge)
    histogram = np.bincount(counts, minlength=n_learners + 2).astype(np.int64)
    by_count = np.empty(n_learners + 2)
    at_right, _ = vote_costs(
        table, histogram, sum(counts), counts[right], -1, np.array([0.0, 1.0, 0.0]), by_count
    )
    return [at_right if label == right else float(by_count[counts[label]]) for label in range(k)]


@pytest.mark.parametrize("edge", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("counts", [[0, 0, 0], [2, 1, 0], [1, 1, 3, 0], [4, 4], [0, 5, 0, 0, 2]], ids=str)
def test_optimal_columns_are_least_at_the_right_label(counts: list[int], edge: float) -> None:
    k, n_learners = len(counts), 9
    expected = naive.optimal_cost_matrix(counts, n_learners - sum(counts) - 1, edge)
    for right in range(k):
        column = optimal_column(k, counts, n_learners, edge, right)
        assert column == pytest.approx([row[right] for row in expected], abs=1e-12)
        assert min(column) == pytest.approx(column[right], abs=1e-14)


# The cost vectors


def cost_vector(k: int, votes: Votes, of: Estimate) -> list[float]:
    """chat of equation (5)."""
    ballot = ballot_of(votes, of.first, of.second)
    costs = logistic_after(k, votes, ballot)
    estimated_costs(costs, ballot, of, k)
    return [costs.vector[slot(ballot, label)] for label in range(k)]


def estimate_of(k: int, yhat: int, ytilde: int, rho: float, correct: bool, estimator: int = 4) -> Estimate:
    memo = memo_of(yhat, ytilde, label_probability(ytilde, yhat, rho, k))
    return estimate(settings_of(k, estimator=estimator), memo, int(correct))


@given(cast_votes(), st.sampled_from([3, 4]), st.floats(0.001, 0.9), st.booleans(), st.data())
def test_cost_vector_equals_the_twin(
    cast: tuple[int, Votes], estimator: int, rho: float, correct: bool, data: st.DataObject
) -> None:
    k, votes = cast
    yhat, ytilde = data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))
    p = label_probability(ytilde, yhat, rho, k)
    vector = [1 - loss for loss in naive.ESTIMATES[estimator](k, yhat, ytilde, p, correct)]
    expected = naive.times(naive.adaptive_cost_matrix(sums_of(k, votes)), vector)
    of = estimate_of(k, yhat, ytilde, rho, correct, estimator)
    assert cost_vector(k, votes, of) == pytest.approx(expected, rel=1e-11, abs=1e-13 * k / p)


@given(cast_votes(), st.sampled_from([3, 4]), st.floats(0.001, 0.9), st.data())
def test_mean_cost_vector_is_that_of_full_information(
    cast: tuple[int, Votes], estimator: int, rho: float, data: st.DataObject
) -> None:
    """Over the k labels that might be shown, chat is right on average, whatever the rate."""
    k, votes = cast
    yhat, y = data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))
    mean = np.zeros(k)
    for ytilde in range(k):
        chat = cost_vector(k, votes, estimate_of(k, yhat, ytilde, rho, ytilde == y, estimator))
        mean += label_probability(ytilde, yhat, rho, k) * np.array(chat)
    full = estimate(settings_of(k, full_information=1), memo_of(yhat, yhat, 1.0), y)
    np.testing.assert_allclose(mean, cost_vector(k, votes, full), rtol=1e-10, atol=1e-12 * k)


@given(cast_votes(), st.data())
def test_without_exploration_a_right_round_tells_all(cast: tuple[int, Votes], data: st.DataObject) -> None:
    """rho -> 0: the verdict "right" on the greedy label is full information."""
    k, votes = cast
    y = data.draw(st.integers(0, k - 1))
    full = estimate(settings_of(k, full_information=1), memo_of(y, y, 1.0), y)
    almost = estimate_of(k, y, y, 1e-12, correct=True)
    assert cost_vector(k, votes, almost) == pytest.approx(cost_vector(k, votes, full), rel=1e-9, abs=1e-9)


# The derivative of f-hat


class Constant:
    """A learner that always votes for the same label."""

    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return self.label

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        """Nothing can be learned."""


def one_round(k: int, h: list[int], alpha: list[float], seed: int, estimator: int) -> tuple[AdaBandit, Any]:
    """A model whose learners vote h with weights alpha, and its decision."""
    labels = iter(h)
    parameters = {
        "weak_learner": lambda: Constant(next(labels)),
        "exploration": 0.4,
        "estimator": estimator,
        "seed": seed,
    }
    model = AdaBandit(range(k), n_learners=len(h), **parameters)
    model._weights[: len(h)] = alpha
    return model, model.decide({"x": 1.0})


@pytest.mark.parametrize("estimator", [3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_alpha_steps_down_the_gradient(seed: int, estimator: int) -> None:
    numbers = np.random.default_rng(seed)
    k, n = int(numbers.integers(2, 7)), 6
    h, alpha = numbers.integers(0, k, n).tolist(), numbers.uniform(-1.5, 1.5, n).tolist()
    model, decision = one_round(k, h, alpha, seed, estimator)
    correct = bool(seed % 2)
    model.learn(decision, correct)

    lhat = naive.ESTIMATES[estimator](k, decision.greedy, decision.label, decision.probability, correct)
    vector = [1 - loss for loss in lhat]
    sums = naive.cumulative_votes(h, alpha, k)
    eta = 0.4 / k**2
    for i in range(n):
        slope = (
            naive.fhat(sums[i], h[i], alpha[i] + 1e-5, vector)
            - naive.fhat(sums[i], h[i], alpha[i] - 1e-5, vector)
        ) / 2e-5
        expected = max(-2.0, min(2.0, alpha[i] - eta * slope))
        assert model.alphas[i] == pytest.approx(expected, rel=1e-8, abs=1e-8)
        exact = naive.fhat_derivative(sums[i], h[i], alpha[i], vector)
        assert model.alphas[i] == pytest.approx(naive.project(alpha[i] - eta * exact), rel=1e-13, abs=1e-13)


def test_steps_shrink_with_the_number_of_verdicts() -> None:
    """eta_t = rho / (k^2 sqrt t), t counting verdicts: alpha of a learner alone at s = 0, told "right"."""
    model, decision = one_round(3, [1], [0.0], 1, 4)
    expected = 0.0
    for t in range(1, 6):
        lhat = naive.estimate_4(3, decision.greedy, decision.label, decision.probability, correct=True)
        slope = naive.fhat_derivative([0.0] * 3, 1, expected, [1 - loss for loss in lhat])
        expected -= 0.4 / (9 * math.sqrt(t)) * slope
        model.learn(decision, correct=True)
        assert model.alphas[0] == pytest.approx(expected, rel=1e-12)
        model.decide({"x": 1.0})  # decisions without a verdict do not count
        decision = model.decide({"x": 1.0})


# Label and weight


COSTS = st.lists(
    st.sampled_from([-3.0, -1.0, -1.0 + 1e-12, 0.0, 0.25, 1.0, 2.0, 150.0, -150.0, 1e9]),
    min_size=2,
    max_size=8,
)


@pytest.mark.parametrize("lesson", LESSONS)
@given(COSTS, st.integers(0, 4), st.floats(0.01, 200.0), st.floats(1e-3, 10.0), st.integers(0, 99), st.data())
def test_label_and_weight_equal_the_twin(
    lesson: str,
    costs: list[float],
    n_others: int,
    clip: float,
    scale: float,
    learner: int,
    data: st.DataObject,
) -> None:
    """Some labels are active, all the others share the last cost; ties abound."""
    n_active = len(costs) - 1
    k = n_active + max(n_others, 2 - n_active)
    active = sorted(data.draw(st.permutations(range(k)))[:n_active])
    right = data.draw(st.sampled_from([-1, *active]))  # a right label that is known is the ballot's first
    ballot = Ballot(np.array(active, np.int64), n_active, active.index(right) if right >= 0 else 0, 0)
    full = [costs[slot(ballot, label)] for label in range(k)]

    settings = settings_of(k, largest_weight=clip, importance_scale=scale, lesson=LESSONS.index(lesson))
    label, weight = label_and_weight(np.array(costs), ballot, settings, right, key_of(7, 3), learner)
    known = right if right >= 0 else None
    expected, expected_weight = naive.label_and_weight(
        full, known, lambda: rng.uniform(7, 3, rng.COST_TIE, learner), clip, scale, lesson
    )
    assert weight == pytest.approx(
        expected_weight if expected_weight >= naive.LEAST_WEIGHT else 0.0, rel=1e-12
    )
    if weight > 0.0:
        assert label == expected


def test_nothing_is_taught_where_all_costs_are_equal() -> None:
    ballot = Ballot(np.array([0, 2], np.int64), 2, 1, 2)
    label, weight = label_and_weight(np.array([0.5, 0.5, 0.5]), ballot, settings_of(4), 2, key_of(1, 1), 0)
    assert (label, weight) == (-1, 0.0)


def test_right_label_wins_a_tie() -> None:
    for lesson, right in itertools.product(range(len(LESSONS)), (0, 1, 2)):
        ballot, settings = Ballot(np.array([0, 1, 2], np.int64), 3, right, 3), settings_of(9, lesson=lesson)
        costs = np.array([-1.0, -1.0 + 1e-12, -1.0 + 2e-12, 0.0])
        assert label_and_weight(costs, ballot, settings, right, key_of(1, 1), 0)[0] == right


@pytest.mark.parametrize(
    ("lesson", "expected"), [("ours", (2, 101.0)), ("differences", (0, 101.0)), ("text", (-1, 0.0))]
)
def test_an_exploration_that_hits(lesson: str, expected: tuple[int, float]) -> None:
    """The right label, 2, is not the least; all costs are below -100, so that the text sees a flat vector."""
    ballot, settings = (
        Ballot(np.array([0, 1, 2], np.int64), 3, 2, 0),
        settings_of(3, lesson=LESSONS.index(lesson)),
    )
    costs = np.array([-1000.0, -500.0, -999.0, 0.0])
    assert label_and_weight(costs, ballot, settings, 2, key_of(1, 1), 0) == expected
