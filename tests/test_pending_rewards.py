"""Rewards in the store of open decisions: learned as by hand, refused before anything changes, and as what
silence means.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import banditboost
from banditboost import GapBoost, PendingDecisions
from banditboost.errors import DecisionError, ParameterError
from tests.boosting.states import difference, state_of
from tests.boosting.twins import DECIDERS


def made(name: str = "GapBoost", **options: Any) -> Any:
    return getattr(banditboost, name)(["p", "q"], n_learners=2, rewards=(-1, 1), seed=1, **options)


@pytest.mark.parametrize("name", DECIDERS)
def test_rewards_through_the_store_are_learned(name: str) -> None:
    model, twin = made(name), made(name)
    pending = PendingDecisions(model)
    for t in range(30):
        decision, reward = twin.decide({"x": t % 5}), (t % 9) / 4 - 1
        pending.decide(t, {"x": t % 5})
        assert pending.learn(t, reward=reward) == "learned"
        assert pending.learn(t, reward=reward) == "duplicate"
        twin.learn(decision, reward=reward)
    assert difference(model, twin) == []


@pytest.mark.parametrize(
    "told", [{}, {"reward": 2}, {"reward": True}, {"reward": 0.5, "correct": True}], ids=repr
)
def test_what_is_no_reward_changes_nothing(told: dict[str, Any]) -> None:
    model = made()
    pending = PendingDecisions(model)
    pending.decide("a", {"x": 1})
    before = state_of(model)
    with pytest.raises(DecisionError, match="give"):
        pending.learn("a", **told)
    assert state_of(model) == before
    assert "a" in pending


@pytest.mark.parametrize(("expired", "reward"), [("as_wrong", -1.0), (0.0, 0.0), (0.25, 0.25), (1, 1.0)])
def test_what_silence_means(expired: Any, reward: float) -> None:
    model, twin = made(), made()
    pending = PendingDecisions(model, max_rounds=1, expired=expired)
    waiting = [twin.decide({"x": t}) for t in range(1)]
    pending.decide(0, {"x": 0})
    stored = json.loads(json.dumps(pending.to_dict()))
    pending = PendingDecisions.from_dict(stored, model)
    assert pending.expired == expired
    model.decide({"x": 1})
    model.decide({"x": 1})
    assert pending.expire() == 1
    twin.decide({"x": 1})
    twin.decide({"x": 1})
    twin.learn(waiting[0], reward=reward)
    assert model.summary().total == twin.summary().total


@pytest.mark.parametrize("expired", [2, -1.5, float("nan"), True, "never"], ids=repr)
def test_rules_beyond_the_range_are_refused(expired: Any) -> None:
    with pytest.raises(ParameterError, match="expired is"):
        PendingDecisions(made(), expired=expired)
    PendingDecisions(GapBoost(["p", "q"], rewards=(0, 5), seed=1), expired=5)
