"""The last round of a model: files beyond it are refused, and so is whoever would go beyond it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import baselines, play
from banditboost.errors import DecisionError, ModelFileError
from banditboost.inspection.tally import BY_LABEL, EXPLORED, HEARD, PER_LABEL, WINDOW
from banditboost.io.header import MOST_ROUNDS
from banditboost.memo import ROUND
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS, make_booster
from tests.io.models import forge

RING = (1 << 24) >> 3  # bytes of a ledger that has come round
FULL = ["AdaFull", "OptFull", "MixFull"]
LEFT = 5  # rounds
X, Y = [{"x": float(t)} for t in range(LEFT + 1)], [t % 3 for t in range(LEFT + 1)]
REFUSED = rf"round {MOST_ROUNDS}, and 1 round more would lead beyond the last one, {MOST_ROUNDS}; make a new"


def make(name: str) -> Any:
    return (
        getattr(baselines, name)([0, 1, 2], seed=1) if name in baselines.__all__ else make_booster(name, 3, 2)
    )


def aged(name: str, path: Path, rounds: int) -> Path:
    """The file of a model that says that it has decided so many times."""
    model = make(name)
    play(model, X, Y)
    model.save(path)

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        header["rounds"] = rounds
        if "identity" in header:
            header["identity"]["runs"] = [[0, "07" * 8]]
            arrays["ledger"] = np.zeros(RING, np.uint8)

    return forge(path, change)


def refused_as_it_is(model: Any, call: Callable[[], Any], told: str) -> None:
    before, rounds = copy.deepcopy(model), model.rounds
    with pytest.raises(DecisionError, match=told):
        call()
    assert model.rounds == rounds
    assert difference(model, before) == []


@pytest.mark.parametrize("rounds", [MOST_ROUNDS + 1, 2**53 - 1, 2**53, 2**62, 2**64])
@pytest.mark.parametrize("name", ["AdaBandit", "Majority", "AdaFull"])
def test_files_of_later_rounds_are_refused(name: str, rounds: int, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=rf"'rounds' is {rounds}, not from 0 to {MOST_ROUNDS}; load an"):
        banditboost.load(aged(name, tmp_path / "model", rounds))


@pytest.mark.parametrize("name", [*DECIDERS, *baselines.__all__])
def test_the_last_rounds_of_models_that_decide(name: str, tmp_path: Path) -> None:
    model: Any = banditboost.load(aged(name, tmp_path / "model", MOST_ROUNDS - LEFT))
    refused_as_it_is(model, lambda: play(model, X, Y), f"and {LEFT + 1} rounds more would lead beyond")
    refused_as_it_is(model, lambda: model.decide_many(X), f"and {LEFT + 1} rounds more would lead beyond")
    decisions = [model.decide(X[0]), *model.decide_many(X[:2])]
    play(model, X[:1], Y[:1])
    decisions.append(model.decide({"joins": 1.0}))
    assert [decision._memo[ROUND] for decision in decisions] == [MOST_ROUNDS - left for left in (5, 4, 3, 1)]
    for call in (
        lambda: model.decide(X[0]),
        lambda: model.decide({"new": 1.0}),
        lambda: model.decide_many(X[:1]),
        lambda: play(model, X[:1], Y[:1]),
        lambda: model.branch().decide(X[0]),
    ):
        refused_as_it_is(model, call, REFUSED)
    assert model.rounds == MOST_ROUNDS
    assert "new" not in model.schema.names
    assert play(model, [], []).correct.size == 0
    model.learn_many(decisions, [True, False, True, False])
    model.save(tmp_path / "again")
    again: Any = banditboost.load(tmp_path / "again")
    assert (again.rounds, again.verdicts) == (MOST_ROUNDS, model.verdicts)
    refused_as_it_is(again, lambda: again.decide(X[0]), REFUSED)


@pytest.mark.parametrize("name", FULL)
def test_the_last_rounds_of_models_that_are_told_labels(name: str, tmp_path: Path) -> None:
    model: Any = banditboost.load(aged(name, tmp_path / "model", MOST_ROUNDS - LEFT))
    refused_as_it_is(model, lambda: play(model, X, Y), f"and {LEFT + 1} rounds more would lead beyond")
    refused_as_it_is(model, lambda: model.learn_many(X, Y), f"and {LEFT + 1} rounds more would lead beyond")
    model.learn_one(X[0], Y[0])
    model.learn_one({"joins": 1.0}, Y[0])
    model.learn_many(X[:2], Y[:2])
    play(model, X[:1], Y[:1])
    for call in (
        lambda: model.learn_one(X[0], Y[0]),
        lambda: model.learn_one({"new": 1.0}, Y[0]),
        lambda: model.learn_many(X[:1], Y[:1]),
        lambda: play(model, X[:1], Y[:1]),
    ):
        refused_as_it_is(model, call, REFUSED)
    assert "new" not in model.schema.names
    model.predict_one(X[0])
    model.save(tmp_path / "again")
    assert banditboost.load(tmp_path / "again").rounds == MOST_ROUNDS


def with_verdicts_elsewhere(path: Path, elsewhere: int) -> Path:
    """The file of a baseline that says so of its branches, after as many rounds as the latest verdicts."""
    model = make("Majority")
    play(model, np.zeros((WINDOW, 1)), np.zeros(WINDOW, np.int64))
    model.save(path)

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        header["verdicts"] += elsewhere
        header["identity"]["verdicts_elsewhere"] = elsewhere
        arrays["tally"][HEARD] += elsewhere
        arrays["tally"][EXPLORED] += elsewhere
        arrays["by_label"].flat[0] += elsewhere
        arrays["weights"][1, 0] += elsewhere

    return forge(path, change)


def test_verdicts_of_branches_are_counted_up_to_their_last(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=rf"'verdicts_elsewhere' is {MOST_ROUNDS + 1}, not from 0 to"):
        banditboost.load(with_verdicts_elsewhere(tmp_path / "more", MOST_ROUNDS + 1))
    model: Any = banditboost.load(with_verdicts_elsewhere(tmp_path / "model", MOST_ROUNDS - 1))
    branch = model.branch()
    told = branch.decide_many(np.zeros((2, 1)))
    verdicts = model.verdicts
    with pytest.raises(
        DecisionError, match=rf"verdicts of its branches, and learns {MOST_ROUNDS} at most; make"
    ):
        model.learn_many(told, [True, True])
    assert model.verdicts == verdicts
    model.learn(told[0], True)
    with pytest.raises(DecisionError, match=rf"has learned {MOST_ROUNDS} verdicts of its branches"):
        model.learn(told[1], True)
    own = model.decide(np.zeros(1))
    model.learn(own, True)
    assert model.verdicts == verdicts + 2
    assert model._tally[HEARD] == model._tally[BY_LABEL::PER_LABEL].sum() == model.verdicts
    model.save(tmp_path / "again")
    assert banditboost.load(tmp_path / "again").verdicts == model.verdicts
