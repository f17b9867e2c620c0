"""Graded rewards: what is heard, how the paper's boosters make verdicts of them, and what that means for
their estimates.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost.boosting.estimate import estimate, estimated_loss
from banditboost.boosting.round import as_told, as_verdict
from banditboost.errors import DecisionError, ParameterError
from tests.baselines.models import NAMES as BASELINES
from tests.baselines.models import make as make_baseline
from tests.boosting.kernels import label_probability, memo_of, settings_of
from tests.boosting.rounds import STREAM, make
from tests.boosting.states import state_of
from tests.boosting.twins import BANDITS, DECIDERS, SEED, make_booster
from tests.io.models import reloaded
from tests.naive import rng

GRADED = ["GapBoost", "Majority", "Banditron", "Random"]  # others make verdicts of rewards
RANGES = [(0.0, 1.0), (-1.0, 1.0), (2.0, 7.5), (-1e9, 1e-9)]


def made(name: str, **options: Any) -> Any:
    if name in BASELINES:
        return make_baseline(name, range(3), STREAM.schema(), **options)
    return make_booster(name, 3, 4, schema=STREAM.schema(), **options)


def reward_of(t: int, label: int) -> float:
    """Any rewards in [0, 1], the ends among them."""
    return ((7 * t + 3 * label * label + t * label) % 11) / 10


def live(model: Any, n_rounds: int = 40, first: int = 0) -> list[tuple[Any, float]]:
    """Decide and learn rewards; returns what was shown and earned."""
    low, high = model.rewards
    seen = []
    for t in range(first, first + n_rounds):
        decision = model.decide(STREAM.X[t])
        reward = low + (high - low) * reward_of(t, decision.label)
        model.learn(decision, reward=min(reward, high))
        seen.append((decision.label, reward))
    return seen


# Estimates: a reward r is a verdict that is right with probability r


def mean_estimate(rewards: list[float], greedy: int, rho: float, estimator: int) -> list[float]:
    """The mean of 1 - lhat over all draws of labels and of verdicts."""
    k = len(rewards)
    mean = np.zeros(k)
    for shown in range(k):
        p = label_probability(shown, greedy, rho, k)
        for outcome, share in ((1, rewards[shown]), (0, 1.0 - rewards[shown])):
            of = estimate(settings_of(k, estimator=estimator), memo_of(greedy, shown, p), outcome)
            mean += p * share * np.array([1.0 - estimated_loss(of, label) for label in range(k)])
    return [float(value) for value in mean]


@pytest.mark.parametrize("estimator", [3, 4])
@given(rewards=st.lists(st.floats(0, 1), min_size=2, max_size=6), rho=st.floats(1e-3, 0.999), data=st.data())
def test_estimates_are_those_of_the_page(
    rewards: list[float], rho: float, data: st.DataObject, estimator: int
) -> None:
    """Unbiased if the rewards of all labels sum to 1, as those of verdicts do; else off as docs/faq.md says."""
    greedy = data.draw(st.integers(0, len(rewards) - 1))
    expected = [reward + 1.0 - sum(rewards) for reward in rewards]
    if estimator == 4:
        expected[greedy] = rewards[greedy]
    assert mean_estimate(rewards, greedy, rho, estimator) == pytest.approx(expected, abs=1e-9)


@given(reward=st.floats(0, 1), key=st.integers(0, 2**63 - 1))
def test_a_verdict_is_right_with_the_probability_that_the_reward_says(reward: float, key: int) -> None:
    """For every key the verdict is 1[u < r], and u is uniform: its mean over u is r exactly."""
    settings = settings_of(3)
    verdict = as_verdict(settings, reward, key)
    assert verdict in (0, 1)
    assert as_verdict(settings, 1.0, key) == 1
    assert as_verdict(settings, 0.0, key) == 0
    assert as_verdict(settings, min(1.0, reward + 0.1), key) >= verdict
    assert as_told(settings, reward, key) == reward


@pytest.mark.parametrize("name", BANDITS)
def test_a_reward_teaches_what_its_verdict_teaches(name: str) -> None:
    """Everything but the tally is that of a model that was told the rounded verdict."""
    model, twin = make(name), make(name)
    verdicts = 0
    for t in range(60):
        decision, other = model.decide(STREAM.X[t]), twin.decide(STREAM.X[t])
        assert decision == other or decision.to_dict()["memo"] == other.to_dict()["memo"]
        reward = reward_of(t, decision.label)
        verdict = rng.verdict(SEED, t, reward)
        verdicts += verdict
        model.learn(decision, reward=reward)
        twin.learn(other, verdict)
    assert 0 < verdicts < 60
    assert model.summary().graded
    assert not twin.summary().graded


# Every model


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
@pytest.mark.parametrize("rewards", RANGES)
def test_the_mean_reward_is_told_in_the_users_units(name: str, rewards: tuple[float, float]) -> None:
    model = made(name, rewards=rewards)
    seen = live(model)
    total = model.summary().total
    assert model.rewards == model.parameters["rewards"] == rewards
    size = rewards[1] - rewards[0]
    assert total.shown.share == pytest.approx(np.mean([r for _, r in seen]), abs=1e-9 * size)
    assert rewards[0] <= total.shown.low <= total.shown.share <= total.shown.high <= rewards[1]
    for label, found in total.by_label.items():
        mine = [r for shown, r in seen if shown == label]
        assert found.verdicts == len(mine)
        assert found.share == pytest.approx(np.mean(mine), abs=1e-9 * size)


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
def test_ranges_differ_in_units_only(name: str) -> None:
    """All bounds here are exact in binary, and so are the shares."""
    models = [made(name, rewards=rewards) for rewards in ((0, 1), (-4, 4), (8, 16))]
    for t in range(60):
        decisions = [model.decide(STREAM.X[t]) for model in models]
        assert len({(one.label, one.probability) for one in decisions}) == 1
        share = (5 * t + decisions[0].label) % 9 / 8
        for model, decision in zip(models, decisions, strict=True):
            low, high = model.rewards
            model.learn(decision, reward=low + (high - low) * share)
    assert len({model._tally.tobytes() for model in models}) == 1


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
def test_verdicts_are_the_ends_of_the_range(name: str) -> None:
    models = [made(name) for _ in range(4)] + [made(name, rewards=(0, 1))]
    for t in range(40):
        decisions = [model.decide(STREAM.X[t]) for model in models]
        right = decisions[0].label == STREAM.y[t]
        told = [
            {"correct": bool(right)},
            {"correct": int(right)},
            {"correct": np.int32(right)},
            {"reward": 1.0 if right else 0},
            {"reward": Fraction(int(right))},
        ]
        for model, decision, one in zip(models, decisions, told, strict=True):
            model.learn(decision, **one)
    assert len({state_without_id(model) for model in models}) == 1
    assert not models[-1].summary().graded
    assert "right" in str(models[-1].summary())


def state_without_id(model: Any) -> bytes:
    return b"".join(array.tobytes() for _, array in sorted(model._arrays().items()))


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
def test_rewards_survive_files_and_branches(name: str, tmp_path: Path) -> None:
    model = made(name, rewards=(-1, 1))
    live(model)
    copy = reloaded(model, tmp_path / "a")
    assert copy.rewards == (-1.0, 1.0)
    assert live(model, 20, 40) == live(copy, 20, 40)
    assert state_without_id(model) == state_without_id(copy)
    branch = model.branch()
    decision = branch.decide(STREAM.X[0])
    model.learn(decision, reward=0.25)
    assert model.verdicts == 61


@pytest.mark.parametrize("name", [*DECIDERS, *BASELINES])
def test_late_and_many(name: str) -> None:
    one, many = made(name, rewards=(0, 5)), made(name, rewards=(0, 5))
    waiting = [one.decide(x) for x in STREAM.X[:20]]
    told = [5 * reward_of(t, decision.label) for t, decision in enumerate(waiting)]
    for decision, reward in reversed(list(zip(waiting, told, strict=True))):
        one.learn(decision, reward=reward)
    decisions = many.decide_many(STREAM.X[:20])
    many.learn_many(decisions[::-1], rewards=np.array(told[::-1]))
    assert state_without_id(one) == state_without_id(many)


BAD = [2, -0.001, 1.0000001, float("nan"), float("inf"), "0.5", None, True, np.bool_(True), [0.5]]
BAD += [np.array([0.5]), np.array(0.5), 10**400, 1j, np.timedelta64(1, "s"), b"1"]


@pytest.mark.parametrize("name", DECIDERS)
@pytest.mark.parametrize("reward", BAD, ids=repr)
def test_bad_rewards_change_nothing(name: str, reward: Any) -> None:
    model = made(name)
    live(model, 5)
    decisions = model.decide_many(STREAM.X[:3])
    before = state_of(model)
    with pytest.raises(DecisionError, match=r"reward is|so is reward"):
        model.learn(decisions[0], reward=reward)
    with pytest.raises(DecisionError, match=r"decision 2 of 3: .*(reward is|so is reward)"):
        model.learn_many(decisions, rewards=[0.5, 1, reward])
    assert state_of(model) == before


@pytest.mark.parametrize("name", DECIDERS)
def test_exactly_one_of_correct_and_reward(name: str) -> None:
    model = made(name)
    decision = model.decide(STREAM.X[0])
    before = state_of(model)
    for given_ in ({}, {"correct": True, "reward": 0.5}, {"correct": None}, {"correct": False, "reward": 0}):
        with pytest.raises(DecisionError, match="give"):
            model.learn(decision, **given_)
    with pytest.raises(DecisionError, match="give a list of each"):
        model.learn_many([decision])
    with pytest.raises(DecisionError, match="give one of the two"):
        model.learn_many([decision], [True], rewards=[0.5])
    with pytest.raises(DecisionError, match="1 decisions and 2 rewards"):
        model.learn_many([decision], rewards=[0.5, 0.5])
    assert state_of(model) == before


BAD_RANGES = [(1, 0), (0, 0), (0,), (0, 1, 2), 5, None, "01", (0, float("inf")), (float("nan"), 1)]
BAD_RANGES += [(-1.7e308, 1.7e308), (False, True), ("0", "1"), {0, 1}, (0, 10**400), {0: 1, 1: 2}]


@pytest.mark.parametrize("name", ["GapBoost", "AdaBandit", "Random", "EpsilonGreedyTree"])
@pytest.mark.parametrize("rewards", BAD_RANGES, ids=repr)
def test_bad_ranges_are_refused(name: str, rewards: Any) -> None:
    with pytest.raises(ParameterError, match=r"rewards is .*give the least and the largest one"):
        made(name, rewards=rewards)


@pytest.mark.parametrize("name", ["AdaFull", "OptFull", "MixFull"])
def test_who_is_told_the_right_label_has_no_rewards(name: str) -> None:
    with pytest.raises(TypeError, match="rewards"):
        getattr(banditboost, name)(["a", "b"], rewards=(0, 1))


@given(
    low=st.floats(-1e300, 1e300),
    size=st.floats(1e-300, 1e300),
    share=st.floats(0, 1),
)
def test_any_reward_in_any_range_is_a_share(low: float, size: float, share: float) -> None:
    from banditboost.rewards import check_range, in_units, share_told

    high = low + size
    if not low < high:
        return
    rewards = check_range((low, high))
    reward = min(max(low + size * share, low), high)
    told = share_told(None, reward, rewards)
    assert 0.0 <= told <= 1.0
    assert share_told(None, low, rewards) == 0.0
    assert share_told(None, high, rewards) == 1.0
    assert in_units(told, rewards) <= high
