"""One compiled tree against the naive one of tests/naive/tree.py, example for example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost.trees.forest import score_forest
from tests.trees.forests import INTERPRETED, Twins, label_of, random_row, random_weight

NAN = math.nan
FEATURES = {
    "numeric": (["numeric"] * 4, [0] * 4),
    "nominal": (["nominal"] * 4, [2, 3, 5, 3]),
    "mixed": (["numeric", "nominal", "numeric", "nominal"], [0, 4, 0, 3]),
}
LEAVES = ["majority", "naive_bayes", "adaptive"]
N_EXAMPLES = 120 if INTERPRETED else 500
EAGER = {"grace_period": 5.0, "split_confidence": 0.3, "tie_threshold": 0.3}


def play(twins: Twins, k: int, wide: bool, missing: float, seed: int, n_examples: int = N_EXAMPLES) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(n_examples):
        x = random_row(draw, twins.naive.kinds, twins.n_values, missing)
        twins.step(x, label_of(x, k, draw), random_weight(draw, wide))
    twins.assert_same()


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("leaf_prediction", LEAVES)
@pytest.mark.parametrize("wide", [False, True], ids=["weight 1", "weights 1e-10 to 1e10"])
def test_the_twins_agree(features: str, k: int, leaf_prediction: Any, wide: bool) -> None:
    kinds, n_values = FEATURES[features]
    twins = Twins(k, kinds, n_values, leaf_prediction=leaf_prediction, **EAGER)
    play(twins, k, wide, missing=0.15, seed=k)
    assert INTERPRETED or twins.naive.n_leaves() > 1


@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.49])
@pytest.mark.parametrize("confidence", [1e-7, 0.9, 1.0])
def test_the_twins_agree_whatever_the_parameters(fraction: float, confidence: float) -> None:
    kinds, n_values = FEATURES["mixed"]
    twins = Twins(
        3,
        kinds,
        n_values,
        grace_period=0.5,
        split_confidence=confidence,
        tie_threshold=0.2,
        min_branch_fraction=fraction,
    )
    play(twins, 3, wide=False, missing=0.0, seed=5, n_examples=N_EXAMPLES // 2)


@pytest.mark.parametrize("leaf_prediction", LEAVES)
def test_nominal_values_join_over_time(leaf_prediction: Any) -> None:
    twins = Twins(3, ["nominal", "numeric", "nominal"], [2, 0, 1], leaf_prediction=leaf_prediction, **EAGER)
    for step in range(10):
        play(twins, 3, wide=False, missing=0.1, seed=step, n_examples=N_EXAMPLES // 8)
        twins.join_value(0)
        twins.join_value(2)


def test_integer_features_whose_thresholds_are_values() -> None:
    """With values 0 to 11 each threshold is a value, and cuts a class that only has this value in half: a tie
    must stay a tie.
    """
    twins = Twins(12, ["numeric"], [0], grace_period=13.0, split_confidence=1.0, tie_threshold=0.5)
    for label in range(12):
        twins.step(np.array([float(label)]), label, 1.0 + (label in (5, 6)))
    twins.assert_same()
    assert twins.naive.n_leaves() == 2
    for value in list(range(12)) * 5:
        twins.predict(np.array([float(value)]))


@pytest.mark.parametrize("leaf_prediction", LEAVES)
def test_binary_scores_agree(leaf_prediction: Any) -> None:
    kinds, n_values = FEATURES["mixed"]
    twins = Twins(2, kinds, n_values, leaf_prediction=leaf_prediction, **EAGER)
    draw = np.random.default_rng(3)
    scores = np.zeros((1, 1))
    for _ in range(N_EXAMPLES):
        x = random_row(draw, kinds, n_values, missing=0.15)
        score_forest(twins.committee.forest, x, scores)
        assert scores[0, 0] == pytest.approx(twins.naive.score(x.tolist()), rel=1e-6, abs=1e-12)
        twins.learn(x, label_of(x, 2, draw), random_weight(draw, wide=False))


numbers = st.sampled_from([NAN, 0.0, 1.0, -1.0, 2.0]) | st.floats(-1e6, 1e6, allow_subnormal=False)
codes = st.sampled_from([NAN, 0.0, 1.0, 2.0])
weights = st.sampled_from([1.0, 3.0, 1e-10, 1e10]) | st.floats(1e-10, 1e10)
streams = st.lists(st.tuples(numbers, codes, numbers, st.integers(0, 2), weights), max_size=25)


@given(stream=streams, leaf_prediction=st.sampled_from(LEAVES), grace=st.sampled_from([1.0, 5.0]))
@settings(max_examples=30 if INTERPRETED else 300)
def test_any_short_stream(stream: list[tuple[float, ...]], leaf_prediction: Any, grace: float) -> None:
    twins = Twins(
        3, ["numeric", "nominal", "numeric"], [0, 3, 0],
        grace_period=grace, split_confidence=0.9, tie_threshold=0.5, leaf_prediction=leaf_prediction,
    )  # fmt: skip
    for *x, label, weight in stream:
        twins.step(np.array(x), int(label), weight)
    twins.assert_same()
