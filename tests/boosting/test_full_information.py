"""AdaFull, OptFull and MixFull, the boosters that are told the right label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from banditboost import AdaFull, OptFull, Schema
from banditboost.errors import FeatureError, LabelError
from banditboost.memo import VOTES
from tests.boosting.states import state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import make_booster

STREAM = make_stream("mixed", 3, 60)


@pytest.fixture(params=["AdaFull", "OptFull", "MixFull"])
def model(request: pytest.FixtureRequest) -> Any:
    booster = make_booster(request.param, 3, 5, schema=STREAM.schema())
    for x, y in zip(STREAM.X, STREAM.y.tolist(), strict=True):
        booster.learn_one(x, y)
    return booster


@pytest.fixture(params=["AdaFull", "OptFull", "MixFull"])
def fresh(request: pytest.FixtureRequest) -> Any:
    return make_booster(request.param, 3, 5, schema=Schema())


def test_predicting_changes_nothing(model: Any) -> None:
    before = state_of(model)
    for x in STREAM.X:
        assert model.predict_one(x) == model.predict_one(x)
        model.predict_proba_one(x)
    assert state_of(model) == before


def test_predicting_lets_no_feature_join(fresh: Any) -> None:
    """A row that is only asked about brings neither features nor values."""
    fresh.learn_one({"colour": "red"}, 1)
    before = state_of(fresh)
    fresh.predict_one({"colour": "blue", "size": 3})
    fresh.predict_proba_one({"shape": "round"})
    assert state_of(fresh) == before


def test_before_any_learning(fresh: Any) -> None:
    assert fresh.predict_one({"x": 1.0}) in (0, 1, 2)
    assert sum(fresh.predict_proba_one({"x": 1.0}).values()) == pytest.approx(1.0)


def test_probabilities(model: Any) -> None:
    for x in STREAM.X:
        shares = model.predict_proba_one(x)
        assert tuple(shares) == model.labels
        assert sum(shares.values()) == pytest.approx(1.0)
        assert min(shares.values()) >= 0.0
        assert shares[model.predict_one(x)] > 0.0


@pytest.mark.parametrize("name", ["AdaFull", "MixFull"])
def test_probabilities_are_those_of_the_draw(name: str) -> None:
    """Over many rounds a label is predicted as often as the shares say: the expert is drawn anew each
    time.
    """
    model = make_booster(name, 3, 5, schema=STREAM.schema())
    for x, y in zip(STREAM.X[:6], STREAM.y.tolist(), strict=False):
        model.learn_one(x, y)
    counts, expected = np.zeros(3), np.zeros(3)
    for _ in range(1_000):
        expected += list(model.predict_proba_one(STREAM.X[0]).values())
        counts[model.predict_one(STREAM.X[0])] += 1
        model._counts.rounds += 1  # the next keyed numbers
    assert np.abs(counts - expected).max() < 5 * np.sqrt(1_000) / 2


@pytest.mark.parametrize("y", [3, "east", None, [1]], ids=repr)
def test_unknown_label_is_refused(model: Any, y: Any) -> None:
    before = state_of(model)
    with pytest.raises(LabelError) as refusal:
        model.learn_one(STREAM.X[0], y)
    assert repr(y) in str(refusal.value)
    assert state_of(model) == before


def test_refused_row_teaches_nothing(model: Any) -> None:
    before = state_of(model)
    for x in (STREAM.X[0][:3], np.full(4, np.inf), {"f0": "text"}, {"unknown": 1.0}):
        with pytest.raises(FeatureError):
            model.learn_one(x, 1)
    assert state_of(model) == before


def test_shares_that_were_added_up_are_probabilities():
    model = AdaFull(["yes", "no"], n_learners=5, seed=1)
    for _ in range(20):
        model.learn_one({"age": 31}, "no")
    rng = np.random.default_rng(0)
    for _ in range(100):  # 16 of which exceed 1 before rounding is taken care of
        model._weights[5:] = -rng.exponential(size=5)
        assert max(model.predict_proba_one({"age": 31}).values()) <= 1.0


def test_probabilities_of_optfull_are_shares_of_votes() -> None:
    """Nobody is drawn: the label with the largest share is predicted, and the shares are those of the votes."""
    model = OptFull(["a", "b", "c"], n_learners=7, seed=2)
    for x in range(60):
        model.learn_one({"x": float(x % 9)}, "abc"[x % 9 // 3])
    divided = 0
    for x in range(9):
        row = {"x": float(x)}
        memo = model._look(row)
        votes = [model.labels[int(vote)] for vote in memo[VOTES : VOTES + 7]]
        shares = model.predict_proba_one(row)
        assert shares == {label: votes.count(label) / 7 for label in model.labels}
        assert shares[model.predict_one(row)] == max(shares.values())
        divided += max(shares.values()) < 1.0
    assert divided
