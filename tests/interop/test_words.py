"""Rows with words at the doors of other libraries: taken where GapBoost is behind them, else refused with the remedy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import AdaBandit, GapBoost, Schema
from banditboost.errors import FeatureError
from banditboost.interop.coba import CobaLearner
from banditboost.interop.logs import DecisionLog
from banditboost.rows.sharing import MOST_WORDS

LABELS = ["sports", "politics"]
TITLE = "The final of the cup"


def log_of(rows, model, **options):
    log = DecisionLog(model.labels, **options)
    for x in rows:
        log.add(x, model.decide(x), correct=True)
    return log


# Logs


def test_every_word_is_a_feature_of_its_own():
    rows = [{"hour": 9, "tags": ["cup", "a b"]}, {"hour": 21, "tags": set()}, {"tags": ("cup", "_1", "7")}]
    log = log_of(rows, GapBoost(LABELS, seed=1))
    assert log.context_names == ["hour", "tags=cup", "tags=a b", "tags=_1", "tags=7"]
    context = log.context()
    assert context[:, 1:].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]]
    lines = [line.split(" | ")[-1] for line in log.to_vw()]
    assert lines == ["hour:9.0 tags=cup tags=a%20b", "hour:21.0", "| tags=cup tags=%5F1 tags=%37"[2:]]
    assert json.loads(log.to_dsjson()[2])["c"]["x"] == {"tags=cup": 1.0, "tags=%5F1": 1.0, "tags=%37": 1.0}
    assert log.to_obp()["context"].shape == (3, 5)


def test_texts_are_parted_if_the_model_parts_them():
    model = GapBoost(LABELS, seed=1)
    plain = log_of([{"title": TITLE}], model)
    assert plain.context_names == [f"title={TITLE}"]
    parted = log_of([{"title": TITLE}, {"title": "The cup"}], model, schema=model.schema)
    assert [name for name in parted.context_names if name.startswith("title=")] == [
        f"title={TITLE}", "title=The cup", "title=the", "title=final", "title=of", "title=cup"
    ]  # fmt: skip
    assert parted.context().sum() == 1 + 4 + 1


def test_declared_words_and_nested_lists():
    schema = Schema(numeric=["hour"], words=["title"])
    model = GapBoost(LABELS, schema=schema, seed=1)
    log = log_of(
        [{"hour": 1, "title": "Cup!"}, {"title": ["Cup"]}, {"hour": 2, "title": None}], model, schema=schema
    )
    assert log.context_names == ["hour", "title=cup", "title=Cup"]
    decision = model.decide({"hour": 3})
    with pytest.raises(FeatureError, match=r"declare Schema\(words=\['tags'\]\)"):
        log.add({"hour": 3, "tags": ["x"]}, decision, correct=True)
    assert (len(log), log.context_names) == (3, ["hour", "title=cup", "title=Cup"])
    nested = GapBoost(LABELS, seed=1)
    assert log_of([{"user": {"likes": ["tea"]}}], nested).context_names == ["user.likes=tea"]


def test_a_row_with_too_many_words_is_not_logged():
    model = GapBoost(LABELS, seed=1)
    log, decision = DecisionLog(LABELS), model.decide({"hour": 1})
    with pytest.raises(FeatureError, match=f"has {MOST_WORDS + 1} words; give at most"):
        log.add({"tags": [f"w{i}" for i in range(MOST_WORDS + 1)]}, decision, correct=True)
    with pytest.raises(FeatureError, match="with 3 in it; give a list or set of strings"):
        log.add({"tags": ["x", 3]}, decision, correct=True)
    assert len(log) == len(log.context_names) == 0


words = st.lists(st.text(alphabet="ab _:|=%1é", max_size=4), max_size=5)


@given(st.lists(st.tuples(words, st.one_of(st.none(), st.floats(-9, 9))), min_size=1, max_size=6))
@settings(max_examples=50, deadline=None)
def test_every_log_has_the_words_of_its_rows(rows):
    model = GapBoost(LABELS, seed=1)
    given_rows = [{"tags": tags, "n": n} for tags, n in rows]
    log = log_of(given_rows, model)
    context = log.context()
    for row, numbers, line in zip(given_rows, context, log.to_vw(), strict=True):
        there = {
            name for name, one in zip(log.context_names, numbers, strict=True) if name != "n" and one == 1.0
        }
        assert there == {f"tags={word}" for word in row["tags"]}
        features = line.split("|")[1].split()
        assert len([feature for feature in features if feature.startswith("tags=")]) == len(set(row["tags"]))


# scikit-learn


def test_sparse_rows_are_what_they_are_when_dense():
    sparse = pytest.importorskip("scipy.sparse")
    pytest.importorskip("sklearn")
    from banditboost.interop.sklearn import AdaFullClassifier, OptFullClassifier

    luck = np.random.default_rng(2)
    X, y = luck.integers(0, 3, (80, 12)) * (luck.random((80, 12)) < 0.3), luck.integers(0, 2, 80)
    for cls in (AdaFullClassifier, OptFullClassifier):
        dense = cls(n_learners=3, random_state=1).fit(X, y)
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
            taken = cls(n_learners=3, random_state=1).fit(form(X), y)
            assert np.array_equal(taken.predict_proba(form(X)), dense.predict_proba(X))


def test_counted_words_go_into_a_pipeline_and_too_many_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    from banditboost.interop.sklearn import AdaFullClassifier

    texts = ["the cup final", "a vote on the law", "goal in the cup", "the party lost a vote"] * 10
    y = ["sports", "politics"] * 20
    model = make_pipeline(CountVectorizer(), AdaFullClassifier(n_learners=5, random_state=1)).fit(texts, y)
    assert model.score(texts, y) > 0.9
    wide = sparse.csr_matrix((4, 20_000))
    with pytest.raises(FeatureError, match=r"20000 columns.*at most 16384.*play\(GapBoost"):
        AdaFullClassifier().fit(wide, [0, 1, 0, 1])


# River and coba


def test_river_s_classifiers_refuse_words_and_go_on():
    pytest.importorskip("river")
    from banditboost.interop.river import AdaFullClassifier

    for labels in (None, LABELS):
        model = AdaFullClassifier(labels, n_learners=2, seed=1)
        for y in LABELS:
            model.learn_one({"hour": 9}, y)
        before = model.predict_proba_one({"hour": 9})
        with pytest.raises(FeatureError, match="give each word as a feature, such as"):
            model.learn_one({"tags": ["cup"]}, "sports")
        with pytest.raises(FeatureError, match="give each word as a feature, such as"):
            model.predict_one({"tags": ["cup"]})
        assert model.predict_proba_one({"hour": 9}) == before
        model.learn_one({"cup": True}, "sports")


def test_a_policy_of_river_takes_words():
    pytest.importorskip("river")
    from banditboost.interop.river_bandit import BoosterPolicy

    policy, model = BoosterPolicy(GapBoost, seed=1), GapBoost(LABELS, seed=1)
    for t in range(40):
        context = {"tags": ["cup", f"w{t % 7}"] if t % 2 else ["vote"], "title": TITLE}
        arm, decision = policy.pull(LABELS, context=context), model.decide(context)
        assert arm == decision.label
        policy.update(arm, context, int(arm == LABELS[1 - t % 2]))
        model.learn(decision, decision.label == LABELS[1 - t % 2])


def test_coba_s_contexts_may_have_words():
    learner, model = CobaLearner(GapBoost, seed=1), GapBoost(range(2), seed=1)
    for t in range(40):
        context = {"tags": ["cup", f"w{t % 7}"] if t % 2 else ["vote"], "n": t}
        action, probability, memory = learner.predict(context, LABELS)
        decision = model.decide(context)
        assert (action, probability) == (LABELS[decision.label], decision.probability)
        assert learner.score(context, LABELS, action) == model.distribution(context)[decision.label]
        learner.learn(context, action, float(t % 2), probability, **memory)
        model.learn(decision, bool(t % 2))
    other = CobaLearner(AdaBandit, n_learners=2, seed=1)
    with pytest.raises(FeatureError, match="only GapBoost learns"):
        other.predict({"tags": ["cup"]}, LABELS)
