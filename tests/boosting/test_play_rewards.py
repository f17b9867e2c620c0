"""Streams with rewards: a matrix or a function gives what `decide` and `learn` give by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from banditboost import AdaFull, GapBoost, play
from banditboost.errors import ParameterError
from tests.baselines.models import NAMES as BASELINES
from tests.baselines.models import make as make_baseline
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import keyed
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import DECIDERS, SEED, make_booster
from tests.naive import rng

ROUNDS = 40 if INTERPRETED else 200
STREAM = make_stream("mixed", 3, ROUNDS)
LOW, HIGH = -2.0, 3.0
REWARDS = np.round(np.random.default_rng(1).uniform(LOW, HIGH, (ROUNDS, 3)), 1)


def made(name: str, **options: Any) -> Any:
    options = {"rewards": (LOW, HIGH), **options}
    if name in BASELINES:
        return make_baseline(name, range(3), STREAM.schema(), **options)
    return make_booster(name, 3, 4, schema=STREAM.schema(), **options)


def by_hand(model: Any) -> list[float]:
    earned = []
    for x, rewards in zip(STREAM.X, REWARDS, strict=True):
        decision = model.decide(x)
        earned.append(rewards[decision.label])
        model.learn(decision, reward=earned[-1])
    return earned


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
def test_matrix_function_and_by_hand_are_one(name: str) -> None:
    hand, matrix, function = made(name), made(name), made(name)
    earned = by_hand(hand)
    asked = []

    def reward(t: int, label: int) -> float:
        asked.append(t)
        return float(REWARDS[t, label])

    one, other = play(matrix, STREAM.X, rewards=REWARDS), play(function, STREAM.X, rewards=reward)
    assert difference(hand, matrix) == difference(hand, function) == []
    assert asked == list(range(ROUNDS))
    for result in (one, other):
        assert result.y is None
        assert result.rewards == pytest.approx(np.array(earned))
        assert result.mean_reward == pytest.approx(np.mean(earned))
        assert result.last_mean_reward == pytest.approx(np.mean(earned[-ROUNDS // 5 :]))
        assert result.interval().share == pytest.approx(result.mean_reward)
        assert len(result.curve()) == ROUNDS - ROUNDS // 5 + 1
        assert "mean_reward=" in repr(result)
        with pytest.raises(ParameterError, match="mean_reward"):
            _ = result.accuracy
    expected = REWARDS[np.arange(ROUNDS), one.greedy].mean()
    assert one.greedy_mean_reward == pytest.approx(expected)
    assert np.isnan(other.greedy_mean_reward)


@pytest.mark.parametrize("name", DECIDERS)
def test_rewards_of_one_and_zero_are_right_labels(name: str) -> None:
    labels, rewards = made(name, rewards=(0, 1)), made(name, rewards=(0, 1))
    one = play(labels, STREAM.X, STREAM.y)
    other = play(rewards, STREAM.X, rewards=np.eye(3, dtype=bool)[STREAM.y])
    assert difference(labels, rewards) == []
    assert one.accuracy == one.mean_reward == other.mean_reward
    assert one.interval() == other.interval()
    assert not rewards.summary().graded


def test_a_matrix_in_any_order_of_memory() -> None:
    expected = play(made("GapBoost"), STREAM.X, rewards=REWARDS).earned.tolist()
    for matrix in (np.asfortranarray(REWARDS), REWARDS[:, [2, 1, 0]][:, ::-1], np.repeat(REWARDS, 2, 0)[::2]):
        assert play(made("GapBoost"), STREAM.X, rewards=matrix).earned.tolist() == expected


def test_a_delay_and_losses() -> None:
    """Against a loop that holds verdicts back itself."""
    played, function, hand = made("GapBoost"), made("GapBoost"), made("GapBoost")
    for model, rewards in ((played, REWARDS), (function, lambda t, label: REWARDS[t, label])):
        play(model, STREAM.X, rewards=rewards, delay=3, lost=0.2)
    lost, waiting = keyed(SEED, rng.LOSS), []
    for t, x in enumerate(STREAM.X):
        decision = hand.decide(x)
        waiting.append((decision, REWARDS[t, decision.label]))
        if t >= 3 and lost(t - 3) >= 0.2:
            hand.learn(waiting[t - 3][0], reward=waiting[t - 3][1])
    assert difference(played, hand) == difference(function, hand) == []


BAD = {
    "too narrow": np.zeros((ROUNDS, 2)),
    "too short": np.zeros((ROUNDS - 1, 3)),
    "flat": np.zeros(ROUNDS),
    "too large": np.where(np.arange(3 * ROUNDS).reshape(-1, 3) == 7, 3.1, 0.0),
    "missing": np.where(np.arange(3 * ROUNDS).reshape(-1, 3) == 7, np.nan, 0.0),
    "texts": np.full((ROUNDS, 3), "1"),
    "ragged": [[0.0, 1.0, 0.0]] * (ROUNDS - 1) + [[0.0]],
    "a number": 1.0,
    "a class": dict,
    "complex": np.zeros((ROUNDS, 3), complex),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_matrices_change_nothing(bad: str) -> None:
    model = made("GapBoost")
    before = state_of(model)
    with pytest.raises(ParameterError, match=r"rewards.* is .*give"):
        play(model, STREAM.X, rewards=BAD[bad])
    assert state_of(model) == before


@pytest.mark.parametrize("bad", [4.0, None, "x", float("nan")], ids=repr)
def test_a_function_that_says_something_else(bad: Any) -> None:
    """The rounds before it were played, and the model goes on."""
    model = made("GapBoost")
    with pytest.raises(ParameterError, match=r"rewards\(5, ") as error:
        play(model, STREAM.X, rewards=lambda t, label: bad if t == 5 else REWARDS[t, label])
    assert "after 6 of" in error.value.__notes__[0]
    assert (model.rounds, model.verdicts) == (6, 5)
    play(model, STREAM.X[6:], rewards=REWARDS[6:])
    assert model.rounds == ROUNDS


def test_a_function_that_fails() -> None:
    model = made("AdaBandit")

    def reward(t: int, _: int) -> float:
        if t == 3:
            raise KeyError("no such visitor")
        return 1.0

    with pytest.raises(KeyError):
        play(model, STREAM.X, rewards=reward)
    assert (model.rounds, model.verdicts, model.summary().open_decisions) == (4, 3, 1)


def test_either_labels_or_rewards() -> None:
    model = GapBoost(range(3), seed=1)
    with pytest.raises(ParameterError, match="neither y nor rewards"):
        play(model, STREAM.X)
    with pytest.raises(ParameterError, match="both y and rewards"):
        play(model, STREAM.X, STREAM.y, rewards=REWARDS)
    with pytest.raises(ParameterError, match="AdaFull is told right labels"):
        play(AdaFull(range(3), n_learners=2, seed=1), STREAM.X, rewards=REWARDS)
    with pytest.raises(ParameterError, match="condition is True"):
        play(made("OptBandit"), STREAM.X, rewards=REWARDS, condition=True)
