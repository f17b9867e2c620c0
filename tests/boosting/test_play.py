"""`play` in one compiled loop against `decide` and `learn` by hand: the same decisions, and every array the
same to the last bit.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from banditboost import Schema, play
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import keyed, play_by_hand
from tests.boosting.states import difference, refusal
from tests.boosting.streams import KINDS, Stream, growing_rows, make_stream
from tests.boosting.twins import ADAPTIVE, ALL_BOOSTERS, DECIDERS, SEED, make_booster
from tests.naive import rng

ROUNDS = 40 if INTERPRETED else 400


@pytest.fixture(params=ALL_BOOSTERS)
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
@pytest.mark.parametrize(("k", "n_learners"), [(3, 5)] if INTERPRETED else [(2, 1), (3, 5), (26, 3)])
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
    for name in ("AdaFull", "OptFull", "MixFull"):
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
    assert_same_play(play(one, stream.X, stream.y, lost=0.3), expected, one, other)
    assert one.verdicts == sum(u(t) >= 0.3 for t in range(ROUNDS))


def test_late_and_lost_in_the_middle_of_a_models_life() -> None:
    """The keyed numbers are those of the model's rounds, not of the stream's."""
    stream = make_stream("mixed", 3, ROUNDS)
    one, other = two_of("AdaBandit", stream)
    for model in (one, other):
        play_by_hand(model, stream.X[:10], stream.y[:10])
    late, lost = keyed(SEED, rng.DELAY, 10), keyed(SEED, rng.LOSS, 10)
    expected = play_by_hand(other, stream.X, stream.y, lambda t: int(9 * late(t)), lambda t: lost(t) < 0.5)
    assert_same_play(play(one, stream.X, stream.y, delay=lambda u: 9 * u, lost=0.5), expected, one, other)


def test_share_that_is_lost() -> None:
    stream = make_stream("nominal", 2, 200 if INTERPRETED else 10_000)
    model = make_booster("AdaBandit", 2, 1, schema=stream.schema())
    result = play(model, stream.X, stream.y, lost=0.25)
    share = 1 - result.learned / len(stream.y)
    assert share == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / len(stream.y)))


# The ledger knows what was played


@pytest.mark.parametrize("name", DECIDERS)
def test_played_rounds_are_in_the_ledger(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    model = make_booster(name, 3, 5, schema=stream.schema())
    before = model.decide(stream.X[0])
    result = play(model, stream.X, stream.y, lost=0.5)
    heard = [
        round_ for round_ in range(model.rounds) if refusal(model._identity.ledger, round_, model.rounds)
    ]
    u = keyed(SEED, rng.LOSS)
    assert heard == [round_ for round_ in range(1, ROUNDS + 1) if u(round_) >= 0.5]
    assert len(heard) == result.learned
    model.learn(before, True)
    assert model.verdicts == result.learned + 1


# Progress, and interruptions


def test_progress_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("banditboost.simulation.play"), "_ROUNDS_A_CALL", 15)
    stream = make_stream("mixed", 3, 40)
    one, other = two_of(name, stream)
    seen: list[int] = []
    result = play(one, stream.X, stream.y, delay=4, progress=seen.append)
    assert seen == [15, 30, 40]
    expected = play_by_hand(other, stream.X, stream.y, 4)
    assert_same_play(result, expected, one, other)


def test_an_interrupted_play_can_go_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was played before the interruption was played, and the rest of the stream gives the rest of the
    result.
    """
    monkeypatch.setattr(import_module("banditboost.simulation.play"), "_ROUNDS_A_CALL", 15)
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
    assert (result.edges is None) == (name in ALL_BOOSTERS)


def test_edges_are_told_of_adaptive_boosters_only(name: str) -> None:
    stream = make_stream("mixed", 3, 40)
    result = play(make_booster(name, 3, 5, schema=stream.schema()), stream.X, stream.y)
    assert (result.edges is not None) == (name in ADAPTIVE)
