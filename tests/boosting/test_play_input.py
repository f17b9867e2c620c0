"""Rows and right labels in all forms that `play` takes: each gives the same result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from banditboost import AdaBandit, Schema, play
from banditboost.errors import FeatureError
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import play_by_hand
from tests.boosting.states import difference
from tests.boosting.streams import make_stream
from tests.boosting.twins import ALL_BOOSTERS, DECIDERS, SEED, make_booster

ROUNDS = 40 if INTERPRETED else 400


# Rows


@pytest.mark.parametrize("name", ALL_BOOSTERS)
def test_dicts_lists_and_arrays_are_one(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    named = stream.dicts()
    results, models = [], []
    for rows in (
        stream.X,
        named,
        [tuple(row.values()) for row in named],
        [list(row.values()) for row in named],
    ):
        models.append(make_booster(name, 3, 5, schema=stream.schema()))
        results.append(play(models[-1], rows, stream.y))
    for result, model in zip(results[1:], models[1:], strict=True):
        assert result.shown.tolist() == results[0].shown.tolist()
        assert difference(model, models[0]) == []


@pytest.mark.parametrize(
    "first", [[1.0, "red", 2.0, "blue"], [None, "red", 2.0, None]], ids=["whole", "gaps"]
)
def test_lists_bring_features_by_position(first: list[Any]) -> None:
    """Without a schema the places are called x0, x1, ...; a value that is missing at first keeps its
    place.
    """
    stream = make_stream("mixed", 3, 40)
    rows = [first, *([*row.values()] for row in stream.dicts()[1:])]
    named = [{f"x{i}": value for i, value in enumerate(row)} for row in rows]
    played, by_hand, expected = (make_booster("AdaBandit", 3, 5, schema=Schema()) for _ in range(3))
    shown = play(expected, named, stream.y).shown.tolist()
    assert play_by_hand(by_hand, rows, stream.y).shown == shown
    assert play(played, rows, stream.y).shown.tolist() == shown
    assert sorted(map(str, played.schema.names)) == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist], ids=["pandas", "polars", "pyarrow"]
)
def test_frames_are_lists_of_dicts(frame: Any) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    rows = stream.dicts()
    for t, row in enumerate(rows):
        row.update(flag=t % 3 == 0, count=t % 5)
    one, other = (make_booster("AdaBandit", 3, 5, schema=Schema()) for _ in range(2))
    assert play(one, frame(rows), stream.y).shown.tolist() == play(other, rows, stream.y).shown.tolist()
    assert one.schema.kinds == ("numeric", "nominal", "numeric", "nominal", "nominal", "numeric")
    assert difference(one, other) == []


@pytest.mark.parametrize("dtype", [np.float64, np.int64, object])
def test_masked_cells_are_missing(dtype: Any) -> None:
    """Whatever lies under the mask: in a whole matrix, in single rows, and in a row that is only looked
    at.
    """
    X = np.arange(120).reshape(40, 3).astype(dtype)
    masked = np.ma.array(X, mask=X % 4 == 0)
    rows = [
        [None if hidden else x for x, hidden in zip(row, hide, strict=True)]
        for row, hide in zip(X, masked.mask, strict=True)
    ]
    y = np.arange(40) % 3
    played, by_hand, expected = (
        make_booster("AdaBandit", 3, 5, schema=Schema(numeric=["a", "b", "c"])) for _ in range(3)
    )
    shown = play(expected, rows, y).shown.tolist()
    assert play(played, masked, y).shown.tolist() == shown
    assert play_by_hand(by_hand, list(masked), y).shown == shown
    assert difference(played, expected) == []
    assert played.decide_many(masked)[0].to_dict()["memo"] == expected.decide_many(rows)[0].to_dict()["memo"]


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pa.table([[1.0], [2.0]], names=["a", "a"])],
    ids=["pandas", "pyarrow"],
)
def test_columns_of_one_name_are_refused(frame: Any) -> None:
    model = AdaBandit(["x", "y"], n_learners=2, seed=SEED)
    for door in (model.decide_many, lambda X: play(model, X, ["x"])):
        with pytest.raises(FeatureError, match="two columns of one name; give each"):
            door(frame)
    assert model.rounds == 0


# Right labels


@pytest.mark.parametrize(
    "told",
    [
        lambda names, y: [names[i] for i in y],
        lambda names, y: np.array(names)[y],
        lambda names, y: np.array(names, object)[y],
        lambda names, y: pd.Series([names[i] for i in y]),
        lambda names, y: pl.Series([names[i] for i in y], dtype=pl.Enum(names)),
        lambda names, y: pa.array([names[i] for i in y]),
        lambda names, y: pa.chunked_array([[names[i] for i in y]]).dictionary_encode(),
        lambda names, y: (names[i] for i in y),
        lambda names, y: y,  # noqa: ARG005
        lambda names, y: y.astype(np.uint8),  # noqa: ARG005
        lambda names, y: y.tolist(),  # noqa: ARG005
    ],
    ids=[
        "list",
        "array",
        "objects",
        "series",
        "enum",
        "arrow",
        "dictionary",
        "generator",
        "indices",
        "small indices",
        "list of indices",
    ],
)
def test_names_or_indices(told: Any) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    names = ["north", "south", "east"]
    models = [AdaBandit(names, n_learners=5, schema=stream.schema(), seed=SEED) for _ in range(2)]
    result = play(models[0], stream.X, told(names, stream.y))
    assert result.y.tolist() == stream.y.tolist()
    assert result.shown.tolist() == play(models[1], stream.X, stream.y).shown.tolist()
    assert result.labels == ("north", "south", "east")


@pytest.mark.parametrize(
    "labels", [(30, 10, 20), (("a", 1), ("a", 2), ("b", 1)), (True, False, None), (0.5, 1.5, 2.5)], ids=str
)
def test_right_labels_of_any_kind(labels: tuple[Any, ...]) -> None:
    stream = make_stream("mixed", 3, 30)
    model = AdaBandit(labels, n_learners=2, schema=stream.schema(), seed=SEED)
    result = play(model, stream.X, [labels[i] for i in stream.y])
    assert result.y.tolist() == stream.y.tolist()


@pytest.mark.parametrize("name", DECIDERS)
def test_right_labels_stay_hidden(name: str) -> None:
    """A wrong round tells only that: with other right labels in the wrong rounds not one decision changes."""
    stream = make_stream("mixed", 5, ROUNDS)
    one, other = (make_booster(name, 5, 5, schema=stream.schema()) for _ in range(2))
    result = play(one, stream.X, stream.y)
    elsewhere = (result.shown + 1 + np.arange(ROUNDS) % 4) % 5
    again = play(other, stream.X, np.where(result.correct, stream.y, elsewhere))
    assert again.shown.tolist() == result.shown.tolist()
    assert again.correct.tolist() == result.correct.tolist()
    assert difference(one, other) == []
