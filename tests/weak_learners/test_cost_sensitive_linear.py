"""The linear learner of costs: ridge regression to the last digit, whatever comes and whenever it joins."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import Schema, checks
from banditboost.errors import ParameterError
from banditboost.io.values import UnreadableError
from banditboost.weak_learners.cost_sensitive_linear import CostSensitiveLinear
from tests.naive import linear as naive

SCHEMA = Schema(numeric=["a", "b"], nominal={"c": ["x", "y", "z"]})
NOMINAL = 2  # the column of c; what joins behind it is taken for numbers
NAN = math.nan

NUMBERS = st.one_of(st.just(NAN), st.floats(-100.0, 100.0).map(lambda value: round(value, 2)))
ROWS = st.tuples(NUMBERS, NUMBERS, st.sampled_from([NAN, 0.0, 1.0, 2.0, 5.0]), NUMBERS)
COSTS = st.lists(st.floats(-50.0, 50.0).map(lambda value: round(value, 2)), min_size=2, max_size=5)


@st.composite
def lessons(draw: st.DrawFn) -> list[tuple[list[float], list[float]]]:
    """Rows and costs; a fourth column and more labels join on the way, and never leave."""
    found, width, n_labels = [], 3, 2
    for _ in range(draw(st.integers(1, 14))):
        row, costs = draw(ROWS), draw(COSTS)
        width = max(width, draw(st.sampled_from([3, 3, 4])))
        n_labels = max(n_labels, len(costs))
        found.append((list(row[:width]), costs + [0.0] * (n_labels - len(costs))))
    return found


def both(ridge: float, clip: float | None) -> tuple[CostSensitiveLinear, Any]:
    ours = CostSensitiveLinear(SCHEMA, ridge=ridge, clip=clip)
    return ours, naive.CostSensitiveLinear([NOMINAL], ridge, math.inf if clip is None else clip)


@given(lessons(), st.sampled_from([0.5, 1.0, 10.0]), st.sampled_from([None, 20.0]), ROWS)
def test_it_equals_its_twin(
    taught: list[tuple[list[float], list[float]]], ridge: float, clip: float | None, asked: tuple[float, ...]
) -> None:
    ours, twin = both(ridge, clip)
    for x, costs in taught:
        ours.learn_costs(np.array(x), np.array(costs))
        twin.learn_costs(x, costs)
    for x in (taught[0][0], list(asked)):
        row = np.array(x + [NAN] * (4 - len(x)))
        expected = twin.expected_costs(row.tolist())
        estimated = ours._weights @ ours._inputs(row)
        np.testing.assert_allclose(estimated, expected, rtol=1e-6, atol=1e-7)
        assert expected[ours.predict(row)] == pytest.approx(min(expected), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(ROWS, st.integers(0, 3), st.floats(0.1, 300.0)), min_size=1, max_size=10))
def test_label_and_weight_are_a_cost_vector(taught: list[tuple[tuple[float, ...], int, float]]) -> None:
    ours, twin = both(1.0, 20.0)
    for x, label, weight in taught:
        ours.learn(np.array(x), label, weight)
        twin.learn(list(x), label, weight)
    x = np.array(taught[-1][0])
    np.testing.assert_allclose(
        ours._weights @ ours._inputs(x), twin.expected_costs(x.tolist()), rtol=1e-6, atol=1e-7
    )


def test_a_vector_and_the_label_and_weight_of_it_teach_the_same_where_nothing_is_lost() -> None:
    by_costs, by_label = (CostSensitiveLinear(clip=None) for _ in range(2))
    for learner in (by_costs, by_label):
        learner.learn_costs(np.array([1.0]), np.array([1.0, 0.0, 2.0]))  # there are three labels
    by_costs.learn_costs(np.array([1.0]), np.array([2.0, 5.0, 5.0]))  # differences 0, 3, 3: weight 6
    by_label.learn(np.array([1.0]), 0, 6.0)
    assert by_costs._weights.tolist() == by_label._weights.tolist()


def test_a_constant_added_to_all_costs_changes_nothing() -> None:
    one, other = (CostSensitiveLinear(clip=None) for _ in range(2))
    one.learn_costs(np.array([1.0]), np.array([1.0, 2.0, 4.0]))
    other.learn_costs(np.array([1.0]), np.array([1.0, 2.0, 4.0]) - 4096.0)
    assert one._weights.tolist() == other._weights.tolist()


def test_new_things_begin_with_the_mean() -> None:
    """A label of which nothing is known is neither cheap nor dear."""
    learner = CostSensitiveLinear()
    for _ in range(20):
        learner.learn_costs(np.array([1.0]), np.array([0.0, 4.0]))
    learner.learn_costs(np.array([1.0]), np.array([0.0, 4.0, 2.0]))
    costs = learner._weights @ learner._inputs(np.array([1.0]))
    assert costs[0] < costs[2] < costs[1]


@pytest.mark.parametrize("learner", [CostSensitiveLinear, CostSensitiveLinear(SCHEMA, clip=None)])
def test_it_keeps_the_rules_of_weak_learners(learner: Any) -> None:
    checks.check_weak_learner(learner)


def test_copies_and_stored_states_are_whole() -> None:
    learner = CostSensitiveLinear(SCHEMA, ridge=3.0, clip=7.0)
    for t in range(10):
        learner.learn_costs(np.array([t % 3, NAN if t % 2 else 1.0, t % 2]), np.array([0.0, 1.0, t]))
    x, costs = np.array([1.0, 2.0, 0.0, 5.0]), np.array([1.0, 0.0, 3.0, 2.0])
    copies = [
        copy.deepcopy(learner),
        pickle.loads(pickle.dumps(learner)),
        CostSensitiveLinear.from_dict(learner.to_dict()),
    ]
    learner.learn_costs(x, costs)
    for one in copies:
        assert one._weights.tobytes() != learner._weights.tobytes()
        one.learn_costs(x, costs)
        assert one._weights.tobytes() == learner._weights.tobytes()
        assert one.predict(x) == learner.predict(x)
        assert (one.ridge, one.clip) == (3.0, 7.0)


DAMAGE: list[dict[str, Any]] = [
    {"ridge": -1.0},
    {"clip": "no"},
    {"nominal": 3},
    {"nominal": [-1]},
    {"n_columns": 1},
    {"n_columns": "2"},
    {"places": np.zeros((3, 3), np.int64)},
    {"places": np.zeros((2, 3), np.int64)},
    {"moments": np.zeros((3, 9))},
    {"inverse": np.full((4, 4), NAN)},
    {"weights": np.zeros((1, 4))},
    {"weights": None},
    {"more": 1},
]


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_a_damaged_state_is_refused(damage: dict[str, Any]) -> None:
    learner = CostSensitiveLinear(SCHEMA)
    learner.learn_costs(np.array([1.0, 2.0, 0.0]), np.array([0.0, 1.0]))
    whole = learner.to_dict()
    assert whole["inverse"].shape == (4, 4)
    with pytest.raises((UnreadableError, ParameterError)):
        CostSensitiveLinear.from_dict({**whole, **damage})


@pytest.mark.parametrize("bad", [{"ridge": 0.0}, {"ridge": "1"}, {"clip": -1.0}, {"clip": math.nan}], ids=str)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"^{next(iter(bad))}"):
        CostSensitiveLinear(**bad)


def test_memory_is_told() -> None:
    learner = CostSensitiveLinear()
    learner.learn_costs(np.zeros(10), np.zeros(3))
    assert learner.memory_usage >= 8 * (11 * 11 + 3 * 11)
