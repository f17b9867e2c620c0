"""What `model.schema` hands out is the user's own, and a row never writes beyond its memo."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

from banditboost import AdaFull, baselines
from banditboost.errors import FeatureError
from banditboost.memo import ROUND, VOTES
from banditboost.rows.checking import open_memo
from banditboost.rows.features import feature_table
from banditboost.rows.schema import Schema
from tests.boosting.twins import DECIDERS, make_booster

MANY = {f"z{i}": 1.0 for i in range(300)}


def make(name: str) -> Any:
    """A small model with its usual labels."""
    if name in DECIDERS:
        return make_booster(name, 3, 2)
    return getattr(baselines, name)([0, 1, 2], seed=1)


def spoil(schema: Any) -> None:
    """All that can be done to a schema by its public names."""
    schema.admit(MANY)
    schema.code({"new": "value"})
    schema.declared, schema.version = True, schema.version - 1


@pytest.mark.parametrize("name", [*DECIDERS, *baselines.__all__])
def test_what_is_done_to_the_schema_does_not_reach_the_model(name: str) -> None:
    model, twin = make(name), make(name)
    for t in range(8):
        for one in (model, twin):
            one.learn(one.decide({"x": float(t), "colour": "red"}), t % 2 == 0)
        spoil(model.schema)
    assert model.schema.to_dict() == twin.schema.to_dict()
    for row in ({"z0": 1.0}, collections.OrderedDict(z0=1.0, x=2.0), {"late": "yes"}):
        one, other = model.decide(row), twin.decide(row)
        assert (one.label, one.probability) == (other.label, other.probability)
        model.learn(one, True)
        twin.learn(other, True)
    assert model.schema.names == ("x", "colour", "z0", "late")
    assert [array.tobytes() for array in model._arrays().values()] == [
        array.tobytes() for array in twin._arrays().values()
    ]


def test_the_schema_of_a_booster_that_is_told_labels() -> None:
    model = AdaFull(["a", "b"], n_learners=2, seed=1)
    model.learn_one({"x": 1.0}, "a")
    spoil(model.schema)
    model.learn_one(collections.OrderedDict(z0=1.0), "b")
    assert model.schema.names == ("x", "z0")


def test_the_schema_of_a_model_serves_for_another_one() -> None:
    model = make("AdaBandit")
    model.decide({"x": 1.0, "colour": "red"})
    other = AdaFull(["a", "b"], n_learners=2, schema=model.schema, seed=1)
    assert other.schema.to_dict() == model.schema.to_dict()


def test_no_schema_takes_the_place_of_the_models() -> None:
    model: Any = make("AdaBandit")
    with pytest.raises(AttributeError):
        model.schema = Schema()


@pytest.mark.parametrize("n_values", [2, 3, 4, 9, 1000])
@pytest.mark.parametrize("n_places", [0, 2, 3, 4])
def test_a_memo_is_written_up_to_its_end_at_most(n_values: int, n_places: int) -> None:
    """The memo lies in a longer array, whose other numbers stay as they are."""
    features = feature_table(Schema(numeric=["a", "b", "c"]))
    around = np.full(VOTES + 2000, -5.0)
    memo = around[: VOTES + n_places]
    row = np.full(n_values, 7.0)
    bad = int(open_memo(features, row, 3, memo, VOTES))
    assert bad == (n_places if n_values > n_places else -1)
    assert memo[ROUND] == 3
    assert (around[len(memo) :] == -5.0).all()
    assert (memo[VOTES:] == (-5.0 if bad >= 0 else 7.0))[: min(n_values, n_places)].all()


def test_a_row_that_is_too_long_is_told() -> None:
    schema = Schema(numeric=["a"])
    with pytest.raises(FeatureError, match=r"a value at place 2 where 1 are expected; give one for each"):
        raise schema.bad_position(1, 5.0)
