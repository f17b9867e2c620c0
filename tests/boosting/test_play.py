"""`play` in one compiled loop against `decide` and `learn` by hand: the same decisions, and every array the same to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from banditboost import AdaBandit, Schema, play
from banditboost.boosting import player
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import keyed, play_by_hand
from tests.boosting.states import difference
from tests.boosting.streams import KINDS, Stream, growing_rows, make_stream
from tests.boosting.twins import ADAPTIVE, BANDITS, BOOSTERS, make_booster
from tests.naive import rng

ROUNDS = 40 if INTERPRETED else 400
SEED = 5


@pytest.fixture(params=BOOSTERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def two_of(name: str, stream: Stream, k: int = 3, n_learners: int = 5, **options: Any) -> tuple[Any, Any]:
    first, second = (make_booster(name, k, n_learners, schema=stream.schema(), **options) for _ in range(2))
    return first, second


def assert_same_play(result: Any, expected: Any, one: Any, other: Any) -> None:
    assert result.shown.tolist() == expected.shown
    assert result.greedy.tolist() == expected.greedy
    assert result.learned == len(expected.learned)
    assert difference(one, other) == []


# The same as by hand


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "n_learners"), [(2, 1), (3, 5), (26, 3)])
def test_play_equals_decide_and_learn(name: str, kind: str, k: int, n_learners: int) -> None:
    stream = make_stream(kind, k, ROUNDS)
    one, other = two_of(name, stream, k, n_learners)
    assert_same_play(play(one, stream.X, stream.y), play_by_hand(other, stream.X, stream.y), one, other)
    assert one.rounds == ROUNDS


@pytest.mark.parametrize("leaf_prediction", ["naive_bayes", "adaptive"])
def test_other_leaf_predictions(name: str, leaf_prediction: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of(name, stream, leaf_prediction=leaf_prediction)
    assert_same_play(play(one, stream.X, stream.y), play_by_hand(other, stream.X, stream.y), one, other)


def test_full_information_equals_predict_and_learn() -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    for name in ("AdaFull", "OptFull"):
        one, other = two_of(name, stream)
        predicted = []
        for x, y in zip(stream.X, stream.y.tolist(), strict=True):
            predicted.append(other.predict_one(x))
            other.learn_one(x, y)
        assert play(one, stream.X, stream.y).shown.tolist() == predicted
        assert difference(one, other) == []


def test_rows_whose_features_and_values_join(name: str) -> None:
    """An open schema: the compiled loop stops where a row brings something new."""
    stream = make_stream("mixed", 3, ROUNDS)
    rows = growing_rows(stream)
    one, other = (make_booster(name, 3, 5, schema=Schema()) for _ in range(2))
    assert_same_play(play(one, rows, stream.y), play_by_hand(other, rows, stream.y), one, other)
    assert one.schema.names == ("f0", "f1", "f2", "f3", "late", "later")


def test_late_verdicts_on_rows_that_were_shorter(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    rows = growing_rows(stream)
    one, other = (make_booster(name, 3, 5, schema=Schema()) for _ in range(2))
    expected = play_by_hand(other, rows, stream.y, 13)
    assert_same_play(play(one, rows, stream.y, delay=13), expected, one, other)


@pytest.mark.skipif(INTERPRETED, reason="takes minutes interpreted")
def test_under_the_memory_ceiling(name: str) -> None:
    """Leaves fall asleep at the same moment, wherever the kernel that runs out of room was called from."""
    stream = make_stream("numeric", 26, 3_000)
    one, other = two_of(name, stream, 26, 20, max_memory=1 << 20)
    assert_same_play(play(one, stream.X, stream.y), play_by_hand(other, stream.X, stream.y), one, other)
    head = one._committee.forest.head[0]
    assert one._committee.forest.nodes["asleep"].any() or head["nodes_full"]


def test_play_goes_on_where_the_model_is(name: str) -> None:
    """By hand, played, by hand again: one stream."""
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of(name, stream)
    cut, end = ROUNDS // 4, ROUNDS // 2
    play_by_hand(one, stream.X[:cut], stream.y[:cut])
    middle = play(one, stream.X[cut:end], stream.y[cut:end])
    play_by_hand(one, stream.X[end:], stream.y[end:])
    expected = play_by_hand(other, stream.X, stream.y)
    assert middle.shown.tolist() == expected.shown[cut:end]
    assert difference(one, other) == []


def test_dicts_lists_and_arrays_are_one(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    named = stream.dicts()
    results, models = [], []
    for rows in (stream.X, named, [tuple(row.values()) for row in named], [list(row.values()) for row in named]):
        models.append(make_booster(name, 3, 5, schema=stream.schema()))
        results.append(play(models[-1], rows, stream.y))
    for result, model in zip(results[1:], models[1:], strict=True):
        assert result.shown.tolist() == results[0].shown.tolist()
        assert difference(model, models[0]) == []


@pytest.mark.parametrize("first", [[1.0, "red", 2.0, "blue"], [None, "red", 2.0, None]], ids=["whole", "gaps"])
def test_lists_bring_features_by_position(first: list[Any]) -> None:
    """Without a schema the places are called x0, x1, ...; a value that is missing at first keeps its place."""
    stream = make_stream("mixed", 3, 40)
    rows = [first, *([*row.values()] for row in stream.dicts()[1:])]
    named = [{f"x{i}": value for i, value in enumerate(row)} for row in rows]
    played, by_hand, expected = (make_booster("AdaBandit", 3, 5, schema=Schema()) for _ in range(3))
    shown = play(expected, named, stream.y).shown.tolist()
    assert play_by_hand(by_hand, rows, stream.y).shown == shown
    assert play(played, rows, stream.y).shown.tolist() == shown
    assert sorted(map(str, played.schema.names)) == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist], ids=["pandas", "polars", "pyarrow"])
def test_frames_are_lists_of_dicts(frame: Any) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    rows = stream.dicts()
    for t, row in enumerate(rows):
        row.update(flag=t % 3 == 0, count=t % 5)
    one, other = (make_booster("AdaBandit", 3, 5, schema=Schema()) for _ in range(2))
    assert play(one, frame(rows), stream.y).shown.tolist() == play(other, rows, stream.y).shown.tolist()
    assert one.schema.kinds == ("numeric", "nominal", "numeric", "nominal", "nominal", "numeric")
    assert difference(one, other) == []


# Right labels


@pytest.mark.parametrize(
    "told",
    [
        lambda names, y: [names[i] for i in y],
        lambda names, y: np.array(names)[y],
        lambda names, y: np.array(names, object)[y],
        lambda names, y: pd.Series([names[i] for i in y]),
        lambda names, y: (names[i] for i in y),
        lambda names, y: y,  # noqa: ARG005
        lambda names, y: y.astype(np.uint8),  # noqa: ARG005
        lambda names, y: y.tolist(),  # noqa: ARG005
    ],
    ids=["list", "array", "objects", "series", "generator", "indices", "small indices", "list of indices"],
)
def test_names_or_indices(told: Any) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    names = ["north", "south", "east"]
    models = [AdaBandit(names, n_learners=5, schema=stream.schema(), seed=SEED) for _ in range(2)]
    result = play(models[0], stream.X, told(names, stream.y))
    assert result.y.tolist() == stream.y.tolist()
    assert result.shown.tolist() == play(models[1], stream.X, stream.y).shown.tolist()
    assert result.labels == ("north", "south", "east")


@pytest.mark.parametrize("labels", [(30, 10, 20), (("a", 1), ("a", 2), ("b", 1)), (True, False, None), (0.5, 1.5, 2.5)], ids=str)
def test_right_labels_of_any_kind(labels: tuple[Any, ...]) -> None:
    stream = make_stream("mixed", 3, 30)
    model = AdaBandit(labels, n_learners=2, schema=stream.schema(), seed=SEED)
    result = play(model, stream.X, [labels[i] for i in stream.y])
    assert result.y.tolist() == stream.y.tolist()


@pytest.mark.parametrize("name", BANDITS)
def test_right_labels_stay_hidden(name: str) -> None:
    """A wrong round tells only that: with other right labels in the wrong rounds not one decision changes."""
    stream = make_stream("mixed", 5, ROUNDS)
    one, other = two_of(name, stream, 5)
    result = play(one, stream.X, stream.y)
    elsewhere = (result.shown + 1 + np.arange(ROUNDS) % 4) % 5
    again = play(other, stream.X, np.where(result.correct, stream.y, elsewhere))
    assert again.shown.tolist() == result.shown.tolist()
    assert again.correct.tolist() == result.correct.tolist()
    assert difference(one, other) == []


# Verdicts that come late, or never


@pytest.mark.parametrize("delay", [0, 1, 7, np.int64(3), 10_000])
def test_fixed_delay(name: str, delay: int) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of(name, stream)
    expected = play_by_hand(other, stream.X, stream.y, int(delay))
    assert_same_play(play(one, stream.X, stream.y, delay=delay), expected, one, other)
    assert one.verdicts == max(0, ROUNDS - int(delay))


def test_random_delay(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of(name, stream)
    u = keyed(SEED, rng.DELAY)
    expected = play_by_hand(other, stream.X, stream.y, lambda t: int(40 * u(t) ** 2))
    assert_same_play(play(one, stream.X, stream.y, delay=lambda u: 40 * u**2), expected, one, other)
    assert expected.learned != sorted(expected.learned)


def test_lost_verdicts_are_never_learned(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of(name, stream)
    u = keyed(SEED, rng.LOSS)
    expected = play_by_hand(other, stream.X, stream.y, lost=lambda t: u(t) < 0.3)
    assert_same_play(play(one, stream.X, stream.y, loss=0.3), expected, one, other)
    assert one.verdicts == sum(u(t) >= 0.3 for t in range(ROUNDS))


def test_late_and_lost_in_the_middle_of_a_models_life() -> None:
    """The keyed numbers are those of the model's rounds, not of the stream's."""
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of("AdaBandit", stream)
    for model in (one, other):
        play_by_hand(model, stream.X[:10], stream.y[:10])
    late, lost = keyed(SEED, rng.DELAY, 10), keyed(SEED, rng.LOSS, 10)
    expected = play_by_hand(other, stream.X, stream.y, lambda t: int(9 * late(t)), lambda t: lost(t) < 0.5)
    assert_same_play(play(one, stream.X, stream.y, delay=lambda u: 9 * u, loss=0.5), expected, one, other)


def test_share_that_is_lost() -> None:
    stream = make_stream("nominal", 2, 200 if INTERPRETED else 10_000)
    model = make_booster("AdaBandit", 2, 1, schema=stream.schema())
    result = play(model, stream.X, stream.y, loss=0.25)
    share = 1 - result.learned / len(stream.y)
    assert share == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / len(stream.y)))


# The ledger knows what was played


@pytest.mark.parametrize("name", BANDITS)
def test_played_rounds_are_in_the_ledger(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    model = make_booster(name, 3, 5, schema=stream.schema())
    before = model.decide(stream.X[0])
    result = play(model, stream.X, stream.y, loss=0.5)
    heard = [round_ for round_ in range(model.rounds) if model._ledger.is_learned(round_)]
    u = keyed(SEED, rng.LOSS)
    assert heard == [round_ for round_ in range(1, ROUNDS + 1) if u(round_) >= 0.5]
    assert len(heard) == result.learned
    model.learn(before, True)
    assert model.verdicts == result.learned + 1


# Progress, and interruptions


def test_progress_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "_ROUNDS_A_CALL", 15)
    stream = make_stream("mixed", 3, 40)
    one, other = two_of(name, stream)
    seen: list[int] = []
    result = play(one, stream.X, stream.y, delay=4, progress=seen.append)
    assert seen == [15, 30, 40]
    expected = play_by_hand(other, stream.X, stream.y, 4)
    assert_same_play(result, expected, one, other)


def test_an_interrupted_play_can_go_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was played before the interruption was played, and the rest of the stream gives the rest of the result."""
    monkeypatch.setattr(player, "_ROUNDS_A_CALL", 15)
    stream = make_stream("mixed", 3, 40)
    one, other = two_of(name, stream)

    def interrupt(n_rounds: int) -> None:
        if n_rounds >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(one, stream.X, stream.y, progress=interrupt)
    assert (one.rounds, one.verdicts) == (30, 30)
    rest = play(one, stream.X[30:], stream.y[30:])
    expected = play_by_hand(other, stream.X, stream.y)
    assert rest.shown.tolist() == expected.shown[30:]
    assert difference(one, other) == []


@pytest.mark.parametrize("rows", [np.zeros((0, 4)), []], ids=["matrix", "list"])
def test_an_empty_stream_changes_nothing(name: str, rows: Any) -> None:
    stream = make_stream("mixed", 3, 40)
    one, other = two_of(name, stream)
    result = play(one, rows, [])
    assert len(result.shown) == result.learned == one.rounds == 0
    assert difference(one, other) == []
    assert (result.edges is None) == (name in BOOSTERS)


def test_edges_are_told_of_adaptive_boosters_only(name: str) -> None:
    stream = make_stream("mixed", 3, 40)
    result = play(make_booster(name, 3, 5, schema=stream.schema()), stream.X, stream.y)
    assert (result.edges is not None) == (name in ADAPTIVE)
