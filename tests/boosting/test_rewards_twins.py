"""Every model that hears rewards against its slow twin, decision for decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.baselines import models as baselines
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import KINDS, make_stream
from tests.boosting.test_gap_twin import make_pair as make_gap_pair
from tests.boosting.test_twins import make_pair
from tests.boosting.twins import BANDITS, SEED
from tests.naive import rng

ROUNDS = 40 if INTERPRETED else 300
GRADED = ["Majority", "Banditron"]  # others are told the verdict that a keyed number makes of the reward


def reward_of(t: int, label: int, y: int) -> float:
    """More for labels near the right one, with some noise; now and then 0 or 1."""
    noise = (0.0, 0.13, -0.2, 0.4, -0.4)[(7 * t + label) % 5]
    return min(1.0, max(0.0, 1.0 - 0.45 * abs(label - y) + noise))


def run_late(pair: Any, stream: Any, told_twin: Any) -> None:
    """After each decision between none and three of the open ones are learned, drawn at random."""
    luck, waiting = np.random.default_rng(3), []
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        both = pair.decide(x, x.tolist())
        waiting.append((both, reward_of(t, both[0].label, y)))
        for _ in range(min(luck.integers(0, 4), len(waiting))):
            (decision, expected, coded), reward = waiting.pop(luck.integers(len(waiting)))
            pair.booster.learn(decision, reward=reward)
            pair.twin.learn(expected, coded, told_twin(decision.round, reward))


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("kind", ["mixed"] if INTERPRETED else KINDS)
def test_gap_boost_learns_rewards_as_its_twin(kind: str, k: int) -> None:
    stream = make_stream(kind, k, ROUNDS)
    pair = make_gap_pair(k, 5, stream)
    run_late(pair, stream, lambda _, reward: reward)
    pair.compare_trees()
    assert pair.booster.summary().graded


@pytest.mark.parametrize("name", BANDITS)
def test_the_papers_boosters_hear_keyed_verdicts(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    run_late(make_pair(name, 3, 5, stream), stream, lambda round_, reward: rng.verdict(SEED, round_, reward))


@pytest.mark.parametrize("name", baselines.NAMES)
def test_baselines(name: str) -> None:
    stream = make_stream("mixed", 3, ROUNDS)
    model = baselines.make(name, range(3), stream.schema())
    twin = baselines.make_twin(name, 3, stream.kinds, stream.n_values)
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        decision, expected = model.decide(x), twin.decide(x.tolist())
        seen = decision.label, decision.greedy, decision.probability
        assert seen == (expected.ytilde, expected.yhat, expected.p)
        reward = reward_of(t, decision.label, y)
        model.learn(decision, reward=reward)
        told = reward if name in GRADED else rng.verdict(baselines.SEED, t, reward)
        twin.learn(expected, x.tolist(), told)
