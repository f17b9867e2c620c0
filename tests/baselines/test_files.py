"""Saved, loaded, copied, and decisions that have been in a store."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Decision, PendingDecisions, io
from banditboost.errors import DecisionError, ModelFileError
from tests.baselines.models import LINEAR, NAMES, N, make
from tests.boosting.states import bytes_of, difference
from tests.boosting.streams import growing_rows, make_stream
from tests.io.models import forge

STREAM = make_stream("mixed", 3, 120)
ROWS = growing_rows(STREAM)


def go_on(model: Any, start: int, stop: int) -> list[Any]:
    shown = []
    for row, y in zip(ROWS[start:stop], STREAM.y[start:stop].tolist(), strict=True):
        decision = model.decide(row)
        model.learn(decision, decision.label == y)
        shown.append((decision.label, decision.greedy, decision.probability))
    return shown


def same(one: Any, other: Any) -> None:
    """To the last bit, also in what `difference` does not know."""
    assert difference(one, other) == []
    ours, theirs = one._arrays(), other._arrays()
    assert ours.keys() == theirs.keys()
    assert [
        name for name in ours if name != "ledger" and bytes_of(ours[name]) != bytes_of(theirs[name])
    ] == []
    assert (one.parameters, one.model_id, one.verdicts) == (other.parameters, other.model_id, other.verdicts)


@pytest.mark.parametrize("at", [0, 1, 29, 31, 61])
@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_goes_on_to_the_last_bit(name: str, at: int, tmp_path: Path) -> None:
    model = make(name, range(3))
    go_on(model, 0, at)
    model.save(tmp_path / "model.bb")
    loaded = banditboost.load(tmp_path / "model.bb")
    same(model, loaded)
    assert go_on(model, at, 120) == go_on(loaded, at, 120)
    same(model, loaded)
    assert io.describe(tmp_path / "model.bb")["class"] == name


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles_are_models_of_their_own(name: str) -> None:
    model = make(name, range(3))
    go_on(model, 0, 60)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        before = go_on(copy.deepcopy(model), 60, 120)
        assert go_on(other, 60, 120) == before
    same(model, copy.deepcopy(model))


@pytest.mark.parametrize("name", NAMES)
def test_decisions_that_were_stored_are_learned_by_the_loaded_model(name: str, tmp_path: Path) -> None:
    model = make(name, range(3))
    decisions = [model.decide(row) for row in ROWS[:60]]
    model.save(tmp_path / "model.bb")
    loaded = banditboost.load(tmp_path / "model.bb")
    for decision in decisions[::-1]:
        model.learn(decision, decision.round % 3 == 0)
        loaded.learn(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), decision.round % 3 == 0)
    same(model, loaded)
    with pytest.raises(DecisionError, match="learned before"):
        loaded.learn(decisions[0], True)


@pytest.mark.parametrize("name", NAMES)
def test_pending_decisions_take_baselines(name: str) -> None:
    pending = PendingDecisions(make(name, range(3)), max_rounds=10)
    for t, row in enumerate(ROWS[:30]):
        pending.decide(t, row)
    assert pending.learn(29, correct=True) == "learned"
    assert pending.model.verdicts == 20


@pytest.mark.parametrize("name", NAMES)
def test_parameters_make_the_same_model_again(name: str) -> None:
    model = make(name, range(3))
    again = type(model)(model.labels, **model.parameters)
    assert difference(model, again) == []
    assert again.parameters == model.parameters


def test_parameters_are_those_of_the_signature() -> None:
    assert make("Random", range(3)).parameters == {"rewards": (0.0, 1.0), "seed": 5}
    assert make("Banditron", range(3)).parameters == {
        "exploration": 0.2,
        "rewards": (0.0, 1.0),
        "seed": 5,
    }
    assert make("DiagonalSOBA", range(3), regularization=2).parameters == {
        "exploration": 0.2,
        "rewards": (0.0, 1.0),
        "seed": 5,
        "regularization": 2.0,
    }
    assert make("EpsilonGreedyForest", range(3)).parameters["n_learners"] == N
    assert "n_learners" not in make("EpsilonGreedyTree", range(3)).parameters


def test_weak_learners_are_not_given_to_those_that_have_none(tmp_path: Path) -> None:
    make("Banditron", range(3)).save(tmp_path / "model.bb")
    with pytest.raises(ModelFileError, match="a Banditron has no weak learners; leave weak_learner out"):
        banditboost.load(tmp_path / "model.bb", weak_learner=banditboost.HoeffdingTree())


def spoil(array: str, value: float) -> Any:
    def change(_header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[array] = arrays[array].copy()
        arrays[array].flat[-1] = value

    return change


DAMAGES = [
    *[(name, spoil("weights", np.nan)) for name in LINEAR],
    *[(name, spoil("scales", -1.0)) for name in LINEAR],
    ("DiagonalSOBA", spoil("weights", -0.5)),
    ("DiagonalSOBA", spoil("margins", -1.0)),
    ("Majority", spoil("weights", 1e6)),
    ("Majority", spoil("weights", 0.5)),
    *[(name, lambda _header, arrays: arrays.pop("ledger")) for name in NAMES],
    *[(name, lambda header, _arrays: header["parameters"].update(odd=1)) for name in NAMES],
    ("EpsilonGreedyTree", lambda header, _arrays: header["parameters"].pop("weak_learner")),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_damaged_files_are_refused(name: str, damage: Any, tmp_path: Path) -> None:
    model = make(name, range(3))
    go_on(model, 0, 60)
    model.save(tmp_path / "model.bb")
    with pytest.raises(ModelFileError, match="load an intact copy"):
        banditboost.load(forge(tmp_path / "model.bb", damage))
