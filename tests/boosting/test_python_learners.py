"""Weak learners written in Python: the same boosters, the same results as the slow twins, in `play` as by
hand.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from banditboost import load, play
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import play_by_hand
from tests.boosting.states import difference
from tests.boosting.streams import make_stream
from tests.boosting.twins import BANDITS, BOOSTERS, CLOSE_WEIGHT, MIXTURES, Pair, make_booster, make_twin

ROUNDS = 60 if INTERPRETED else 300


class Table:
    """Remembers the weight of every label under the signs of a row's numbers; predicts the heaviest, the
    lowest on ties.
    """

    def __init__(self) -> None:
        self.weights: dict[tuple[bool, ...], dict[int, float]] = defaultdict(dict)

    def predict(self, x: np.ndarray) -> int:
        seen = self.weights.get(self.cell(x), {})
        return max(sorted(seen), key=lambda label: seen[label], default=0)

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        seen = self.weights[self.cell(x)]
        # Rounded, as the trees do: the twin's weights differ in the last bit, and a tie must not hang on
        # that.
        seen[label] = seen.get(label, 0.0) + float(np.float32(weight))

    @staticmethod
    def cell(x: np.ndarray) -> tuple[bool, ...]:
        return tuple((np.asarray(x) > 0.5).tolist())


class NaiveTable(Table):
    """The same learner, as the twins ask for it."""

    def predict(self, x: list[float], u: Any = None) -> int:  # type: ignore[override]  # noqa: ARG002
        return super().predict(np.array(x))

    def score(self, x: list[float]) -> float:
        return float(self.predict(x))


class Neighbour:
    """Predicts the label of the nearest row it was taught. It keeps the rows as they were handed to it."""

    def __init__(self) -> None:
        self.taught: list[tuple[np.ndarray, int]] = []

    def predict(self, x: np.ndarray) -> int:
        if not self.taught:
            return 0
        distances = [np.nansum((row - x) ** 2) for row, _ in self.taught]
        return self.taught[distances.index(min(distances))][1]

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        if weight > 0.2:
            self.taught.append((x, label))


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("name", BOOSTERS)
def test_booster_equals_its_twin(name: str, k: int) -> None:
    stream = make_stream("numeric", k, ROUNDS)
    booster = make_booster(name, k, 4, weak_learner=Table, schema=stream.schema())
    pair = Pair(name, booster, make_twin(name, k, 4, lambda number, k: NaiveTable()))  # noqa: ARG005
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        pair.step(x, x.tolist(), y)
    pair.compare_weights()
    close = CLOSE_WEIGHT if name in MIXTURES else {"rel": 0.0, "abs": 0.0}
    for learner, twin in zip(booster._committee.learners, pair.twin_learners(), strict=True):
        assert learner.weights.keys() == twin.weights.keys()
        for row, weights in twin.weights.items():
            assert learner.weights[row] == pytest.approx(weights, **close)


@pytest.mark.parametrize("learner", [Table, Table(), Neighbour], ids=["class", "object", "neighbour"])
@pytest.mark.parametrize("name", BOOSTERS)
def test_play_equals_decide_and_learn(name: str, learner: Any) -> None:
    stream = make_stream("numeric", 3, 60)
    one, other = (make_booster(name, 3, 4, weak_learner=learner, schema=stream.schema()) for _ in range(2))
    expected = play_by_hand(other, stream.X, stream.y)
    assert play(one, stream.X, stream.y).shown.tolist() == expected.shown
    assert difference(one, other) == []


@pytest.mark.parametrize("name", BANDITS)
def test_late_verdicts(name: str) -> None:
    stream = make_stream("numeric", 3, ROUNDS)
    one, other = (make_booster(name, 3, 4, weak_learner=Table, schema=stream.schema()) for _ in range(2))
    expected = play_by_hand(other, stream.X, stream.y, 7)
    assert play(one, stream.X, stream.y, delay=7).shown.tolist() == expected.shown
    assert difference(one, other) == []


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_learner_that_scribbles_on_its_row_harms_nobody(name: str) -> None:
    """Every learner is shown the row as it came, whatever the one before did to it; or rows cannot be written
    on.
    """

    class Scribbler(Table):
        def predict(self, x: np.ndarray) -> int:
            label = super().predict(x)
            x[:] = 0.0
            return label

        def learn(self, x: np.ndarray, label: int, weight: float) -> None:
            super().learn(x, label, weight)
            x[:] = 0.0

    stream = make_stream("numeric", 3, ROUNDS)
    scribbled, clean = (
        make_booster(name, 3, 4, weak_learner=learner, schema=stream.schema())
        for learner in (Scribbler, Table)
    )
    with contextlib.suppress(ValueError):
        assert (
            play_by_hand(scribbled, stream.X, stream.y).shown == play_by_hand(clean, stream.X, stream.y).shown
        )


@pytest.mark.parametrize("name", BOOSTERS)
def test_boosting_learns(name: str) -> None:
    """From single cells of a table to something that beats a guess by far."""
    stream = make_stream("numeric", 3, 600)
    result = play(make_booster(name, 3, 4, weak_learner=Table, schema=stream.schema()), stream.X, stream.y)
    assert result.last_accuracy > 0.5


class Moody(Table):
    """Fails when it is told to."""

    fails = False

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        if Moody.fails:
            raise RuntimeError("not today")
        super().learn(x, label, weight)

    def to_dict(self) -> dict[str, Any]:
        return {"cells": [[list(cell), list(seen.items())] for cell, seen in self.weights.items()]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Moody:
        made = cls()
        made.weights.update(
            {tuple(cell): {int(label): weight for label, weight in seen} for cell, seen in data["cells"]}
        )
        return made


@pytest.mark.parametrize("name", BOOSTERS)
def test_what_a_learner_failed_to_learn_was_not_heard(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it fails: nothing changes, the verdict can be told again, and the model can be saved and
    loaded.
    """
    stream = make_stream("numeric", 3, 12)
    model, spared = (make_booster(name, 3, 4, weak_learner=Moody, schema=stream.schema()) for _ in range(2))
    for x, y in zip(stream.X, stream.y.tolist(), strict=True):
        decision = model.decide(x) if name in BANDITS else None
        monkeypatch.setattr(Moody, "fails", True)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="not today"):
                tell(model, decision, x, y)
        monkeypatch.setattr(Moody, "fails", False)
        tell(model, decision, x, y)
        tell(spared, spared.decide(x) if name in BANDITS else None, x, y)
    assert model.verdicts == model.rounds == 12
    assert difference(model, spared) == []
    model.save(tmp_path / "model.bb")
    assert difference(load(tmp_path / "model.bb", weak_learner=Moody), model) == []


def tell(model: Any, decision: Any, x: np.ndarray, y: int) -> None:
    if decision is None:
        model.learn_one(x, y)
    else:
        model.learn(decision, decision.label == y)


def test_a_factory_that_fails_leaves_no_learners_behind() -> None:
    made: list[Table] = []

    def make() -> Table:
        if len(made) % 4 == 2:
            made.append(Table())
            raise RuntimeError("no more")
        made.append(Table())
        return made[-1]

    model = make_booster("BinBandit", 3, 3, weak_learner=make)
    decision = model.decide({"a": 1.0})
    for _ in range(2):
        with contextlib.suppress(RuntimeError):
            model.learn(decision, correct=True)
    assert len(model._committee.learners) == model.n_groups * 3 == 3
