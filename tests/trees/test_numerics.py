"""No value and no weight spoils the statistics, and trees do not care where on the number line a feature
lives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from banditboost.rows.checking import first_bad_row
from banditboost.trees.forest import score_forest
from banditboost.weak_learners.tree_committee import TreeCommittee
from tests.trees.forests import (
    INTERPRETED,
    Twins,
    committee_of,
    schema_of,
    shape_of,
    skeleton,
    teach,
    thresholds_in,
    votes_of,
)
from tests.weak_learners.invariants import check_committee

N_EXAMPLES = 300 if INTERPRETED else 1500
EAGER: dict[str, Any] = {"grace_period": 20.0, "split_confidence": 0.05, "tie_threshold": 0.1}
LEAVES = ["majority", "naive_bayes", "adaptive"]
LARGEST = 1e100
TINY = 5e-324


def bands(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two features with spread 1; the class is the band of the first."""
    draw = np.random.default_rng(seed)
    X = draw.uniform(-0.5, 0.5, (N_EXAMPLES, 2))
    return X, np.digitize(X[:, 0], [-0.2, 0.25])


def grown_on(X: np.ndarray, y: np.ndarray, **parameters: Any) -> tuple[TreeCommittee, float]:
    """A tree, and how often it was right before it learned."""
    tree = committee_of(schema_of(["numeric"] * 2, [0, 0]), 3, **{**EAGER, **parameters})
    right = 0
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        right += votes_of(tree, x, t)[0] == label
        teach(tree, x, label)
    check_committee(tree)
    return tree, right / len(X)


@pytest.mark.parametrize("leaf_prediction", LEAVES)
@pytest.mark.parametrize("centre", [1e9, -1e9])
def test_a_feature_around_a_billion_splits_like_one_around_zero(centre: float, leaf_prediction: str) -> None:
    X, y = bands(1)
    X = (X + centre) - centre  # what is left of the digits
    near, near_accuracy = grown_on(X, y, leaf_prediction=leaf_prediction)
    far, far_accuracy = grown_on(X + centre, y, leaf_prediction=leaf_prediction)
    assert skeleton(shape_of(far)) == skeleton(shape_of(near))
    assert len(thresholds_in(shape_of(far))) >= (1 if INTERPRETED else 3)
    np.testing.assert_allclose(
        np.array(thresholds_in(shape_of(far))) - centre, thresholds_in(shape_of(near)), rtol=0, atol=1e-6
    )
    assert far_accuracy == pytest.approx(near_accuracy, abs=0.005)


@pytest.mark.parametrize("leaf_prediction", LEAVES)
def test_a_feature_around_1e15_splits_as_far_as_its_digits_tell(leaf_prediction: str) -> None:
    X, y = bands(2)
    X = (4 * X + 1e15) - 1e15  # steps of an eighth
    _, near_accuracy = grown_on(X, y, leaf_prediction=leaf_prediction)
    tree, far_accuracy = grown_on(X + 1e15, y, leaf_prediction=leaf_prediction)
    assert len(thresholds_in(shape_of(tree))) >= 1
    assert far_accuracy == pytest.approx(near_accuracy, abs=0.03)  # thresholds are rounded to eighths as well


@pytest.mark.parametrize("leaf_prediction", LEAVES)
@pytest.mark.parametrize("power", [20, -30, -300, 300])
def test_powers_of_two_change_nothing(power: int, leaf_prediction: str) -> None:
    X, y = bands(3)
    one, accuracy = grown_on(X, y, leaf_prediction=leaf_prediction)
    scaled, scaled_accuracy = grown_on(X * 2.0**power, y, leaf_prediction=leaf_prediction)
    assert skeleton(shape_of(scaled)) == skeleton(shape_of(one))
    assert thresholds_in(shape_of(scaled)) == [t * 2.0**power for t in thresholds_in(shape_of(one))]
    assert scaled_accuracy == accuracy


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e-90, 1e90])
def test_a_scaled_feature_splits_at_scaled_thresholds(scale: float) -> None:
    X, y = bands(4)
    one, _ = grown_on(X, y)
    scaled, _ = grown_on(X * scale, y)
    assert skeleton(shape_of(scaled)) == skeleton(shape_of(one))
    np.testing.assert_allclose(
        thresholds_in(shape_of(scaled)), np.array(thresholds_in(shape_of(one))) * scale, rtol=1e-6
    )


@pytest.mark.parametrize("scale", [1e-98, 1e-100, 1e-102, 1e-160, 1e-250, 1e-310])
def test_next_to_nothing_splits_as_the_naive_tree_does(scale: float) -> None:
    """Values less than 1e-100 apart are one value: their squares vanish, and reciprocals overflow."""
    twins = Twins(3, ["numeric"] * 2, [0, 0], **EAGER)
    X, y = bands(5)
    for x, label in zip(X * scale, y.tolist(), strict=True):
        twins.step(x, label, 1.0)
    twins.assert_same()
    assert INTERPRETED or (twins.naive.n_leaves() > 1) == (scale >= 1e-99)


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_all_sizes_leave_sound_statistics(seed: int) -> None:
    draw = np.random.default_rng(seed)
    tree = committee_of(
        schema_of(["numeric", "nominal", "numeric"], [0, 3, 0]), 4, n_trees=2, grace_period=5.0
    )
    for _ in range(N_EXAMPLES):
        x = np.array([1e9 + draw.normal(), draw.integers(3), draw.normal() * 10.0 ** draw.uniform(-100, 99)])
        teach(tree, x, int(draw.integers(4)), 10.0 ** draw.uniform(-10, 10))
    check_committee(tree)


finite = st.floats(-LARGEST, LARGEST) | st.sampled_from(
    [0.0, -0.0, TINY, -TINY, 1e-310, LARGEST, -LARGEST, 1.0, 1.0 + 2**-52]
)
weights = st.sampled_from([1e-10, 1.0, 1e10]) | st.floats(1e-10, 1e10)
streams = st.lists(st.tuples(finite, finite, st.integers(0, 1), weights), min_size=1, max_size=30)


def at_the_door(tree: TreeCommittee, x: list[float]) -> np.ndarray:
    """A row as the door lets it in."""
    rows = np.array([x])
    assert first_bad_row(tree.forest.features, rows)[0] == -1
    return rows[0]


@given(stream=streams, leaf_prediction=st.sampled_from(LEAVES))
@settings(max_examples=20 if INTERPRETED else 400)
@example(
    stream=[(0.0, TINY, 0, 1.0), (TINY, 0.0, 1, 1.0), (LARGEST, 1.0, 0, 1.0)], leaf_prediction="naive_bayes"
)
@example(
    stream=[(0.0, 1e-317, 0, 1.0), (0.0, 0.0, 1, 1.0), (0.0, LARGEST, 0, 1.0)], leaf_prediction="naive_bayes"
)
def test_any_finite_value_and_any_weight(stream: list[tuple[float, ...]], leaf_prediction: str) -> None:
    tree = committee_of(
        schema_of(["numeric"] * 2, [0, 0]),
        2,
        **{**EAGER, "grace_period": 1.0, "leaf_prediction": leaf_prediction},
    )
    score = np.zeros((1, 1))
    for *x, label, weight in stream:
        row = at_the_door(tree, x)
        assert votes_of(tree, row)[0] in (0, 1)
        score_forest(tree.forest, row, score)
        assert 0.0 <= score[0, 0] <= 1.0
        teach(tree, row, int(label), weight)
        check_committee(tree)


@given(x=st.floats() | st.sampled_from([LARGEST, -LARGEST, math.nextafter(LARGEST, math.inf), -1.7e308]))
def test_the_door_refuses_what_is_too_large_to_square_and_changes_nothing(x: float) -> None:
    tree = committee_of(schema_of(["numeric"], [0]), 2)
    rows = np.array([[1.0], [x]])
    bad = first_bad_row(tree.forest.features, rows)
    assert bad == ((1, 0) if abs(x) > LARGEST else (-1, -1))
    np.testing.assert_equal(rows, [[1.0], [x]])
