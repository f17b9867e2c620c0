"""Probabilities and estimates, by enumeration."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from banditboost import baselines
from banditboost.baselines.linear import vector_of
from banditboost.baselines.soba import CURVATURE, THETA
from banditboost.baselines.trees import BAG, poisson
from banditboost.compiled.rng import uniform_at
from banditboost.decision import Decision
from banditboost.memo import GREEDY, PROBABILITY, SHOWN
from banditboost.trees.forest import score_forest
from tests.baselines.models import LINEAR, NAMES, RHO, SEED, make
from tests.boosting.streams import make_stream

K = 4
STREAM = make_stream("mixed", K, 80)


def trained(name: str, n_rounds: int = 60) -> Any:
    model = make(name, range(K), STREAM.schema())
    for x, y in zip(STREAM.X[:n_rounds], STREAM.y.tolist(), strict=False):
        decision = model.decide(x)
        model.learn(decision, decision.label == y)
    return model


def outcomes(model: Any, x: np.ndarray) -> list[tuple[Any, Decision, float]]:
    """The K decisions that could have been made, each with a model of its own and its probability."""
    found = []
    for label in range(K):
        twin = copy.deepcopy(model)
        decision = twin.decide(x)
        memo = decision._memo.copy()
        memo[SHOWN], memo[PROBABILITY] = label, decision.distribution()[label]
        found.append((twin, Decision._of(decision._origin, twin.labels, memo), float(memo[PROBABILITY])))
    return found


@pytest.mark.parametrize("k", [2, 3, 7, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_exact(name: str, k: int) -> None:
    model = make(name, range(k))
    for t in range(5):
        decision = model.decide({"n": float(t), "s": "ab"[t % 2]})
        shares = decision.distribution()
        rate = Fraction(k - 1, k) if name == "Random" else Fraction(RHO)
        for label, share in shares.items():
            assert share == pytest.approx(
                float(1 - rate if label == decision.greedy else rate / (k - 1)), rel=1e-12
            )
        assert math.fsum(shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert decision.probability == shares[decision.label]
        model.learn(decision, t % 2 == 0)


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_shown_as_often_as_said(name: str) -> None:
    """Without verdicts nothing changes but the round: 4,000 draws, each label within five standard
    deviations.
    """
    model, explored = make(name, range(K)), 0
    row = np.array([1.0, 2.0])
    for _ in range(4000):
        explored += model.decide(row).explored
    rate = 0.75 if name == "Random" else RHO
    assert abs(explored - 4000 * rate) < 5 * math.sqrt(4000 * rate * (1 - rate))


@pytest.mark.parametrize("right", range(K))
def test_the_step_of_banditron_is_the_perceptrons_on_average(right: int) -> None:
    """Sum over shown labels of p times the step = (e_y - e_greedy) phi(x)^T."""
    model, x = trained("Banditron"), STREAM.X[70]
    average = np.zeros_like(model._tables[0])
    for twin, decision, p in outcomes(model, x):
        twin.learn(decision, decision.label == right)
        average += p * (twin._tables[0] - model._tables[0])
        columns, values = vector_of(twin._features, twin._scales, x)
        greedy = int(decision._memo[GREEDY])
    expected = np.zeros_like(average)
    expected[columns, right] += values
    expected[columns, greedy] -= values
    assert average == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("right", range(K))
def test_the_step_of_soba_is_the_hinges_on_average(right: int) -> None:
    """E[g] = (e_r - e_y) x phi(x) with r the best of the other labels, and E[z z'] has its square on the
    diagonal.
    """
    model, x = trained("DiagonalSOBA"), STREAM.X[70]
    model._margins[0] = 1e9  # so that the step is made in any case
    step, curvature = np.zeros_like(model._tables[0]), np.zeros_like(model._tables[0])
    for twin, decision, p in outcomes(model, x):
        twin.learn(decision, decision.label == right)
        step += p * (twin._tables[THETA] - model._tables[THETA])
        curvature += p * (twin._tables[CURVATURE] - model._tables[CURVATURE])
    columns, values = vector_of(model._features, np.maximum(model._scales, twin._scales), x)
    weights = model._tables[THETA] / (model.regularization + model._tables[CURVATURE])
    scores = values @ weights[columns]
    scores[right] = -np.inf
    rival, expected = int(scores.argmax()), np.zeros_like(step)
    expected[columns, right] += values
    expected[columns, rival] -= values
    assert step == pytest.approx(expected, abs=1e-9)
    assert curvature == pytest.approx(expected**2, abs=1e-9)


def test_soba_makes_no_step_that_would_bring_the_margins_below_zero() -> None:
    model, x = trained("DiagonalSOBA"), STREAM.X[70]
    decision = model.decide(x)
    model._margins[0] = -1e9
    before = model._tables.copy()
    model.learn(decision, True)
    assert np.array_equal(model._tables, before)


@pytest.mark.parametrize("name", LINEAR)
def test_rows_have_length_one_and_do_not_depend_on_units(name: str) -> None:
    model, other = make(name, range(3)), make(name, range(3))
    for t in range(40):
        row = {"n": math.sin(t) * 5, "m": float(t % 7), "s": "abc"[t % 3]}
        decision = model.decide(row)
        converted = other.decide({**row, "n": row["n"] * 1024.0, "m": row["m"] / 64.0})
        assert (decision.label, decision.greedy) == (converted.label, converted.greedy)
        model.learn(decision, decision.label == t % 3)
        other.learn(converted, converted.label == t % 3)
        _, values = vector_of(model._features, model._scales, decision._memo[model._row_start :])
        assert np.sum(values**2) == pytest.approx(1.0)


@pytest.mark.parametrize("extreme", [1e100, -1e100, 5e-324, 10**100])
@pytest.mark.parametrize("name", LINEAR)
def test_extreme_numbers_keep_weights_finite(name: str, extreme: float) -> None:
    model = make(name, range(3))
    for t in range(20):
        decision = model.decide({"n": extreme if t % 3 == 0 else float(t)})
        model.learn(decision, decision.label == t % 3)
    assert np.all(np.isfinite(model._tables))
    assert np.all(np.isfinite(model._scales))


def test_bags_are_poisson() -> None:
    """Exactly at the borders of the distribution function, and on average over keyed numbers."""
    share = math.exp(-1)
    assert [
        poisson(u) for u in (0.0, share - 1e-12, share + 1e-12, 2 * share - 1e-12, 2 * share + 1e-12)
    ] == [0, 0, 1, 1, 2]
    assert poisson(1.0 - 2.0**-53) < 30
    drawn = [poisson(uniform_at(SEED, t, BAG, 0)) for t in range(4000)]
    assert np.mean(drawn) == pytest.approx(1.0, abs=5 / math.sqrt(4000))
    assert np.var(drawn) == pytest.approx(1.0, abs=0.15)


def test_only_the_trees_of_the_shown_label_learn() -> None:
    model = trained("EpsilonGreedyForest")
    before = copy.deepcopy(model._committee)
    decision = model.decide(STREAM.X[70])
    model.learn(decision, True)
    x, n = STREAM.X[:70], model.n_learners
    scores = np.zeros((2, 70, model.n_groups, n))
    for t, row in enumerate(x):
        score_forest(before.forest, row, scores[0, t])
        score_forest(model._committee.forest, row, scores[1, t])
    changed = np.any(scores[0] != scores[1], axis=(0, 2))
    assert changed.tolist() == [group == model._group_of(decision.label) for group in range(model.n_groups)]


def test_majority_finds_the_label_that_is_right_most_often() -> None:
    model = baselines.Majority(list("abcde"), exploration=0.1, seed=2)
    luck = np.random.default_rng(4)
    for _ in range(400):
        decision = model.decide({})
        model.learn(decision, decision.label == luck.choice(list("abcde"), p=[0.1, 0.1, 0.5, 0.2, 0.1]))
    assert model.decide({}).greedy == "c"
