"""Our boosters as River's classifiers, against the real River; and River's classifiers boosted."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest

river = pytest.importorskip("river", reason="river is not installed: pip install 'banditboost[river]'")
from river import (  # noqa: E402
    checks,
    compose,
    datasets,
    evaluate,
    linear_model,
    metrics,
    multiclass,
    naive_bayes,
    preprocessing,
    tree,
)

from banditboost import AdaBandit, AdaFull, OptFull, Schema, play  # noqa: E402
from banditboost.errors import LabelError, ModelFileError, ParameterError  # noqa: E402
from banditboost.interop.river import AdaFullClassifier, OptFullClassifier, RiverLearner  # noqa: E402
from tests.interop.streams import colours, largest, majority_share  # noqa: E402

CLASSIFIERS = [AdaFullClassifier, OptFullClassifier]
NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def _checks():
    for cls in CLASSIFIERS:
        model = cls(n_learners=5)
        assert model._unit_test_skips() == set()
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(model, check, id=f"{cls.__name__}-{check.__name__}-{number}")


@pytest.mark.skipif(NO_JIT, reason="plays 50,000 rounds")
@pytest.mark.parametrize(("model", "check"), list(_checks()))
def test_river_checks(model, check):
    """What `river.checks.check_estimator` runs, one by one; nothing is skipped."""
    check(model.clone())


@pytest.mark.parametrize(("cls", "ours"), [(AdaFullClassifier, AdaFull), (OptFullClassifier, OptFull)])
def test_with_known_labels_it_is_the_booster_itself(cls, ours):
    stream = list(datasets.Phishing().take(150))
    theirs, booster = cls([True, False], n_learners=5, seed=3), ours([True, False], n_learners=5, seed=3)
    for x, y in stream:
        row = dict(sorted(x.items()))
        assert theirs.predict_one(x) == booster.predict_one(row)
        assert theirs.predict_proba_one(x) == booster.predict_proba_one(row)
        theirs.learn_one(x, y)
        booster.learn_one(row, y)


@pytest.mark.skipif(NO_JIT, reason="plays 400 rounds with ten learners")
def test_in_a_pipeline_it_beats_the_majority():
    stream = list(datasets.ImageSegments().take(400))
    model = compose.Pipeline(preprocessing.StandardScaler(), AdaFullClassifier(n_learners=10, seed=1))
    score = evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get()
    assert score > majority_share([y for _, y in stream]) + 0.2


def test_labels_join_as_they_come():
    model = AdaFullClassifier(n_learners=3, seed=1)
    assert model.predict_one({"a": 1}) is None
    assert model.predict_proba_one({"a": 1}) == {}
    model.learn_one({"a": 1}, "left")
    assert (model.predict_one({"a": 9}), model.predict_proba_one({"a": 9}), model.booster) == (
        "left",
        {"left": 1.0},
        None,
    )
    model.learn_one({"a": 1}, "left")
    model.learn_one({"a": 2}, "right")
    assert model.booster.labels == ("left", "right")
    assert model.booster.verdicts == 3
    model.learn_one({"a": 3}, "up")
    assert (model.booster.labels, model.booster.verdicts) == (("left", "right", "up"), 4)


def test_after_a_new_label_it_is_a_booster_that_learned_the_recent_rows():
    model, fresh = AdaFullClassifier(n_learners=3, replay=10, seed=1), AdaFull(range(3), n_learners=3, seed=1)
    rows = [({"a": i % 7}, i % 2) for i in range(30)] + [({"a": 9}, 2)]
    for x, y in rows:
        model.learn_one(x, y)
    for x, y in rows[-11:]:
        fresh.learn_one(x, y)
    assert model.booster.verdicts == fresh.verdicts == 11
    assert all(model.predict_proba_one({"a": a}) == fresh.predict_proba_one({"a": a}) for a in range(10))


def test_given_labels_are_not_kept_for_a_replay():
    model = AdaFullClassifier([True, False], n_learners=2, seed=1)
    model.learn_one({"a": 1}, True)
    assert len(model._recent) == 0


def test_a_refused_label_or_row_changes_nothing():
    model = OptFullClassifier(n_learners=2, max_labels=2, seed=1)
    with pytest.raises(LabelError, match="not hashable"):
        model.learn_one({"a": 1}, ["left"])
    with pytest.raises(ValueError, match="'a' is inf"):
        model.learn_one({"a": float("inf")}, "left")
    model.learn_one({"a": 1}, "left")
    with pytest.raises(ValueError, match="'a' is b'word'"):
        model.learn_one({"a": b"word"}, "right")
    model.learn_one({"a": 2}, "right")
    before = pickle.dumps(model._booster.predict_proba_one({"a": 1}))
    with pytest.raises(LabelError, match="max_labels=2"):
        model.learn_one({"a": 3}, "up")
    assert pickle.dumps(model._booster.predict_proba_one({"a": 1})) == before
    assert model.booster.verdicts == len(model._recent) == 2


def test_bad_parameters_are_refused_at_once():
    with pytest.raises(ParameterError, match="n_learners is 0"):
        AdaFullClassifier(n_learners=0)
    with pytest.raises(ParameterError, match="max_labels is 1"):
        AdaFullClassifier(max_labels=1)
    with pytest.raises(TypeError, match="depth"):
        AdaFullClassifier(depth=3)


WEAK = {
    "weighted tree": lambda: tree.HoeffdingTreeClassifier(grace_period=20, delta=1e-3),
    "naive Bayes": naive_bayes.GaussianNB,
    "pipeline": lambda: (
        preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    ),
}


@pytest.mark.parametrize("make", WEAK.values(), ids=WEAK.keys())
def test_a_boosted_river_classifier_beats_the_majority(make):
    X, y = largest(400)
    weak = RiverLearner(make())
    models = [
        AdaBandit(["first", "second", "third"], n_learners=4, exploration=0.1, weak_learner=weak, seed=seed)
        for seed in range(3)
    ]
    assert np.mean([play(model, X, y).last_accuracy for model in models]) > majority_share(y) + 0.1


def test_with_a_schema_the_classifier_sees_names_and_nominal_values():
    rows, y = colours(300)
    schema = Schema(nominal=["colour"], numeric=["size"])
    weak = RiverLearner(tree.HoeffdingTreeClassifier(grace_period=20, delta=1e-2), schema)
    model = AdaFull(["stop", "go", "wait"], n_learners=3, weak_learner=weak, schema=schema, seed=1)
    assert play(model, rows, y).last_accuracy > 0.9
    learner = model._committee.learners[0]
    assert learner._features(model._joined({"colour": "blue", "size": None})) == {"colour": "1"}


def test_without_weights_the_example_is_repeated_as_often_on_average():
    class Counter(river.base.Classifier):
        n = 0

        def learn_one(self, x, y):  # noqa: ARG002
            self.n += 1

        def predict_one(self, x):  # noqa: ARG002
            return 0

    learner = RiverLearner(Counter())
    for _ in range(1000):
        learner.learn(np.zeros(1), 0, 2.25)
    assert 2180 < learner.classifier.n < 2320


def test_boosted_river_classifiers_are_copies():
    weak = RiverLearner(naive_bayes.GaussianNB())
    model = AdaBandit(["yes", "no"], n_learners=2, weak_learner=weak, seed=1)
    for _ in range(20):
        model.learn(model.decide({"a": 1.0}), correct=True)
    assert weak.predict(model._joined({"a": 1.0})) == 0
    assert copy.deepcopy(model).decide({"a": 1.0}).label == model.decide({"a": 1.0}).label


def test_a_boosted_river_classifier_is_pickled_but_not_saved(tmp_path):
    model = AdaBandit(
        ["yes", "no"], n_learners=2, weak_learner=RiverLearner(naive_bayes.GaussianNB()), seed=1
    )
    model.learn(model.decide({"a": 1.0}), correct=True)
    assert pickle.loads(pickle.dumps(model)).verdicts == 1
    with pytest.raises(ModelFileError, match="to_dict"):
        model.save(tmp_path / "model.bb")


def test_what_is_no_classifier_is_refused():
    with pytest.raises(ParameterError, match="give a River classifier"):
        RiverLearner(preprocessing.StandardScaler())
