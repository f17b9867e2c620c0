"""The votes of the experts, the draw of one of them, and Hedge, which weighs them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.boosting.adaptive import update_hedge
from banditboost.boosting.estimate import estimate
from banditboost.boosting.experts import (
    add_label,
    draw_expert,
    expert_labels,
    largest_label,
    nth_tied,
    slot_of,
)
from tests.boosting.kernels import key_of, label_probability, memo_of, settings_of
from tests.naive import boosters as naive
from tests.naive import rng

SEED, ROUND = 11, 4
WEIGHTS = st.sampled_from([-2.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0])  # of which sums tie exactly


# Ordered lists of labels


@given(st.lists(st.integers(0, 30), max_size=12))
def test_active_labels_are_ordered_and_unique(labels: list[int]) -> None:
    active, n_active = np.full(max(1, len(labels)), -1, np.int64), 0
    for label in labels:
        n_active = add_label(active, n_active, label)
    assert active[:n_active].tolist() == sorted(set(labels))
    for slot, label in enumerate(sorted(set(labels))):
        assert slot_of(active, n_active, label) == slot
    assert slot_of(active, n_active, 31) == n_active


@given(st.integers(2, 12), st.data())
def test_nth_tied_counts_through_all_tied_labels(k: int, data: st.DataObject) -> None:
    active = sorted(data.draw(st.sets(st.integers(0, k - 1), max_size=k)))
    values = {label: data.draw(st.sampled_from([0.0, 1.0])) for label in active}
    others_tied = data.draw(st.booleans()) and len(active) < k
    tied = [label for label in range(k) if values.get(label, 1.0 if others_tied else 0.0) == 1.0]
    arrays = np.array(active, np.int64), len(active), np.array([values[label] for label in active])
    assert [nth_tied(*arrays, 1.0, 1.0, others_tied, number) for number in range(len(tied))] == tied


# Who has most votes


@given(st.integers(2, 12), st.data())
def test_largest_label_equals_the_twin(k: int, data: st.DataObject) -> None:
    active = sorted(data.draw(st.sets(st.integers(0, k - 1), max_size=k)))
    sums = [data.draw(WEIGHTS) for _ in active]
    full = [sums[active.index(label)] if label in active else 0.0 for label in range(k)]
    tied = [label for label in range(k) if full[label] == max(full)]
    index = data.draw(st.integers(0, 50))
    arrays = np.array(active, np.int64), len(active), np.array(sums, np.float64)
    found = largest_label(*arrays, k, key_of(SEED, ROUND), rng.EXPERT_TIE, index)
    assert found == rng.pick(rng.uniform(SEED, ROUND, rng.EXPERT_TIE, index), tied)


@given(st.integers(2, 12), st.data())
def test_expert_labels_equal_the_twin(k: int, data: st.DataObject) -> None:
    cast = data.draw(
        st.lists(st.tuples(st.integers(0, k - 1), WEIGHTS | st.floats(-2.0, 2.0)), min_size=1, max_size=20)
    )
    h, alpha = [label for label, _ in cast], [weight for _, weight in cast]
    labels = np.empty(len(h), np.int64)
    expert_labels(np.array(h, np.float64), np.array(alpha), k, key_of(SEED, ROUND), labels)
    assert labels.tolist() == naive.expert_predictions(naive.cumulative_votes(h, alpha, k), SEED, ROUND)


def test_negative_votes_leave_the_field_to_the_others() -> None:
    """Learners at odds with the truth get a negative weight: then any label but theirs is better."""
    found = set()
    for round_ in range(200):
        labels = np.empty(1, np.int64)
        expert_labels(np.array([3.0]), np.array([-1.0]), 5, key_of(SEED, round_), labels)
        found.add(int(labels[0]))
    assert found == {0, 1, 2, 4}


# Drawing an expert


@given(st.lists(st.floats(-800.0, 0.0), min_size=1, max_size=20), st.floats(0.0, 1.0, exclude_max=True))
def test_draw_equals_the_twin(log_weights: list[float], u: float) -> None:
    shifted = naive.shifted(log_weights)
    expected = rng.draw(u, [math.exp(log_weight) for log_weight in shifted])
    assert draw_expert(np.array(shifted), u) == expected


def test_each_expert_is_drawn_by_its_share() -> None:
    """The u that draw expert i make up an interval as long as its weight."""
    log_weights = np.log([0.5, 1.0, 0.25, 0.25])
    drawn = [draw_expert(log_weights, (j + 0.5) / 800) for j in range(800)]
    assert [drawn.count(expert) for expert in range(4)] == [200, 400, 100, 100]


def test_the_last_number_draws_the_last_expert() -> None:
    assert draw_expert(np.zeros(7), 1.0 - 2.0**-53) == 6
    assert draw_expert(np.array([0.0, -5000.0]), 1.0 - 2.0**-53) == 0


# Hedge


def charge(log_weights: np.ndarray, labels: list[int], k: int, rho: float, **verdict: Any) -> None:
    """One round of Hedge; `verdict` says yhat, ytilde and whether it was correct."""
    yhat, ytilde = verdict["yhat"], verdict["ytilde"]
    memo = memo_of(yhat, ytilde, label_probability(ytilde, yhat, rho, k))
    update_hedge(
        log_weights, np.array(labels, np.int64), estimate(settings_of(k), memo, int(verdict["correct"]))
    )


@pytest.mark.parametrize("rho", [1e-1, 1e-3, 1e-6])
def test_hedge_equals_the_twin(rho: float) -> None:
    k, n = 5, 8
    luck = np.random.default_rng(2)
    log_weights, expected = np.zeros(n), [0.0] * n
    for _ in range(200):
        yhat, ytilde, correct = int(luck.integers(k)), int(luck.integers(k)), bool(luck.integers(2))
        labels = luck.integers(0, k, n).tolist()
        charge(log_weights, labels, k, rho, yhat=yhat, ytilde=ytilde, correct=correct)
        lhat = naive.estimate_4(k, yhat, ytilde, label_probability(ytilde, yhat, rho, k), correct)
        expected = naive.shifted([v - lhat[label] for v, label in zip(expected, labels, strict=True)])
        assert log_weights.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12 / rho)


@pytest.mark.parametrize(("k", "rho"), [(11, 1e-3), (101, 1e-3), (101, 1e-5)])
def test_no_expert_dies_of_a_huge_charge(k: int, rho: float) -> None:
    """An explored correct round charges (k - 1) / rho at once: 1e4 to 1e7, where exp is 0.

    A verdict as large brings the loser back.
    """
    log_weights = np.zeros(3)
    charge(log_weights, [1, 2, 3], k, rho, yhat=0, ytilde=1, correct=True)
    assert log_weights[0] == 0.0
    assert log_weights[1:].tolist() == pytest.approx([-(k - 1) / rho] * 2, rel=1e-9)
    assert draw_expert(log_weights, 1.0 - 2.0**-53) == 0

    charge(log_weights, [1, 2, 3], k, rho, yhat=0, ytilde=2, correct=True)
    charge(log_weights, [1, 2, 3], k, rho, yhat=0, ytilde=2, correct=True)
    assert np.isfinite(log_weights).all()
    assert log_weights.argmax() == 1
    assert draw_expert(log_weights, 0.5) == 1


def test_equal_experts_stay_equal() -> None:
    """However large the charges, experts that say the same are charged the same."""
    log_weights = np.zeros(4)
    for ytilde in (1, 2, 1, 3, 0, 2):
        charge(log_weights, [1, 1, 2, 2], 7, 1e-4, yhat=0, ytilde=ytilde, correct=True)
    assert log_weights[0] == log_weights[1]
    assert log_weights[2] == log_weights[3]
    assert log_weights.max() == 0.0
