"""Bandit boosters in experiments of the real coba."""

from __future__ import annotations

import copy
import os

import numpy as np
import pytest

from banditboost import AdaBandit, BinBandit, OptBandit
from banditboost.errors import LabelError, ParameterError
from banditboost.interop.coba import CobaLearner
from tests.boosting.states import state_of
from tests.interop import odd_rewards
from tests.interop.streams import colours, largest, majority_share

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def run(X, y, *learners):
    """Mean rewards of the second half, as coba's table of interactions has them, by learner."""
    coba = pytest.importorskip("coba", reason="coba is not installed: pip install coba")
    from coba.context import CobaContext, NullLogger
    from coba.pipes import IterableSource

    CobaContext.logger = NullLogger()
    source = IterableSource(
        list(zip(X, y, strict=True))
    )  # coba 8.1 reads X and y given directly once only, to peek at them
    result = coba.Experiment(coba.Environments.from_supervised(source, label_type="c"), list(learners)).run()
    rows = list(result.interactions.to_dicts())
    assert len(rows) == len(y) * len(learners)
    rewards = [
        [row["reward"] for row in rows if row["learner_id"] == number] for number in range(len(learners))
    ]
    return [float(np.mean(of[len(of) // 2 :])) for of in rewards]


@pytest.mark.skipif(NO_JIT, reason="plays 1,800 rounds")
def test_boosters_beat_the_majority_in_an_experiment():
    X, y = largest(600)
    learners = [
        CobaLearner(cls, n_learners=10, exploration=0.1, seed=1) for cls in (AdaBandit, OptBandit, BinBandit)
    ]
    scores = run(X.tolist(), [f"label {label}" for label in y], *learners)
    assert min(scores) > majority_share(y) + 0.1
    assert [learner.model.verdicts for learner in learners] == [600] * 3


def test_rows_with_names_and_nominal_values():
    rows, y = colours(150)
    assert run(rows, y.tolist(), CobaLearner(AdaBandit, n_learners=3, exploration=0.1, seed=1))[0] > 0.6


def test_score_is_the_probability_of_a_later_prediction_and_changes_nothing():
    learner = CobaLearner(AdaBandit, n_learners=3, exploration=0.2, seed=1)
    actions = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    for i in range(30):
        action, probability, memory = learner.predict([i % 3], actions)
        learner.learn([i % 3], action, float(action[i % 3]), probability, **memory)
    before = state_of(learner.model)
    scores = [learner.score([1], actions, action) for action in actions]
    assert str(state_of(learner.model)) == str(before)
    assert sum(scores) == pytest.approx(1.0)
    action, probability, _ = copy.deepcopy(learner).predict([1], actions)
    assert scores[actions.index(action)] == probability


@pytest.mark.parametrize("context", [None, 3.0, "phone", (1.0, "u"), {"a": 1.0}])
def test_every_form_of_context_is_a_row(context):
    learner = CobaLearner(AdaBandit, n_learners=2, seed=1)
    for _ in range(3):
        action, probability, memory = learner.predict(context, ["left", "right"])
        learner.learn(context, action, 1, probability, **memory)
    assert learner.model.verdicts == 3


def test_refusals():
    learner = CobaLearner(AdaBandit, n_learners=2, seed=1)
    action, probability, memory = learner.predict([1.0], ["left", "right"])
    with pytest.raises(ParameterError, match=r"reward is 1\.5"):
        learner.learn([1.0], action, 1.5, probability, **memory)
    with pytest.raises(LabelError, match="give the same ones"):
        learner.predict([1.0], ["left", "right", "up"])
    assert (learner.model.verdicts, learner.model.rounds) == (0, 1)


@pytest.mark.parametrize("reward", odd_rewards.ODD, ids=lambda reward: type(reward).__name__)
def test_odd_rewards_are_refused(reward):
    learner = CobaLearner(AdaBandit, n_learners=2, seed=1)
    action, probability, memory = learner.predict([0.5], ["left", "right"])
    with pytest.raises(ParameterError, match=r"reward is .*; give a number in \[0, 1\]"):
        learner.learn([0.5], action, reward, probability, **memory)
    assert learner.model.verdicts == 0


@pytest.mark.parametrize("reward", [*odd_rewards.RIGHT, *odd_rewards.WRONG], ids=repr)
def test_rewards_of_any_type_are_learned(reward):
    learner = CobaLearner(AdaBandit, n_learners=2, seed=1)
    action, probability, memory = learner.predict([0.5], ["left", "right"])
    learner.learn([0.5], action, reward, probability, **memory)
    assert learner.model.summary().total.shown.share == float(reward)


def test_rewards_before_the_first_prediction_are_refused():
    with pytest.raises(ParameterError, match=r"decision is None; give what predict gave"):
        CobaLearner(AdaBandit, n_learners=2, seed=1).learn([0.5], "left", 1, 0.5, None)
