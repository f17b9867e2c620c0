"""Our boosters as scikit-learn's classifiers, against the real scikit-learn; and its classifiers boosted."""

from __future__ import annotations

import os

import numpy as np
import pytest

sklearn = pytest.importorskip(
    "sklearn",
    minversion="1.6",
    reason="scikit-learn 1.6 is not installed: pip install 'banditboost[sklearn]'",
)
from sklearn.linear_model import SGDClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from banditboost import AdaBandit, AdaFull, OptFull, play  # noqa: E402
from banditboost.errors import LabelError, ParameterError  # noqa: E402
from banditboost.interop.sklearn import AdaFullClassifier, OptFullClassifier, SklearnLearner  # noqa: E402
from tests.interop.streams import largest, majority_share  # noqa: E402

CLASSIFIERS = [AdaFullClassifier, OptFullClassifier]
NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


@pytest.mark.skipif(NO_JIT, reason="fits hundreds of models")
@parametrize_with_checks([cls() for cls in CLASSIFIERS])
def test_scikit_learn_checks(estimator, check):
    """All of them; none is expected to fail."""
    check(estimator)


@pytest.mark.parametrize(("cls", "ours"), [(AdaFullClassifier, AdaFull), (OptFullClassifier, OptFull)])
def test_it_is_the_booster_itself(cls, ours):
    X, y = largest(150)
    names = np.array(["first", "second", "third"])
    theirs = cls(n_learners=4, n_passes=2, random_state=3).fit(X, names[y])
    booster = ours(names, n_learners=4, seed=theirs.booster_.seed)
    for x, label in [*zip(X, names[y], strict=True)] * 2:
        booster.learn_one(x, label)
    shares = np.array([list(booster.predict_proba_one(x).values()) for x in X])
    assert np.array_equal(theirs.predict_proba(X), shares)
    assert np.array_equal(theirs.predict(X), names[shares.argmax(axis=1)])


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_partial_fit_goes_on_and_fit_begins_anew(cls):
    X, y = largest(200)
    whole = cls(n_learners=4, n_passes=1, random_state=1).fit(X, y)
    parts = cls(n_learners=4, random_state=1)
    for start in range(0, 200, 37):
        parts.partial_fit(X[start : start + 37], y[start : start + 37], classes=[2, 1, 0])
    assert np.array_equal(whole.predict_proba(X), parts.predict_proba(X))
    assert parts.fit(X[:50], y[:50]).booster_.verdicts == 500


@pytest.mark.skipif(NO_JIT, reason="fits ten models")
def test_it_learns_in_a_pipeline_and_a_grid():
    X, y = largest(300)
    pipeline = make_pipeline(StandardScaler(), AdaFullClassifier(n_learners=5, random_state=1))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > majority_share(y) + 0.1
    grid = GridSearchCV(OptFullClassifier(n_learners=4, random_state=1), {"edge": [0.05, 0.3]}, cv=2).fit(
        X, y
    )
    assert set(grid.best_params_) == {"edge"}


def test_missing_values_are_taken():
    X, y = largest(100)
    X[::3, 1] = np.nan
    assert AdaFullClassifier(n_learners=3, random_state=1).fit(X, y).predict(X).shape == (100,)


def test_refusals_name_the_remedy_and_change_nothing():
    X, y = largest(60)
    model = AdaFullClassifier(n_learners=3, random_state=1)
    with pytest.raises(LabelError, match="give all classes"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, classes=[0, 1, 2])
    before = model.predict_proba(X)
    with pytest.raises(LabelError, match="y holds"):
        model.partial_fit(X, y + 1)
    with pytest.raises(LabelError, match="give the same or none"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ParameterError, match="n_passes is 0"):
        AdaFullClassifier(n_passes=0).fit(X, y)
    with pytest.raises(LabelError, match="one class only"):
        model.fit(X, np.zeros(60))
    assert model.booster_.verdicts == 60
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    "weak", [SGDClassifier(random_state=0), GaussianNB()], ids=lambda weak: type(weak).__name__
)
def test_a_boosted_scikit_learn_classifier_beats_the_majority(weak):
    X, y = largest(300)
    learner = SklearnLearner(weak, n_labels=3, batch=10)
    models = [
        AdaBandit(
            ["first", "second", "third"], n_learners=3, exploration=0.1, weak_learner=learner, seed=seed
        )
        for seed in range(3)
    ]
    assert np.mean([play(model, X, y).last_accuracy for model in models]) > majority_share(y) + 0.1
    assert not hasattr(weak, "classes_")


def test_missing_values_and_features_that_join_late_do_not_stop_a_learner():
    model = AdaFull(
        ["yes", "no"],
        n_learners=2,
        weak_learner=SklearnLearner(SGDClassifier(random_state=0), 2, missing=-1.0),
        seed=1,
    )
    for _ in range(20):
        model.learn_one({"age": 31, "height": None, "weight": 3}, "no")
        model.learn_one({"age": 64}, "yes")
        model.learn_one({"age": 64, "late": 7.0}, "yes")
    assert (model.predict_one({"age": 31, "weight": 3}), model.predict_one({"age": 64})) == ("no", "yes")
    assert model._committee.learners[0].classifier.n_features_in_ == 2


class NoWeights(GaussianNB):
    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes)


@pytest.mark.parametrize(
    ("weak", "reason"),
    [(DecisionTreeClassifier(), "lacks partial_fit"), (NoWeights(), "takes no sample_weight")],
)
def test_a_classifier_without_partial_fit_or_weights_is_refused(weak, reason):
    with pytest.raises(ParameterError, match=reason):
        SklearnLearner(weak, n_labels=2)


def test_a_batch_is_taught_when_it_is_full():
    learner = SklearnLearner(GaussianNB(), n_labels=2, batch=4)
    for i in range(7):
        learner.learn(np.array([float(i % 2), np.nan]), i % 2, 1.0)
        assert learner._taught == (i >= 3)
    assert learner.classifier.class_count_.tolist() == [2.0, 2.0]
    assert (learner.predict(np.array([0.0, 5.0])), learner.predict(np.array([1.0, np.nan]))) == (0, 1)
