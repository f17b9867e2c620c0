"""From names and plain parameters to models."""

from __future__ import annotations

import json

import pytest

from banditboost import baselines
from banditboost.boosting.booster import Booster
from banditboost.errors import ParameterError
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import LEARNERS, make, parameters_of
from banditboost.weak_learners.hoeffding import HoeffdingTree

LABELS = ("a", "b", "c")
OF_TREES = ("GapBoost", "EpsilonGreedyTree", "EpsilonGreedyForest")


def test_parameters_reach_the_booster_and_its_trees() -> None:
    plain = json.loads(
        '{"n_learners": 7, "exploration": 0.2, "edge": 0.3, '
        '"grace_period": [50, 200], "leaf_prediction": "adaptive"}'
    )
    model = make("OptBandit", LABELS, None, plain, seed=11)
    assert (type(model).__name__, model.labels, model.n_learners, model.seed) == ("OptBandit", LABELS, 7, 11)
    assert (model.exploration, model.edge) == (0.2, 0.3)  # type: ignore[attr-defined]
    assert model.weak_learner == HoeffdingTree(grace_period=(50, 200), leaf_prediction="adaptive")
    assert plain["grace_period"] == [50, 200]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_that_is_offered_is_taken(name: str) -> None:
    values = {
        "n_learners": 3, "clip": 50, "importance_scale": 0.5, "tie_tolerance": 0, "max_memory": 2**24,
        "exploration": 0.1, "estimator": 3, "lesson": "text",
        "edge": 0.2, "step": 0.1, "grace_period": [1, 2], "split_confidence": 0.1,
        "tie_threshold": [0.1, 0.2],
        "leaf_prediction": "naive_bayes", "min_branch_fraction": 0.1, "max_columns": 40, "regularization": 2,
        "restart_on_change": True,
        "weak_learner": "tests.io.test_custom_learners:Counts",
    }  # fmt: skip
    offered = parameters_of(name)
    assert ("grace_period" in offered) == issubclass(LEARNERS[name], Booster)
    assert name in baselines.__all__ or {"n_learners", "max_memory"} <= set(offered)
    assert ("clip" in offered) == (name not in ("GapBoost", *baselines.__all__))
    assert ("weak_learner" in offered) == ("grace_period" in offered)
    assert not {"labels", "schema", "seed", "parameters", "self"} & set(offered)
    for parameter in offered:
        if parameter == "weak_learner" and name in OF_TREES:
            continue  # they say so themselves
        make(name, LABELS, None, {parameter: values[parameter]}, seed=0)


def test_parameters_of_a_base_that_are_not_handed_on_are_not_offered() -> None:
    assert parameters_of("Random") == ()
    assert parameters_of("DiagonalSOBA") == ("exploration", "regularization")
    assert parameters_of("EpsilonGreedyForest")[:5] == (
        "n_learners",
        "exploration",
        "weak_learner",
        "max_memory",
        "grace_period",
    )
    with pytest.raises(ParameterError, match="'clip' is no parameter of Banditron; it has exploration"):
        make("Banditron", LABELS, None, {"clip": 3}, seed=0)


def test_trees_are_those_of_the_booster_but_for_what_is_given() -> None:
    assert make("AdaBandit", LABELS, None, {"tie_threshold": 0.2}, seed=0).weak_learner == HoeffdingTree(
        tie_threshold=0.2
    )
    tree = make("GapBoost", LABELS, None, {"tie_threshold": 0.2}, seed=0).weak_learner
    assert tree == HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.2)


def test_refusals() -> None:
    with pytest.raises(
        ExperimentError, match="unknown learner 'Boost': the known ones are GapBoost, OptBandit, AdaBandit"
    ):
        make("Boost", LABELS, None, {}, seed=0)
    with pytest.raises(ParameterError, match="'exploration' is no parameter of AdaFull; it has n_learners"):
        make("AdaFull", LABELS, None, {"exploration": 0.1}, seed=0)
    with pytest.raises(ParameterError, match="n_learners is 0"):
        make("AdaFull", LABELS, None, {"n_learners": 0}, seed=0)
