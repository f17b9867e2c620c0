"""Many rows in one call are the same as one by one, to the last bit; and a call that is refused has changed
nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import AdaBandit, Decision, Schema
from banditboost.errors import BanditBoostError, DecisionError, FeatureError, LabelError
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference, state_of
from tests.boosting.streams import growing_rows, make_stream
from tests.boosting.twins import BANDITS, BOOSTERS, make_booster

K, N = 3, 3
STREAM = make_stream("mixed", K, 24 if INTERPRETED else 120)
FULL = ["AdaFull", "OptFull", "MixFull"]
BATCH = 10


def named_rows() -> list[dict[str, Any]]:
    rows = STREAM.dicts()
    for t, row in enumerate(rows):
        row.update(flag=t % 3 == 0, count=t % 5)
    return rows


def categorical(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"f1": "category", "count": "Int64", "flag": "boolean"})


NAMED = {
    "dicts": list,
    "tuple": tuple,
    "objects": lambda rows: np.array(rows, object),
    "pandas": pd.DataFrame,
    "categorical": categorical,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
}
CODED = {
    "matrix": lambda X: X,
    "fortran": np.asfortranarray,
    "list of arrays": list,
    "float32": lambda X: X.astype(np.float32),
}


def batches(n_rows: int) -> list[slice]:
    return [slice(start, start + BATCH) for start in range(0, n_rows, BATCH)]


def play_one_by_one(model: Any, rows: list[Any]) -> list[Any]:
    """Decisions (or predictions) of a whole batch, then its verdicts."""
    seen: list[Any] = []
    for part in batches(len(rows)):
        right = STREAM.y[part].tolist()
        if type(model).__name__ in FULL:
            seen += [model.predict_one(x) for x in rows[part]]
            for x, y in zip(rows[part], right, strict=True):
                model.learn_one(x, y)
        else:
            decisions = [model.decide(x) for x in rows[part]]
            for decision, y in zip(decisions, right, strict=True):
                model.learn(decision, decision.label == y)
            seen += [decision._memo.tobytes() for decision in decisions]
    return seen


def play_in_batches(model: Any, frame: Any, verdicts: Any = list) -> list[Any]:
    seen: list[Any] = []
    for part in batches(len(STREAM.y)):
        right = STREAM.y[part]
        if type(model).__name__ in FULL:
            seen += model.predict_many(frame[part])
            model.learn_many(frame[part], verdicts(right.tolist()))
        else:
            decisions = model.decide_many(frame[part])
            model.learn_many(
                decisions, verdicts([d.label == y for d, y in zip(decisions, right.tolist(), strict=True)])
            )
            seen += [decision._memo.tobytes() for decision in decisions]
    return seen


@pytest.fixture(params=BOOSTERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("kind", NAMED)
def test_rows_with_names(name: str, kind: str) -> None:
    rows = named_rows()
    one, many = (make_booster(name, K, N) for _ in range(2))
    assert play_in_batches(many, NAMED[kind](rows)) == play_one_by_one(one, rows)
    assert difference(many, one) == []


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "open"])
@pytest.mark.parametrize("kind", CODED)
def test_rows_by_position(name: str, kind: str, declared: bool) -> None:
    frame = CODED[kind](STREAM.X)
    one, many = (make_booster(name, K, N, schema=STREAM.schema() if declared else None) for _ in range(2))
    assert play_in_batches(many, frame) == play_one_by_one(one, list(frame))
    assert difference(many, one) == []


def test_features_and_values_that_join(name: str) -> None:
    """Each row meets the features that have come by then, not those of the rows after it."""
    rows = growing_rows(STREAM)
    one, many = (make_booster(name, K, N) for _ in range(2))
    assert play_in_batches(many, rows) == play_one_by_one(one, rows)
    assert difference(many, one) == []


@pytest.mark.parametrize(
    "verdicts",
    [tuple, np.array, pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values]), iter],
)
def test_verdicts_in_any_column(name: str, verdicts: Any) -> None:
    one, many = (make_booster(name, K, N) for _ in range(2))
    assert play_in_batches(many, STREAM.X, verdicts) == play_one_by_one(one, list(STREAM.X))
    assert difference(many, one) == []


@pytest.mark.parametrize("name", FULL)
def test_probabilities_of_many_rows(name: str) -> None:
    model = make_booster(name, K, N)
    rows = named_rows()
    play_one_by_one(model, rows[:BATCH])
    before = state_of(model)
    assert model.predict_proba_many(pd.DataFrame(rows)) == [model.predict_proba_one(x) for x in rows]
    assert model.predict_proba_many([]) == []
    assert state_of(model) == before


@pytest.mark.parametrize(
    "empty",
    [[], np.zeros((0, 4)), pd.DataFrame(), pl.DataFrame()],
    ids=["list", "matrix", "pandas", "polars"],
)
def test_no_rows(name: str, empty: Any) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    if name in FULL:
        assert model.predict_many(empty) == []
        model.learn_many(empty, [])
    else:
        assert model.decide_many(empty) == []
        model.learn_many([], [])
    assert state_of(model) == before


# Refusals


def take(model: Any, rows: Any) -> None:
    """Whatever the booster does with rows that it is to remember."""
    if type(model).__name__ in FULL:
        model.learn_many(rows, [0, 1])
    else:
        model.decide_many(rows)


BAD_ROWS: dict[str, Any] = {
    "bytes among numbers": [{"f0": 1.0}, {"new": 1, "f0": b"high"}],
    "infinite": [{"f0": 1.0, "new": 2.0}, {"f0": float("inf")}],
    "a column twice": [{"fresh": "value"}, {"f0": {"a": 1}, "f0.a": 2}],
    "not rows": [{"f0": 1.0}, 5],
    "one row": {"f0": 1.0},
    "a generator": iter([{"f0": 1.0}]),
    "a lazy frame": pl.LazyFrame({"f0": [1.0]}),
    "an array among dicts": [{"f0": 1.0, "new": 3}, np.array([1.0, 2.0])],
    "frame with bytes": pd.DataFrame({"new": [1.0], "f0": [b"x"]}),
    "a single array": np.array([1.0, 2.0, 3.0, 4.0]),
    "words": np.array([["a", "b"]]),
    "a number": np.array(5.0),
    "an object": np.array({"f0": b"word"}, object),
    "nothing": None,
}


@pytest.mark.parametrize("bad", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_anywhere_and_nothing_happens(name: str, bad: Any) -> None:
    model = make_booster(name, K, N)
    play_one_by_one(model, STREAM.dicts()[:BATCH])
    before = state_of(model)
    with pytest.raises(FeatureError):
        take(model, bad)
    assert state_of(model) == before


INFINITE = np.array([[1.0, 2.0], [np.inf, 0.0]])


@pytest.mark.parametrize("rows", [INFINITE, list(INFINITE)], ids=["matrix", "list"])
def test_a_bad_number_in_arrays(name: str, rows: Any) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    with pytest.raises(FeatureError, match="finite"):
        take(model, rows)
    assert state_of(model) == before


def test_a_code_out_of_range_among_arrays() -> None:
    model = AdaBandit(range(K), n_learners=N, schema=Schema(nominal={"colour": ["red", "blue"]}), seed=1)
    before = state_of(model)
    with pytest.raises(FeatureError, match="code from 0 to 1"):
        model.decide_many([np.array([1.0]), np.array([2.0])])
    assert state_of(model) == before


@pytest.mark.parametrize("name", BANDITS)
def test_a_bad_verdict_anywhere_and_nothing_is_learned(name: str) -> None:
    model, other = make_booster(name, K, N), make_booster(name, K, N)
    decisions = model.decide_many(STREAM.X[:5])
    model.learn(decisions[4], True)
    foreign = other.decide(STREAM.X[0])
    made_up = Decision.from_dict(forged(decisions[0].to_dict(), memo=[*decisions[0].to_dict()["memo"], 1.0]))
    before = state_of(model)
    refusals = [
        (decisions[:3], [True, False], "3 decisions and 2 verdicts"),
        (decisions[:3], [True, False, 2], "decision 2 of 3: correct is 2"),
        (decisions[:3], [True, False, None], "correct is None"),
        (decisions[:3], np.array([0.0, 1.0, 0.5]), "correct is"),
        (
            [*decisions[:2], decisions[0]],
            [True, True, True],
            "decision 2 is that of round 0, as is decision 0",
        ),
        (decisions[2:], [True, True, True], "learned before"),
        ([decisions[0], foreign], [True, True], "was made by model"),
        ([decisions[1], made_up], [True, True], "does not fit"),
        ([decisions[0], "decision"], [True, True], "give what decide returned"),
        (decisions[0], [True], "give a list of each"),
        (decisions[:1], True, "give a list of each"),
        (decisions[:1], "yes", "give a list of each"),
    ]
    for made, verdicts, message in refusals:
        with pytest.raises(DecisionError, match=message):
            model.learn_many(made, verdicts)
        assert state_of(model) == before


@pytest.mark.parametrize("name", FULL)
def test_a_bad_label_anywhere_and_nothing_is_learned(name: str) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    refusals = [
        ([0, 9], "y is 9"),
        ([0, []], r"y is \[\]"),
        ([0], "1 labels for 2 rows"),
        (3, "give a list"),
        ("01", "give a list"),
    ]
    for right, message in refusals:
        with pytest.raises(LabelError, match=message):
            model.learn_many(STREAM.X[:2], right)
        assert state_of(model) == before


class Moody:
    """A weak learner that answers nonsense when it meets a negative number."""

    def predict(self, x: np.ndarray) -> int:
        return -1 if x[0] < 0 else 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        """Nothing."""


def test_a_learner_that_fails_leaves_no_round_behind() -> None:
    model = AdaBandit(range(K), n_learners=1, weak_learner=Moody(), seed=1)
    first = model.decide({"x": 1.0})
    with pytest.raises(BanditBoostError, match="weak learner 0 predicted -1"):
        model.decide_many([{"x": 1.0}, {"x": -1.0}])
    assert model.rounds == 1
    model.learn(first, True)
    assert [decision.round for decision in model.decide_many([{"x": 1.0}, {"x": 2.0}])] == [1, 2]


# Rows of any kind

VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.sampled_from(["red", "blue", ""]),
    st.decimals(),
    st.just(pd.NA),
    st.just(Decimal("0.1")),
    st.just(np.float32(2.5)),
    st.just([1]),
)
DICTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)
LISTS = st.lists(VALUES, min_size=2, max_size=2)
ARRAYS = st.lists(st.floats(), min_size=2, max_size=2).map(np.array)


def fresh() -> AdaBandit:
    return AdaBandit(["yes", "no"], n_learners=2, seed=3)


def decided(rows: Any, decide: Any) -> tuple[list[bytes], str]:
    """The memos of the decisions, or why there are none."""
    try:
        return [decision._memo.tobytes() for decision in decide(rows)], ""
    except FeatureError as error:
        return [], str(error)


@given(st.lists(st.one_of(DICTS, LISTS, ARRAYS), max_size=6))
def test_any_rows_are_taken_or_refused_as_one_by_one(rows: list[Any]) -> None:
    """What each row alone would be refused for, all are refused for, and then the model is as before."""
    one, many = fresh(), fresh()
    before = state_of(many)
    expected, refusal = decided(rows, lambda rows: [one.decide(row) for row in rows])
    told = f"row {one.rounds} of X (counted from 0): {refusal}" if refusal else ""
    assert decided(rows, many.decide_many) == (expected, told)
    assert difference(one, many) == [] if not refusal else state_of(many) == before


@given(
    st.lists(
        st.tuples(st.floats(), st.sampled_from(["red", "blue", None]), st.booleans()), min_size=1, max_size=8
    )
)
def test_any_frame_is_its_rows(rows: list[tuple[float, str | None, bool]]) -> None:
    columns = {
        "number": [row[0] for row in rows],
        "colour": [row[1] for row in rows],
        "flag": [row[2] for row in rows],
    }
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    frames = [named, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    outcomes = [decided(frame, fresh().decide_many) for frame in frames]
    assert outcomes[1:] == outcomes[:1] * 3
