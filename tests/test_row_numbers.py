"""What is refused of many rows says which row it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import banditboost
from banditboost import AdaBandit, AdaFull, GapBoost, Schema, datasets
from banditboost.datasets import DatasetError
from banditboost.errors import DecisionError, FeatureError, LabelError, ParameterError
from tests.datasets.tables.conftest import Writer
from tests.datasets.tables.conftest import write as write

LABELS = ["a", "b"]
GOOD = [{"hour": float(i), "city": "Pune"} for i in range(5)]
BAD: dict[str, tuple[Any, str]] = {
    "dicts": ([*GOOD, {"hour": np.inf, "city": "Pune"}, *GOOD], "feature 'hour' is"),
    "a value that cannot be": ([*GOOD, {"hour": 1.0, "city": b"Pune"}], "feature 'city' is"),
    "a new column": ([*GOOD, {"hour": 1.0, "new": 1e200}], "feature 'new' is 1e"),
    "lists": ([[1.0, "x"]] * 5 + [[1.0, b"x"]], "feature 'x1' is"),
    "lists of other lengths": ([[1.0, "x"]] * 5 + [[1.0]], "the row has 1 values where 2 are expected"),
    "matrix": (np.array([[0.0, 1.0]] * 5 + [[np.inf, 0.0]]), "feature 'x0' is inf"),
    "pandas": (pd.DataFrame({"x": [0.0] * 5 + [np.inf]}), "feature 'x' is inf"),
    "polars": (pl.DataFrame({"x": [0.0] * 5 + [1e200]}), "feature 'x' is 1e"),
    "sparse": (csr_matrix(([np.inf], ([5], [2])), shape=(7, 3)), "feature 'x2' is inf"),
    "wide and sparse": (csr_matrix(([np.inf], ([5], [2])), shape=(7, 300)), "feature 'x2' is inf"),
    "other things": ([*GOOD, 7], "the row is 7 of type int"),
}


@pytest.mark.parametrize(("X", "what"), BAD.values(), ids=BAD.keys())
def test_rows(X: Any, what: str) -> None:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    model = GapBoost(LABELS, seed=1)
    message = rf"^row 5 of X \(counted from 0\): {what}"
    with pytest.raises(FeatureError, match=message):
        banditboost.play(model, X, ["a"] * n_rows)
    with pytest.raises(FeatureError, match=message):
        model.decide_many(X)
    assert model.rounds == 0
    assert not model.schema.names
    if not hasattr(X, "tocsr"):
        with pytest.raises(FeatureError, match=message):
            AdaFull(LABELS, n_learners=2, seed=1).learn_many(X, ["a"] * n_rows)


def test_rows_of_a_matrix_that_is_played_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("banditboost.simulation.rows._NUMBERS", 4)
    X = np.zeros((9, 2))
    X[7, 1] = np.inf
    with pytest.raises(FeatureError, match=r"^row 7 of X .*feature 'x1' is inf"):
        banditboost.play(GapBoost(LABELS, seed=1), X, ["a"] * 9)


@given(place=st.integers(0, 6), bad=st.sampled_from([np.inf, -1e101, b"x", 1j, [1]]))
def test_any_row_of_any_table(place: int, bad: Any) -> None:
    rows = [{"x": 1.0, "y": "u"} for _ in range(7)]
    rows[place]["x"] = bad
    with pytest.raises(FeatureError, match=rf"^row {place} of X \(counted from 0\): feature 'x' is "):
        AdaBandit(LABELS, n_learners=2, seed=1).decide_many(rows)


def test_labels_rewards_and_choices() -> None:
    model, rows = GapBoost(LABELS, seed=1), GOOD[:3]
    with pytest.raises(LabelError, match=r"^row 2 of y \(counted from 0\): y holds 'c', which is not one"):
        banditboost.play(model, rows, ["a", "b", "c"])
    with pytest.raises(LabelError, match=r"^row 1 of allowed \(counted from 0\): allowed is \['z'\]; give"):
        model.decide_many(rows, [None, ["z"], ["a"]])
    with pytest.raises(ParameterError, match=r"rewards\[1, 0\] is 2.0; give numbers from 0 to 1"):
        banditboost.play(model, rows, rewards=[[0, 1], [2, 0], [0, 0]])
    with pytest.raises(ParameterError, match=r"rewards of 'a' in row 1 is 2.0; give numbers from 0 to 1"):
        banditboost.play(model, rows, rewards=pd.DataFrame({"a": [0, 2, 0], "b": [0, 0, 0]}))
    with pytest.raises(DecisionError, match=r"^decision 2 of 3: correct is 7; give True"):
        model.learn_many(model.decide_many(rows), [True, False, 7])
    told = AdaFull(LABELS, n_learners=2, seed=1)
    with pytest.raises(LabelError, match=r"^row 1 of y \(counted from 0\): y is 'c', which is not one"):
        told.learn_many(rows, ["a", "c", "b"])
    for call in (told.predict_many, told.predict_proba_many):
        with pytest.raises(FeatureError, match=r"^row 3 of X \(counted from 0\): feature 'x' is inf"):
            call([{"x": 1}] * 3 + [{"x": np.inf}])


def test_rows_with_words() -> None:
    table = datasets.read(pl.DataFrame({"n": [1.0, 2.0], "w": [["u"], ["v", "w"]], "y": ["a", "b"]}), "y")
    X, y = table.stream(repeat=3)
    X._matrix[4, 0] = np.inf
    with pytest.raises(FeatureError, match=r"^row 4 of X \(counted from 0\): feature 'n' is inf"):
        banditboost.play(GapBoost(LABELS, seed=1, schema=table.schema()), X, y)


def test_declared_rows() -> None:
    schema = Schema(numeric=["x"])
    model = AdaBandit(LABELS, n_learners=2, schema=schema, seed=1)
    with pytest.raises(FeatureError, match=r"^row 1 of X \(counted from 0\): feature 'z' is not in the decl"):
        model.decide_many([{"x": 1}, {"z": 1}])


FILES: dict[str, tuple[str, Callable[..., Any], str]] = {
    "label": ("x,y\n1,a\n2,\n3,b\n", lambda path: datasets.read(path, "y"), "1 row, the first is row 2"),
    "date": (
        "x,y\n2024-01-01,a\n2024-01-02,b\nsoon,b\n",
        lambda path: datasets.read(path, "y", dates=["x"]),
        "a cell of that column is 'soon' in row 3: write dates",
    ),
    "mixture": ("x,y\n1,a\n2,a\nred,b\n", lambda path: datasets.read(path, "y"), "'red', in row 3"),
    "infinite": ("x,y\n1,a\n2,b\ninf,b\n", lambda path: datasets.read(path, "y"), "infinite in row 3"),
    "lengths": ("x,y\n1,a\n2,b\n3\n", lambda path: datasets.read(path, "y"), "line 4"),
}


@pytest.mark.parametrize(("text", "read", "where"), FILES.values(), ids=FILES.keys())
def test_files(write: Writer, text: str, read: Callable[..., Any], where: str) -> None:
    with pytest.raises(DatasetError, match=where):
        read(write(text))


def test_cells_of_frames() -> None:
    for cell, what in ((b"x", "values of type bytes"), ([1], "lists of things that are no texts")):
        frame = pd.DataFrame({"x": [None, None, cell], "y": list("aba")}, dtype=object)
        with pytest.raises(DatasetError, match=rf"column 'x' holds {what} \(the first in row 3\): .*ignore="):
            datasets.read(frame, "y")
