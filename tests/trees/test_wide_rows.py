"""Trees that look at some of the columns only, against the naive one: which columns, and what becomes of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees.forests import INTERPRETED, Twins, label_of, random_row
from tests.weak_learners.invariants import check_committee, columns_of

LEAVES = ["majority", "naive_bayes", "adaptive"]
N_EXAMPLES = 100 if INTERPRETED else 400
EAGER: dict[str, Any] = {"grace_period": 5.0, "split_confidence": 0.3, "tie_threshold": 0.3}
MIXED = ["numeric", "nominal", "numeric", "nominal", "nominal", "numeric", "numeric", "nominal", "numeric"]
N_VALUES = [0, 3, 0, 5, 2, 0, 0, 3, 0]


def sparse_row(draw: np.random.Generator, twins: Twins, missing: float) -> np.ndarray:
    """Most numbers are 0, so that columns die."""
    x = random_row(draw, twins.naive.kinds, twins.n_values, missing)
    numeric = np.array([kind == "numeric" for kind in twins.naive.kinds])
    return np.where(numeric & ~np.isnan(x) & (draw.random(len(x)) < 0.7), 0.0, x)


def assert_same_columns(twins: Twins) -> None:
    """Leaf by leaf; nodes have the same numbers in both."""
    leaves = {node.number: node for node in twins.naive.nodes() if node.seen and not node.children}
    told = columns_of(twins.committee)
    assert told == {number: twins.naive.columns_of(leaf) for number, leaf in leaves.items()}


def play(twins: Twins, k: int, seed: int, missing: float, n_examples: int = N_EXAMPLES) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(n_examples):
        x = sparse_row(draw, twins, missing)
        twins.step(x, label_of(x, k, draw), 1.0)
    twins.assert_same()
    assert_same_columns(twins)
    check_committee(twins.committee)


@pytest.mark.parametrize("max_columns", [1, 2, 5, 8])
@pytest.mark.parametrize("leaf_prediction", LEAVES)
@pytest.mark.parametrize("missing", [0.1, 0.7])
def test_the_twins_agree(max_columns: int, leaf_prediction: Any, missing: float) -> None:
    parameters = {**EAGER, "leaf_prediction": leaf_prediction, "max_columns": max_columns}
    play(Twins(3, list(MIXED), N_VALUES, **parameters), 3, max_columns, missing)


@pytest.mark.parametrize("n_columns", [31, 32, 33, 70])
def test_the_twins_agree_on_many_columns(n_columns: int) -> None:
    """At most 8 columns are exchanged at once, of leaves that have more."""
    twins = Twins(4, ["numeric"] * n_columns, [0] * n_columns, max_columns=32, **EAGER)
    draw = np.random.default_rng(n_columns)
    for _ in range(N_EXAMPLES // 2):
        x = np.where(draw.random(n_columns) < 0.9, 0.0, draw.normal(size=n_columns))
        twins.step(x, int(np.flatnonzero([*(x > 0), True])[0] % 4), 1.0)
    twins.assert_same()
    assert_same_columns(twins)
    check_committee(twins.committee)


def test_columns_and_values_join_before_and_after_the_bound_is_passed() -> None:
    twins = Twins(3, ["nominal", "numeric"], [2, 0], max_columns=4, leaf_prediction="adaptive", **EAGER)
    for step in range(8):
        play(twins, 3, step, 0.1, N_EXAMPLES // 10)
        twins.join_feature("nominal" if step % 3 == 0 else "numeric")
        twins.join_value(0)
        check_committee(twins.committee)
    play(twins, 3, 9, 0.1, N_EXAMPLES // 10)


@pytest.mark.parametrize("max_columns", [9, 50, None])
def test_rows_that_are_not_wider_are_learned_as_without_a_bound(max_columns: int | None) -> None:
    bounded = Twins(3, list(MIXED), N_VALUES, max_columns=max_columns, **EAGER)
    free = Twins(3, list(MIXED), N_VALUES, max_columns=None, **EAGER)
    play(bounded, 3, 1, 0.1)
    play(free, 3, 1, 0.1)
    for mine, theirs in zip(bounded.committee.forest[:-1], free.committee.forest[:-1], strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_leaves_look_at_different_columns_and_at_those_that_are_present_first() -> None:
    n_columns = 40
    twins = Twins(2, ["numeric"] * n_columns, [0] * n_columns, max_columns=6, **EAGER)
    draw, present = np.random.default_rng(4), [3, 17, 25, 39]
    x = np.full(n_columns, math.nan)
    x[present] = 1.0
    twins.learn(x, 0, 1.0)
    assert set(present) < set(columns_of(twins.committee)[0])
    for _ in range(N_EXAMPLES):
        row = draw.normal(size=n_columns)
        twins.learn(row, int(row[:20].sum() > 0), 1.0)
    assert INTERPRETED or len({tuple(columns) for columns in columns_of(twins.committee).values()}) > 2


values = st.sampled_from([math.nan, 0.0, 1.0, -1.0, 2.0])
rows = st.tuples(values, values, values, values, values, st.integers(0, 2))


@given(stream=st.lists(rows, max_size=25), max_columns=st.integers(1, 5), grace=st.sampled_from([1.0, 5.0]))
@settings(max_examples=30 if INTERPRETED else 200)
def test_any_short_stream(stream: list[tuple[float, ...]], max_columns: int, grace: float) -> None:
    twins = Twins(
        3, ["numeric"] * 5, [0] * 5,
        grace_period=grace, split_confidence=0.9, tie_threshold=0.5, max_columns=max_columns,
    )  # fmt: skip
    for *x, label in stream:
        twins.step(np.array(x), int(label), 1.0)
    twins.assert_same()
    assert_same_columns(twins)
