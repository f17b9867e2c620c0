"""What `play` refuses: with a message that names argument, value and remedy, and with the model as it was."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Schema, play
from banditboost.errors import BanditBoostError, FeatureError, LabelError, ParameterError
from tests.boosting.states import state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import make_booster

STREAM = make_stream("mixed", 3, 30)


@pytest.fixture(params=["AdaBandit", "BinBandit", "OptFull"])
def model(request: pytest.FixtureRequest) -> Any:
    """A model that has learned something, and whose features are declared."""
    booster = make_booster(request.param, 3, 3, schema=STREAM.schema())
    play(booster, STREAM.X[:10], STREAM.y[:10])
    return booster


def refused(model: Any, X: Any, y: Any, error: type[BanditBoostError], **options: Any) -> str:
    """The message of the refusal, after a look at whether anything has changed."""
    before = state_of(model)
    with pytest.raises(error) as refusal:
        play(model, X, y, **options)
    assert state_of(model) == before
    return str(refusal.value)


def with_bad(place: tuple[int, int], value: float) -> np.ndarray:
    matrix = STREAM.X.copy()
    matrix[place] = value
    return matrix


# y


@pytest.mark.parametrize(
    "y", [STREAM.y[:-1], [*STREAM.y, 0], [], STREAM.y[:, None]], ids=["short", "long", "none", "column"]
)
def test_one_right_label_for_each_row(model: Any, y: Any) -> None:
    message = refused(model, STREAM.X, y, LabelError)
    assert "y has shape" in message
    assert "30 rows" in message


@pytest.mark.parametrize("unknown", [3, -1, "east", None, 0.5, float("nan")], ids=repr)
def test_right_labels_must_be_labels(model: Any, unknown: Any) -> None:
    y = [*STREAM.y[:-1].tolist(), unknown]
    message = refused(model, STREAM.X, y, LabelError)
    assert repr(unknown) in message
    assert "(0, 1, 2)" in message


@pytest.mark.parametrize("wrong", [[0], {"label": 1}], ids=repr)
def test_right_labels_must_be_hashable(model: Any, wrong: Any) -> None:
    y = [*STREAM.y[:-1].tolist(), wrong]
    assert repr(wrong) in refused(model, STREAM.X, y, LabelError)


@pytest.mark.parametrize("y", [np.full(30, 3), np.full(30, -1)], ids=["3", "-1"])
def test_indices_must_be_indices(y: np.ndarray) -> None:
    model = make_booster("AdaBandit", 3, 3, schema=STREAM.schema())
    model.labels = ("a", "b", "c")
    message = refused(model, STREAM.X, y, LabelError)
    assert str(y[0]) in message
    assert "0 to 2" in message


# X


@pytest.mark.parametrize(
    "X", [STREAM.X[0], STREAM.X[:, :, None], np.float64(3.0)[None]], ids=["row", "cube", "scalar"]
)
def test_matrix_has_two_dimensions(model: Any, X: np.ndarray) -> None:
    message = refused(model, X, STREAM.y, FeatureError)
    assert f"X has shape {X.shape}" in message
    assert "matrix" in message


@pytest.mark.parametrize("X", [7, "rows.csv", {"f0": [1.0]}, None], ids=repr)
def test_what_is_no_table_is_refused(model: Any, X: Any) -> None:
    message = refused(model, X, STREAM.y, FeatureError)
    assert type(X).__name__ in message
    assert "give a matrix" in message


@pytest.mark.parametrize(
    "X",
    [STREAM.X[:, :3], STREAM.X.astype(str), STREAM.X.astype(complex)],
    ids=["narrow", "strings", "complex"],
)
def test_matrix_fits_the_schema(model: Any, X: np.ndarray) -> None:
    refused(model, X, STREAM.y, FeatureError)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((20, 0), np.inf),
        ((29, 2), -np.inf),
        ((20, 1), 3.0),
        ((20, 1), 0.5),
        ((20, 3), -1.0),
        ((20, 3), np.inf),
    ],
    ids=str,
)
def test_bad_row_in_the_middle_of_a_matrix(model: Any, place: tuple[int, int], value: float) -> None:
    message = refused(model, with_bad(place, value), STREAM.y, FeatureError)
    assert f"'f{place[1]}'" in message
    assert repr(float(value)) in message


BAD_ROWS = [
    {"f0": "text"},
    {"f0": float("inf")},
    {"f0": 1.0, "unknown": 2.0},
    {"f1": ["red"]},
    {"f0": 1.0 + 2.0j},
    [1.0, "red", 2.0],
    "red",
    None,
]


@pytest.mark.parametrize("row", BAD_ROWS, ids=repr)
def test_bad_row_in_the_middle_of_a_list(model: Any, row: Any) -> None:
    rows = STREAM.dicts()
    rows[20] = row
    refused(model, rows, STREAM.y, FeatureError)


# A model that has not seen its features yet does not see them through a stream that is refused.


@pytest.fixture(params=["AdaBandit", "OptFull"])
def fresh(request: pytest.FixtureRequest) -> Any:
    return make_booster(request.param, 3, 3, schema=Schema())


def test_refused_matrix_brings_no_features(fresh: Any) -> None:
    refused(fresh, with_bad((20, 0), np.inf), STREAM.y, FeatureError)


def test_refused_list_brings_no_features(fresh: Any) -> None:
    refused(fresh, [*STREAM.dicts()[:29], {"f0": b"bytes"}], STREAM.y, FeatureError)
    refused(fresh, [*STREAM.X.tolist()[:29], [1.0]], STREAM.y, FeatureError)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0], [1.0, "red"], [1.0, 2.0, 3.0]],
        [{"f0": 1.0}, [1.0]],
        [[1.0], {"f0": "red"}, [1.0, 2.0]],
        [{"f0": 1.0}, {"f0": "red", "f0 (text)": "blue"}],
    ],
    ids=["length", "no names", "names between", "twice"],
)
def test_rows_that_do_not_fit_those_before_them(fresh: Any, rows: list[Any]) -> None:
    """What the first rows bring is known when the others are looked at, before any is played."""
    refused(fresh, rows, [0] * len(rows), FeatureError)


def test_rows_that_change_a_strict_type() -> None:
    strict = make_booster("AdaBandit", 3, 3, schema=Schema(strict=True))
    refused(strict, [{"f0": 1.0}, {"f1": True, "f0": 2.0}, {"f0": "red"}], [0, 1, 2], FeatureError)


@pytest.mark.parametrize("X", [STREAM.X, STREAM.dicts()], ids=["matrix", "dicts"])
def test_refused_labels_bring_no_features(fresh: Any, X: Any) -> None:
    refused(fresh, X, STREAM.y[:-1], LabelError)
    refused(fresh, X, STREAM.y, ParameterError, lost=2.0)


@pytest.mark.parametrize(
    "X", [with_bad((20, 0), np.inf), [*STREAM.X.tolist()[:29], [1.0]]], ids=["matrix", "lists"]
)
def test_after_a_refused_stream_rows_may_still_have_names(fresh: Any, X: Any) -> None:
    refused(fresh, X, STREAM.y, FeatureError)
    play(fresh, STREAM.dicts(), STREAM.y)
    assert fresh.schema.names == ("f0", "f1", "f2", "f3")


# delay and loss


@pytest.mark.parametrize("delay", [-1, 1.5, "soon", True, None], ids=repr)
def test_delay_is_a_number_of_rounds(model: Any, delay: Any) -> None:
    message = refused(model, STREAM.X, STREAM.y, ParameterError, delay=delay)
    assert f"delay is {delay!r}" in message


WRONG_DELAYS = {
    "few": lambda u: u[:3],
    "past": lambda u: u - 1.0,
    "never": lambda u: u * np.inf,
    "one": np.sum,
}


@pytest.mark.parametrize("delay", WRONG_DELAYS.values(), ids=WRONG_DELAYS)
def test_delays_are_numbers_of_rounds(model: Any, delay: Any) -> None:
    assert "delay gave" in refused(model, STREAM.X, STREAM.y, ParameterError, delay=delay)


@pytest.mark.parametrize("loss", [-0.1, 1.0, 2, "half", float("nan"), None], ids=repr)
def test_loss_is_a_share(model: Any, loss: Any) -> None:
    assert f"lost is {loss!r}" in refused(model, STREAM.X, STREAM.y, ParameterError, lost=loss)


@pytest.mark.parametrize("touch", ["decide", "join", "label", "exploration"])
def test_a_model_that_is_played_may_only_be_looked_at(touch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reports progress holds the model's lock: it must not change the model between two rounds."""
    monkeypatch.setattr(import_module("banditboost.simulation.play"), "_ROUNDS_A_CALL", 10)
    model = banditboost.AdaBandit(["a", "b", "c"], n_learners=2, seed=1)
    actions = {
        "decide": lambda: model.decide([0.0, 1.0]),
        "join": lambda: model.decide({"late": 1.0}),
        "label": lambda: model.add_label("d"),
        "exploration": lambda: setattr(model, "exploration", 0.3),
    }
    with pytest.raises(ParameterError, match="progress has changed the model"):
        banditboost.play(
            model, np.zeros((40, 2)), ["a"] * 40, progress=lambda t: actions[touch]() if t == 20 else None
        )
    assert model.verdicts == 20
    other = banditboost.AdaBandit(["a", "b", "c"], n_learners=2, seed=1)
    seen: list[int] = []
    banditboost.play(other, np.zeros((20, 2)), ["a"] * 20, progress=lambda _: seen.append(other.verdicts))
    assert seen == [10, 20]
