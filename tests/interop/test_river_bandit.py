"""Bandit boosters as policies in River's replay."""

from __future__ import annotations

import os

import numpy as np
import pytest

pytest.importorskip("river", reason="river is not installed: pip install 'banditboost[river]'")
from river import bandit, stats

from banditboost import AdaBandit, BinBandit, OptBandit
from banditboost.errors import DecisionError, LabelError, ParameterError
from banditboost.interop.river_bandit import BoosterPolicy
from tests.interop import odd_rewards
from tests.interop.streams import colours

ARMS = ["stop", "go", "wait"]
N = 900


def history():
    """Arms pulled at random, as replay needs it."""
    rows, y = colours(N)
    pulled = np.random.default_rng(3).integers(0, 3, N)
    return [(ARMS, x, ARMS[arm], float(arm == right)) for x, arm, right in zip(rows, pulled, y, strict=True)]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plays 900 rounds")
@pytest.mark.parametrize("booster", [AdaBandit, OptBandit, BinBandit])
def test_replay_finds_a_booster_better_than_a_random_policy(booster):
    policy = BoosterPolicy(booster, n_learners=3, exploration=0.1, seed=1)
    reward, used = bandit.evaluate_offline(policy, history(), reward_stat=stats.Mean())
    assert policy.model.verdicts == used > N / 6
    blind, _ = bandit.evaluate_offline(bandit.RandomPolicy(seed=1), history(), reward_stat=stats.Mean())
    assert reward.get() > blind.get() + 0.1


def test_a_clone_is_fresh_and_has_the_same_parameters():
    policy = BoosterPolicy(OptBandit, n_learners=2, edge=0.2, seed=1)
    policy.update(policy.pull(ARMS, context={"a": 1}), {"a": 1}, 1)
    clone = policy.clone()
    assert clone.model is None
    assert (clone.booster, clone.parameters) == (OptBandit, {"n_learners": 2, "edge": 0.2, "seed": 1})


def test_without_a_context():
    policy = BoosterPolicy(n_learners=2, seed=1)
    policy.update(policy.pull(range(4)), None, 0)
    assert policy.model.labels == (0, 1, 2, 3)


def test_refusals_change_nothing():
    policy = BoosterPolicy(n_learners=2, seed=1)
    with pytest.raises(DecisionError, match="not pulled last"):
        policy.update("go", {}, 1)
    arm = policy.pull(ARMS, context={"a": 1})
    with pytest.raises(ParameterError, match=r"reward is 1\.5"):
        policy.update(arm, {"a": 1}, 1.5)
    with pytest.raises(LabelError, match="give the same arms"):
        policy.pull(ARMS[:2], context={"a": 1})
    policy.update(arm, {"a": 1}, 1)
    with pytest.raises(DecisionError, match="not pulled last"):
        policy.update(arm, {"a": 1}, 1)
    assert (policy.model.verdicts, policy._n) == (1, 1)


@pytest.mark.parametrize("reward", odd_rewards.ODD, ids=lambda reward: type(reward).__name__)
def test_odd_rewards_are_refused(reward):
    policy = BoosterPolicy(n_learners=2, seed=1)
    arm = policy.pull(ARMS, context={"hour": 3})
    with pytest.raises(ParameterError, match=r"reward is .*; give a number in \[0, 1\]"):
        policy.update(arm, {"hour": 3}, reward)
    assert policy.model.verdicts == 0
    policy.update(arm, {"hour": 3}, 1)
    assert policy.model.verdicts == 1
