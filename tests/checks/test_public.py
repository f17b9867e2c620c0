"""Every public booster, baseline and weak learner keeps every rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from river import naive_bayes, tree
from sklearn.naive_bayes import GaussianNB

import banditboost
from banditboost import HoeffdingTree, Schema, baselines, checks
from banditboost.interop.river import RiverLearner
from banditboost.interop.sklearn import SklearnLearner
from banditboost.weak_learners.cost_sensitive_linear import CostSensitiveLinear
from tests.boosting.kernels import INTERPRETED
from tests.io.test_custom_learners import Counts

LABELS = ["a", "b", "c"]
DECLARED = Schema(numeric=["age"], nominal={"device": ["phone", "desktop"], "day": []})
BOOSTERS = ["AdaBandit", "OptBandit", "BinBandit", "GapBoost", "AdaFull", "OptFull", "MixBandit", "MixFull"]


def booster(name: str, **options: Any) -> Callable[[], Any]:
    return partial(getattr(banditboost, name), LABELS, **{"n_learners": 3, "seed": 5, **options})


MODELS: dict[str, Callable[[], Any]] = {
    **{name: booster(name) for name in BOOSTERS},
    **{f"{name}, declared": booster(name, schema=DECLARED) for name in ("AdaBandit", "GapBoost", "OptFull")},
    **{
        f"{name} of Counts": booster(name, weak_learner=Counts)
        for name in ("AdaBandit", "BinBandit", "OptFull")
    },
    "OptionBoost": partial(banditboost.OptionBoost, n_learners=3, seed=5),
    "OptBandit of linear learners": booster("OptBandit", weak_learner=CostSensitiveLinear),
    **{name: partial(getattr(baselines, name), LABELS, seed=5) for name in baselines.__all__},
    "GapBoost, words": booster("GapBoost", schema=Schema(numeric=["age"], words=["title", "tags"])),
    "GapBoost, words only": booster("GapBoost", schema=Schema(words=["title"])),
    "AdaBandit, words": booster("AdaBandit", schema=Schema(numeric=["age"], words=["title"])),
    "Banditron, declared": partial(baselines.Banditron, LABELS, schema=DECLARED, seed=5),
    "AdaBandit of River's trees": booster(
        "AdaBandit", n_learners=2, weak_learner=RiverLearner(tree.HoeffdingTreeClassifier())
    ),
}
if INTERPRETED:  # one of each kind is enough for that
    MODELS = {
        name: MODELS[name]
        for name in ("AdaBandit", "OptFull", "OptionBoost", "BinBandit of Counts", "Banditron, declared")
    }
LEARNERS: dict[str, Any] = {
    "HoeffdingTree": HoeffdingTree(),
    "HoeffdingTree, naive Bayes": HoeffdingTree(leaf_prediction="naive_bayes"),
    "HoeffdingTree, adaptive": HoeffdingTree(leaf_prediction="adaptive"),
    "Counts": Counts,
    "CostSensitiveLinear": CostSensitiveLinear,
    "River's tree": RiverLearner(tree.HoeffdingTreeClassifier()),
    "River's naive Bayes": RiverLearner(naive_bayes.GaussianNB()),
    "scikit-learn's naive Bayes": SklearnLearner(GaussianNB(), n_labels=2, batch=10),
}


@pytest.mark.parametrize("check", checks.booster_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_boosters_keep_the_rules(name: str, check: Any) -> None:
    check(MODELS[name])


@pytest.mark.parametrize("check", checks.weak_learner_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_weak_learners_keep_the_rules(name: str, check: Any) -> None:
    check(LEARNERS[name])


def test_all_at_once_with_a_model_or_what_makes_one() -> None:
    checks.check_booster(baselines.Majority(LABELS, seed=5))
    checks.check_booster(lambda: baselines.Random(LABELS, seed=5))
    checks.check_weak_learner(Counts)
    checks.check_weak_learner(Counts())
