"""Pickle and deepcopy: a copy is the same model at that moment, and from then on its own."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest

from banditboost import play
from tests.boosting.twins import ALL_BOOSTERS, BOOSTERS, DECIDERS, make_booster
from tests.io.models import HALF, STREAM, K, N, go_on, same, trained
from tests.io.test_custom_learners import Counts

COPIERS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(params=COPIERS)
def copied(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return COPIERS[request.param]


@pytest.mark.parametrize(
    ("name", "learner"), [*((name, None) for name in ALL_BOOSTERS), *((name, Counts) for name in BOOSTERS)]
)
def test_a_copy_goes_on_alike_and_by_itself(name: str, learner: Any, copied: Callable[[Any], Any]) -> None:
    model = trained(name, **({"weak_learner": learner} if learner else {}))
    twin, apart = copied(model), copied(model)
    assert same(model, twin)
    rest = STREAM.dicts()[HALF:], STREAM.y[HALF:]
    shown = go_on(model, *rest)
    assert same(twin, apart), "what one learns the other must not"
    assert go_on(twin, *rest) == shown
    assert same(model, twin)


@pytest.mark.parametrize("name", DECIDERS)
def test_a_copy_learns_decisions_of_the_original(name: str, copied: Callable[[Any], Any]) -> None:
    """That is how joblib and Ray move models: the copy is the same model, and keeps its id."""
    model = make_booster(name, K, N)
    decision = model.decide(STREAM.dicts()[0])
    twin = copied(model)
    twin.learn(decision, True)
    assert (twin.verdicts, model.verdicts) == (1, 0)
    model.learn(copied(decision), True)
    assert same(model, twin)


def test_a_copy_follows_its_own_schema(copied: Callable[[Any], Any]) -> None:
    model = trained("AdaBandit")
    twin = copied(model)
    twin.decide({"new": 1.0, "f1": "violet"})
    assert "new" not in model.schema.names
    assert "violet" not in model.schema.values("f1")
    go_on(model, STREAM.dicts(), STREAM.y)


def test_a_pickle_holds_no_table_of_potentials() -> None:
    model = make_booster("OptBandit", 10, 20)
    assert len(pickle.dumps(model)) < 40_000 < sum(array.nbytes for array in model.table)


def _play(model: Any) -> tuple[Any, np.ndarray]:
    return model, play(model, STREAM.X[HALF:], STREAM.y[HALF:]).shown


def test_joblib_moves_models() -> None:
    model = trained("AdaBandit", rows=list(STREAM.X))
    (moved, shown), *_ = joblib.Parallel(n_jobs=2, prefer="threads")(
        [joblib.delayed(_play)(copy.deepcopy(model))]
    )
    assert np.array_equal(shown, _play(model)[1])
    assert same(model, moved)


@pytest.mark.parametrize(
    ("name", "learner"), [*((name, None) for name in ALL_BOOSTERS), ("AdaBandit", Counts)]
)
def test_a_model_that_has_not_changed_gives_the_same_pickle(name: str, learner: Any) -> None:
    """Byte for byte: caches and River's checks compare pickles."""
    model = trained(name, **({"weak_learner": learner} if learner else {}))
    first = pickle.dumps(model)
    for _ in range(20):
        used = [
            np.full(1000, 7, np.uint8) for _ in range(50)
        ]  # leaves something behind in memory that is used again
        del used
        assert pickle.dumps(model) == first
