"""A label that goes is as one that is never allowed; one that comes back knows what it knew."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import AdaFull, Decision, GapBoost, play
from banditboost.errors import LabelError, ModelFileError
from banditboost.io.container import read, write
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference
from tests.boosting.streams import make_stream
from tests.boosting.twins import BANDITS, make_booster
from tests.io.models import reloaded, same

K, N = 4, 3
STREAM = make_stream("mixed", K, 16 if INTERPRETED else 60)
ROWS, RIGHT = STREAM.dicts(), STREAM.y.tolist()
NAMES = [*BANDITS, "GapBoost"]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(name: str) -> Any:
    return GapBoost(range(K), n_learners=N, seed=5) if name == "GapBoost" else make_booster(name, K, N)


def step(model: Any, t: int, allowed: list[int] | None = None) -> tuple[Any, float]:
    decision = model.decide(ROWS[t], allowed)
    model.learn(decision, decision.label == RIGHT[t])
    return decision.label, decision.probability


def test_a_removed_label_is_as_one_that_is_never_allowed(name: str) -> None:
    model, expected, half = made(name), made(name), len(ROWS) // 2
    for t in range(len(ROWS)):
        if t == half:
            model.remove_label(1)
        told = step(model, t)
        assert told == step(expected, t, None if t < half else [0, 2, 3])
    assert difference(model, expected) == []
    assert (model.labels, model.removed_labels) == ((0, 1, 2, 3), (1,))


def test_a_label_that_comes_back_knows_what_it_knew(name: str) -> None:
    model, expected, third = made(name), made(name), len(ROWS) // 3
    for t in range(len(ROWS)):
        if t == third:
            model.remove_label(0)
            model.remove_label(3)
        if t == 2 * third:
            model.add_label(3)
            model.add_label(0)
        away = third <= t < 2 * third
        assert step(model, t) == step(expected, t, [1, 2] if away else None)
    assert difference(model, expected) == []


def test_play_and_many_rows_at_once(name: str) -> None:
    by_hand, played = made(name), made(name)
    for model in (by_hand, played):
        model.remove_label(2)
    shown = [step(by_hand, t)[0] for t in range(len(ROWS))]
    assert play(played, ROWS, RIGHT).shown.tolist() == shown
    assert difference(by_hand, played) == []
    assert {decision.allowed for decision in played.decide_many(ROWS[:5])} == {(0, 1, 3)}
    assert played.distribution(ROWS[0])[2] == 0.0


def test_files_and_copies(name: str, tmp_path: Path) -> None:
    model = made(name)
    for t in range(8):
        step(model, t)
    model.remove_label(1)
    loaded, copied = reloaded(model, tmp_path / "a"), copy.deepcopy(model)
    assert same(model, loaded)
    assert loaded.removed_labels == copied.removed_labels == model.branch().removed_labels == (1,)
    assert [step(loaded, t) for t in range(8, 16)] == [step(model, t) for t in range(8, 16)]


def test_open_decisions_on_it_stay_valid(name: str) -> None:
    model = made(name)
    waiting = next(d for d in (model.decide(row) for row in ROWS) if d.label == 1)
    model.remove_label(1)
    model.learn(Decision.from_dict(json.loads(json.dumps(waiting.to_dict()))), True)
    assert model.verdicts == 1


def test_what_is_refused(name: str) -> None:
    model = made(name)
    before = copy.deepcopy(model)
    for odd in (7, "sports", [1], None):
        with pytest.raises(LabelError, match="cannot be removed"):
            model.remove_label(odd)
    assert difference(model, before) == []
    model.remove_label(1)
    with pytest.raises(LabelError, match="cannot be removed"):
        model.remove_label(1)
    with pytest.raises(LabelError, match="was removed; leave it out"):
        model.decide(ROWS[0], [0, 1])
    with pytest.raises(LabelError, match="was removed; leave it out"):
        model.decide_many(ROWS[:2], [None, [1]])
    model.remove_label(0)
    model.remove_label(2)
    with pytest.raises(LabelError, match="the last one"):
        model.remove_label(3)
    assert (model.rounds, model.removed_labels) == (0, (0, 1, 2))
    assert model.decide(ROWS[0]).probability == 1.0


def test_a_label_that_compares_as_arrays_do_may_join() -> None:
    class Compared(np.ndarray[Any, Any]):
        def __hash__(self) -> int:  # type: ignore[override]
            return id(self)

    model, label = GapBoost(range(3), seed=1), np.zeros(3).view(Compared)
    model.remove_label(1)
    model.add_label(label)
    assert (model.labels[-1] is label, len(model.labels)) == (True, 4)


def test_models_without_decisions_remove_none() -> None:
    assert AdaFull(["yes", "no"], n_learners=2, seed=1).removed_labels == ()
    assert not hasattr(AdaFull, "remove_label")


def test_the_summary_tells() -> None:
    model = GapBoost(range(40), seed=1)
    assert "removed" not in repr(model.summary())
    for label in range(15):
        model.remove_label(label)
    summary = model.summary()
    assert "removed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more" in repr(summary)
    assert summary.to_dict()["removed_labels"] == tuple(range(15))


@pytest.mark.parametrize("odd", [[0, 0], [1, 0], [-1], [K], list(range(K)), ["1"], [True], 3])
def test_odd_files(odd: Any, tmp_path: Path) -> None:
    model = made("GapBoost")
    model.save(tmp_path / "a")
    contents = read(tmp_path / "a")
    write(tmp_path / "b", {**contents.header, "removed": odd}, contents.arrays)
    with pytest.raises(ModelFileError):
        banditboost.load(tmp_path / "b")


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "new"]), st.integers(0, 6)), max_size=8))
def test_any_order_of_joining_and_going(changes: list[tuple[str, int]]) -> None:
    """The labels that are shown are those of a plain set, and every call does all or nothing."""
    model = made("GapBoost")
    labels, shown = list(range(K)), set(range(K))
    for what, label in changes:
        good = label in shown and len(shown) > 1 if what == "remove" else label not in shown
        if not good:
            with pytest.raises(LabelError):
                model.remove_label(label) if what == "remove" else model.add_label(label)
        elif what == "remove":
            model.remove_label(label)
            shown.remove(label)
        else:
            model.add_label(label)
            labels += [label] if label not in labels else []
            shown.add(label)
        decision = model.decide({"x": 1.0})
        assert set(decision.allowed) == shown
        assert model.labels == tuple(labels)
        assert model.removed_labels == tuple(a for a in labels if a not in shown)
        assert np.isclose(sum(decision.distribution().values()), 1.0)
