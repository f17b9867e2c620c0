"""What comes in: rows that cannot be, few rows, blocks of any size, plain data; nothing half added."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.errors import BanditBoostError, LogError, ParameterError
from banditboost.evaluation import PolicyDifference, PolicyValue, Replay, baseline
from banditboost.evaluation.value import KINDS
from tests.evaluation.worlds import made

ANYTHING = st.one_of(
    st.floats(), st.floats(0.0, 1.0), st.integers(-2, 2), st.none(), st.text(max_size=2), st.booleans()
)
ROWS = st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING), max_size=6)
GOOD = st.lists(st.tuples(st.floats(0, 1), st.floats(1e-6, 1), st.floats(0, 1)), max_size=40)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((2.0, 0.5, 0.5), "the reward is 2 in row 1"),
        ((math.nan, 0.5, 0.5), "the reward is nan"),
        ((1.0, 0.0, 0.5), "the logged probability is 0 in row 1"),
        ((1.0, 1.5, 0.5), "the logged probability is 1.5"),
        ((1.0, math.nan, 0.5), "the logged probability is nan"),
        ((1.0, 0.5, -0.1), "the probability of policy is -0.1"),
        ((1.0, 0.5, 1.1), "the probability of policy is 1.1"),
        ((1.0, 1e-31, 1.0), r"the logged probability is 1e-31 in row 1; .* \(not below 1e-30\)"),
        (("a", 0.5, 0.5), "give a number for each row"),
    ],
)
def test_a_row_that_cannot_be_is_refused_and_nothing_is_added(row: tuple[Any, ...], words: str) -> None:
    value, ahead, replay = PolicyValue(), PolicyDifference(), Replay(4.0)
    for made_of in (value, ahead, replay):
        made_of.add_many([1.0], [0.5], [0.5])
    before = value.to_plain(), ahead.to_plain(), replay.n, replay.kept
    columns = [list(column) for column in zip((1.0, 0.5, 0.5), row, strict=True)]
    for made_of in (value, ahead, replay):
        with pytest.raises(LogError, match=words):
            made_of.add_many(*columns)
    assert (value.to_plain(), ahead.to_plain(), replay.n, replay.kept) == before


@given(ROWS)
def test_whatever_comes_is_added_whole_or_refused_whole(rows: list[tuple[Any, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    for made_of in (PolicyValue(), PolicyDifference()):
        before = made_of.to_plain()
        try:
            made_of.add_many(*columns)
        except BanditBoostError:
            assert made_of.to_plain() == before
        else:
            assert made_of.n == len(rows)
            found = made_of.interval()
            assert -1.0 <= found.low <= 1.0
            assert -1.0 <= found.high <= 1.0


@given(GOOD, st.integers(1, 7))
def test_blocks_of_any_size_come_to_the_same_bits_and_plain_data_goes_on(
    rows: list[tuple[float, ...]], size: int
) -> None:
    whole, parts = PolicyValue(rows=50), PolicyValue(rows=50)
    difference, other = PolicyDifference(rows=50), PolicyDifference(rows=50)
    columns = np.array(rows, float).reshape(-1, 3).T
    whole.add_many(*columns)
    difference.add_many(*columns)
    for start in range(0, len(rows), size):
        parts.add_many(*columns[:, start : start + size])
        other.add_many(*columns[:, start : start + size])
        parts = PolicyValue.from_plain(json.loads(json.dumps(parts.to_plain())))
        other = PolicyDifference.from_plain(json.loads(json.dumps(other.to_plain())))
    assert parts.to_plain() == {**whole.to_plain(), "model": parts.to_plain()["model"]}
    assert other.to_plain() == difference.to_plain()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows_say_little_and_what_they_say_holds(n: int) -> None:
    value, ahead = PolicyValue((0, 10), rows=3), PolicyDifference((0, 10))
    value.add_many([10.0] * n, [0.5] * n, [0.25] * n)
    ahead.add_many([10.0] * n, [0.5] * n, [0.25] * n)
    for kind in ("sequence", "bernstein"):
        assert value.interval("ips", kind)[:2] == (0.0, 10.0)
        assert ahead.interval()[:2] == (-10.0, 10.0)
    assert math.isnan(value.estimate()) == (n == 0)
    assert math.isnan(value.estimate("snips")) == (n == 0)
    assert math.isnan(ahead.estimate()) == (n == 0)
    for estimator in ("ips", "snips", "likelihood", "clipped"):
        for kind in KINDS[estimator]:
            found = value.interval(estimator, kind)
            assert found.low <= found.high
            assert found.holds == (kind in ("sequence", "bernstein"))


def test_a_policy_that_never_does_what_was_logged_has_no_mean_weight_and_a_wide_interval() -> None:
    value = PolicyValue()
    value.add_many([1, 0] * 50, [0.5] * 100, [0.0] * 100)
    assert math.isnan(value.estimate("snips"))
    assert value.effective_sample_size == 0.0
    assert value.interval()[:2] == (0.0, 1.0)
    assert value.interval("snips")[:2] == (0.0, 1.0)


def test_wrong_probabilities_are_told_by_bounds_that_cross() -> None:
    value = PolicyValue()
    value.add_many([1, 0] * 5000, [0.25] * 10_000, [1.0] * 10_000)
    assert "the bounds cross" in value.interval().remark
    assert not value.interval().holds


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PolicyValue((1, 0)), "rewards is"),
        (lambda: PolicyValue(rows=0), "rows is 0"),
        (lambda: PolicyValue(clip=0), "clip is 0"),
        (lambda: PolicyValue(switch=-1), "switch is -1"),
        (lambda: PolicyValue(weights=(2, 3)), "weights is"),
        (lambda: PolicyValue(weights=3), "weights is 3"),  # type: ignore[arg-type]
        (lambda: PolicyValue().estimate("dr"), "estimator is 'dr'"),
        (lambda: PolicyValue().estimate("direct"), "no model of the rewards was told"),
        (lambda: PolicyValue().interval("snips", "sequence"), "kind is 'sequence'; give one of gaussian"),
        (lambda: PolicyValue().interval(level=1.0), "level is 1.0"),
        (lambda: PolicyValue().interval("ips", "bernstein"), "rows is None"),
        (lambda: PolicyDifference().interval("bernstein"), "rows is None"),
        (lambda: PolicyDifference().interval("likelihood"), "kind is 'likelihood'"),
        (lambda: Replay(0.5), "most_weight is 0.5"),
        (lambda: Replay(2, seed=-1), "seed is -1"),
        (lambda: PolicyValue.from_plain({}), "give what to_plain"),
        (lambda: PolicyValue.from_plain({**PolicyValue().to_plain(), "n": -1}), "n is -1"),
        (lambda: PolicyValue.from_plain({**PolicyValue().to_plain(), "sums": [1]}), "as there should be"),
        (lambda: PolicyValue.from_plain({**PolicyValue().to_plain(), "format": 9}), "another version"),
        (lambda: PolicyValue.from_plain({**PolicyValue().to_plain(), "sequences": {}}), "no PolicyValue"),
        (lambda: PolicyDifference.from_plain({**PolicyDifference().to_plain(), "sums": [0]}), "damaged"),
    ],
)
def test_parameters_that_cannot_be_are_refused(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (([0], [[0.5, 0.6]], [[0, 0]]), "the sum of the probabilities of policy is 1.1 in row 0"),
        (([0], [[1.5, -0.5]], [[0, 0]]), "a probability of policy is -0.5"),
        (([2], [[0.5, 0.5]], [[0, 0]]), "the place of action is 2"),
        (([0.5], [[0.5, 0.5]], [[0, 0]]), "the place of action is 0.5"),
        (([0], [[0.5, 0.5]], [[0, 2]]), "a predicted reward is 2"),
        (([0], [[0.5, 0.5]], [[math.nan, 0]]), "a predicted reward is nan"),
        (([0], [[0.5, 0.5]], [[0]]), "predicted gives an array"),
        (([0], "ab", [[0, 0]]), "policy gives"),
    ],
)
def test_a_model_that_cannot_be_is_refused(given_: tuple[Any, ...], words: str) -> None:
    with pytest.raises(BanditBoostError, match=words):
        baseline(*given_, least=0.1)


def test_least_must_be_a_probability_and_logging_a_distribution() -> None:
    with pytest.raises(ParameterError, match="least is not above 0"):
        baseline([0], [[0.5, 0.5]], [[0, 0]], least=0.0)
    with pytest.raises(LogError, match="sum of the probabilities of logging"):
        baseline([0], [[0.5, 0.5]], [[0, 0]], logging=[[0.5, 0.1]])


def test_a_model_goes_with_all_rows_or_with_none() -> None:
    value, model = PolicyValue(), baseline([0], [[0.5, 0.5]], [[0.2, 0.8]])
    value.add_many([1], [0.5], [0.5], model)
    with pytest.raises(LogError, match="with all of them, or with none"):
        value.add(1, 0.5, 0.5)
    with pytest.raises(LogError, match="tells of 1 rows, and there are 2"):
        value.add_many([1, 1], [0.5, 0.5], [0.5, 0.5], model)
    with pytest.raises(LogError, match=r"give baseline logging=\.\.\. or least"):
        value.interval("doubly_robust")
    assert value.interval("doubly_robust", "gaussian")[:2] == (0.0, 1.0)
    with pytest.raises(ParameterError, match="cut is 2 here, and 10 in baseline"):
        PolicyValue(cut=2).add_many([1], [0.5], [0.5], model)
    ahead = PolicyDifference()
    with pytest.raises(LogError, match="leave out one of the two"):
        ahead.add_many([1], [0.5], [0.5], [0.5], model)
    with pytest.raises(LogError, match=r"logging=\.\.\. or least"):
        ahead.add_many([1], [0.5], [0.5], model=model)
    assert ahead.n == 0
    assert value.n == 1


def test_many_rows_go_through_in_parts_of_bounded_memory() -> None:
    u, p, pi = made(70_000, 4)
    whole, halves = PolicyValue(), PolicyValue()
    whole.add_many(u, p, pi)
    halves.add_many(u[:33_333], p[:33_333], pi[:33_333])
    halves.add_many(u[33_333:], p[33_333:], pi[33_333:])
    assert whole.to_plain() == halves.to_plain()
