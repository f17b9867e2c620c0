"""A call happens or it does not: an exception is raised at every line of every call in turn."""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Schema, baselines, play
from banditboost.errors import DecisionError
from tests.boosting.kernels import INTERPRETED
from tests.models.interrupting import (
    FromOutside,
    Interruption,
    first_and_last,
    interrupted,
    lines_of,
    lock_is_free,
    settled_state,
)

LABELS = ["a", "b", "c"]
BOOSTERS = ["AdaBandit", "OptBandit", "BinBandit", "GapBoost", "MixBandit"]
BASELINES = ["EpsilonGreedyForest", "EpsilonGreedyTree", "DiagonalSOBA", "Banditron", "Majority", "Random"]
TOLD = ["AdaFull", "OptFull", "MixFull"]
ROWS: list[dict[str, Any]] = [{"x": float(t * 7 % 5), "colour": "rgb"[t % 3]} for t in range(12)]
DECLARED = Schema(numeric=["x", "new"], nominal={"colour": ["r", "g", "b", "w"]})
pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted kernels can be interrupted")


class Remembers:
    """A weak learner in Python."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002 (the latest label, whatever the row)
        return self.seen[-1] if self.seen else 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002 (as above)
        self.seen.append(label)


class RemembersCosts(Remembers):
    """One that takes cost vectors."""

    def learn_costs(self, x: np.ndarray, costs: np.ndarray) -> None:
        self.learn(x, int(np.argmin(costs)), 1.0)


IN_PYTHON = {"AdaBandit in Python": Remembers, "AdaBandit of costs": RemembersCosts}


def make(name: str, **options: Any) -> Any:
    if name in IN_PYTHON:
        return banditboost.AdaBandit(LABELS, n_learners=2, weak_learner=IN_PYTHON[name], seed=3, **options)
    own = {"n_learners": 2} if name in (*BOOSTERS, *TOLD, "EpsilonGreedyForest") else {}
    return getattr(banditboost if name in (*BOOSTERS, *TOLD) else baselines, name)(
        LABELS, seed=3, **own, **options
    )


def row(t: int) -> dict[str, Any]:
    return ROWS[t % len(ROWS)]


def taught(name: str, n_rounds: int = 12, **options: Any) -> Any:
    """A model that has heard of the label a only, so that the others have no learners yet where each has its
    own.
    """
    model = make(name, **options)
    for t in range(n_rounds):
        if name in TOLD:
            model.learn_one(row(t), "a")
        else:
            decision = model.decide(row(t))
            if decision.label == "a":
                model.learn(decision, t % 4 != 0)
    return model


def open_decision(model: Any, label: str) -> Any:
    """A decision for a label that waits for its verdict."""
    for t in range(1000):
        decision = model.decide(row(t))
        if decision.label == label:
            return decision
    raise AssertionError(f"{label} was never shown")


Call = Callable[[Any], object]


def calls_on(model: Any) -> dict[str, Call]:
    """What may be interrupted, for a model that decides. It opens decisions on the model."""
    known, unheard = open_decision(model, "a"), open_decision(model, "b")
    several = [model.decide(row(t)) for t in range(4)]
    branch = model.branch()
    elsewhere = branch.decide({"x": 1.0, "colour": "w", "new": 2.0})
    calls: dict[str, Call] = {
        "decide": lambda m: m.decide(row(1)),
        "decide for an array": lambda m: m.decide(np.array([1.0, 2.0, 1.0])) if m.schema.declared else None,
        "decide with what is new": lambda m: m.decide({"x": 1, "colour": "w", "new": 3.0}),
        "decide_many": lambda m: m.decide_many([row(0), {"new": 1.0}, {"colour": "w", "x": 2.0}]),
        "learn": lambda m: m.learn(known, True),
        "learn what has no learners yet": lambda m: m.learn(unheard, True),
        "learn a reward": lambda m: m.learn(known, reward=0.3),
        "learn a reward of what has no learners yet": lambda m: m.learn(unheard, reward=0.6),
        "learn_many": lambda m: m.learn_many([*several, unheard], [True, False, True, False, True]),
        "learn_many rewards": lambda m: m.learn_many([*several[:2], unheard], rewards=[0.2, 1.0, 0.7]),
        "learn what a branch decided": lambda m: m.learn(elsewhere, True),
        "learn many of both": lambda m: m.learn_many([several[0], elsewhere, known], [True, False, True]),
        "distribution": lambda m: m.distribution(row(3)),
        "summary": lambda m: m.summary(),
        "pickle": lambda m: pickle.dumps(m),
        "branch": lambda m: m.branch(),
    }
    if not model.labels_are_fixed:
        calls["decide among some"] = lambda m: m.decide(row(2), allowed=["a", "c"])
        calls["add_label"] = lambda m: m.add_label("d")
        calls["remove_label"] = lambda m: m.remove_label("b") if not m.removed_labels else None
    if hasattr(model, "exploration") and not isinstance(model, baselines.Random):
        calls["exploration"] = lambda m: setattr(m, "exploration", 0.2)
    return calls


def calls_when_told(model: Any) -> dict[str, Call]:
    """What may be interrupted, for a model that is told the right label."""
    calls: dict[str, Call] = {
        "learn_one": lambda m: m.learn_one(row(1), "b"),
        "learn_one with what is new": lambda m: m.learn_one({"x": 1, "colour": "w", "new": 3.0}, "b"),
        "learn_many": lambda m: m.learn_many([row(0), {"new": 1.0}, row(1)], ["b", "c", "a"]),
        "predict_one": lambda m: m.predict_one(row(1)),
        "predict_proba_one": lambda m: m.predict_proba_one(row(1)),
        "summary": lambda m: m.summary(),
        "pickle": lambda m: pickle.dumps(m),
    }
    if not model.labels_are_fixed:
        calls["add_label"] = lambda m: m.add_label("d")
    return calls


def again(call: Call, model: Any) -> None:
    """The same call once more; a verdict that was learned is refused."""
    with contextlib.suppress(DecisionError):
        call(model)


def check_lines(base: Any, name: str, call: Call, chosen: Callable[[list[str]], Iterable[int]]) -> None:
    """Interrupt a call at some of its lines."""
    before = settled_state(copy.deepcopy(base))
    call(copy.deepcopy(base))  # compiles, and fills what is remembered of types
    done = copy.deepcopy(base)
    lines = lines_of(lambda: call(done))
    after = settled_state(done)
    for at in chosen(lines):
        model = copy.deepcopy(base)
        where = interrupted(partial(call, model), at)
        assert lock_is_free(model), where
        seen = model.rounds, model.verdicts
        found = settled_state(model)
        assert seen == (model.rounds, model.verdicts), where
        assert found in (before, after), (where, [key for key in before if found[key] != after[key]])
        if name.startswith("learn") and (found == before or hasattr(model, "decide")):
            again(call, model)
            assert settled_state(model) == after, where


def every(lines: list[str]) -> Iterable[int]:
    return range(1, len(lines) + 1)


CHOSEN = [
    pytest.param(first_and_last, id="first and last time"),
    pytest.param(every, id="every time", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("schema", [None, DECLARED], ids=["open", "declared"])
@pytest.mark.parametrize("name", [*BOOSTERS, *BASELINES])
def test_a_call_happens_or_it_does_not(name: str, schema: Schema | None, chosen: Any) -> None:
    base = taught(name, schema=schema)
    for told, call in calls_on(base).items():
        check_lines(base, told, call, chosen)


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("schema", [None, DECLARED], ids=["open", "declared"])
@pytest.mark.parametrize("name", TOLD)
def test_a_call_with_the_right_label_happens_or_it_does_not(
    name: str, schema: Schema | None, chosen: Any
) -> None:
    base = taught(name, schema=schema)
    for told, call in calls_when_told(base).items():
        check_lines(base, told, call, chosen)


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("name", [*BOOSTERS, *BASELINES])
def test_the_first_calls_of_all(name: str, chosen: Any) -> None:
    """The first decision begins a run and brings the features, the first verdict makes room for trees."""
    base = make(name)
    check_lines(base, "decide", lambda m: m.decide(row(0)), chosen)
    decision = base.decide(row(0))
    check_lines(base, "learn", lambda m: m.learn(decision, True), chosen)


@pytest.mark.parametrize("name", ["AdaBandit", "BinBandit", "GapBoost"])
def test_a_column_for_which_rows_have_room(name: str) -> None:
    """The statistics of leaves stay where they are, and are written into."""
    base = make(name)
    play(
        base,
        [{f"f{i}": float((t * 7 + i * t) % 11) for i in range(6)} for t in range(300)],
        [LABELS[t % 3] for t in range(300)],
    )
    for late in range(3):
        check_lines(base, "decide", lambda m, late=late: m.decide({f"late{late}": 2.0}), first_and_last)
        base.decide({f"late{late}": 2.0})


@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("name", IN_PYTHON)
def test_learners_in_python(name: str, chosen: Any) -> None:
    """The booster has heard a verdict or not; what happens inside of a learner is the learner's."""
    base = make(name)
    for t in range(5):
        base.learn(base.decide(row(t)), t % 2 == 0)
    decision = base.decide(row(1))
    before = settled_state(copy.deepcopy(base))
    done = copy.deepcopy(base)
    lines = lines_of(lambda: done.learn(decision, True))
    after = settled_state(done)
    for at in chosen(lines):
        model = copy.deepcopy(base)
        where = interrupted(lambda: model.learn(decision, True), at)  # noqa: B023 (called at once)
        assert lock_is_free(model), where
        found = settled_state(model)
        assert {**found, "learners": 0} in ({**before, "learners": 0}, {**after, "learners": 0}), where
        again(lambda m: m.learn(decision, True), model)
        assert {**settled_state(model), "learners": 0} == {**after, "learners": 0}


@pytest.mark.parametrize("name", ["GapBoost", "AdaBandit", "Majority"])
def test_no_exception_from_outside_is_lost(name: str) -> None:
    """Wherever Python code runs, also when an object goes: a time limit that strikes once must be heard."""
    base = taught(name)

    def running() -> Any:
        model = copy.deepcopy(base)
        model.decide(row(0))
        return model

    for call in (lambda m: m.decide({"x": 1, "colour": "w", "new": 3.0}), lambda m: m.decide_many([row(1)])):
        call(running())
        for at in first_and_last(lines_of(partial(call, running()), within="")):
            interruption = Interruption(at, within="")
            interruption.strike(partial(call, running()))
            # Objects may go at other times than when lines were counted: then there are fewer, and none is struck.
            assert interruption.came_out or not interruption.where, interruption.where


# Streams


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "dicts") for name in (*BOOSTERS, "Majority", "OptFull")] + [("GapBoost", "matrix")],
)
def test_a_stream_that_is_played_on_is_as_one_that_was_not_interrupted(name: str, kind: str) -> None:
    """Features and values join on the way, and labels get their learners."""
    rows: Any = [
        {**row(t), **({"new": 1.0} if t > 4 else {}), **({"colour": "w"} if t == 7 else {})} for t in range(9)
    ]
    X = rows if kind == "dicts" else np.array([[float(t % 5), float(t % 3)] for t in range(9)])
    y = [LABELS[t % 3] for t in range(9)]
    whole = make(name)
    lines = lines_of(lambda: play(whole, X, y))
    expected = settled_state(whole)
    for at in first_and_last(lines):
        model = make(name)
        where = interrupted(lambda: play(model, X, y), at)  # noqa: B023 (called at once)
        assert lock_is_free(model), where
        n = model.rounds
        play(model, X[n:], y[n:])
        assert settled_state(model) == expected, where


def test_a_stream_tells_how_far_it_came() -> None:
    def report(played: int) -> None:
        if played == 20_000:
            raise FromOutside

    model = make("Majority")
    X, y = np.zeros((50_000, 1)), ["a"] * 50_000
    with pytest.raises(FromOutside) as raised:
        play(model, X, y, progress=report)
    assert raised.value.__notes__ == ["play stopped after 20000 of 50000 rounds"]
    assert (model.rounds, model.verdicts) == (20_000, 20_000)


# Files


@pytest.mark.filterwarnings("ignore:unclosed file", "ignore:Exception ignored")  # Python closes it
@pytest.mark.parametrize("name", ["GapBoost", "Majority"])
def test_a_file_is_the_old_one_or_the_new_one(name: str, tmp_path: Path) -> None:
    model, path = taught(name), tmp_path / "model.bb"
    model.save(path)
    old = path.read_bytes()
    model.learn(open_decision(model, "a"), True)
    state = settled_state(model)
    model.save(tmp_path / "new.bb")
    new = (tmp_path / "new.bb").read_bytes()
    for at in first_and_last(lines_of(lambda: model.save(tmp_path / "new.bb"))):
        path.write_bytes(old)
        where = interrupted(lambda: model.save(path), at)
        assert path.read_bytes() in (old, new), where
        assert lock_is_free(model), where
    assert settled_state(model) == state


# One after the other


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BOOSTERS)
def test_interrupted_again_and_again(name: str, seed: int, tmp_path: Path) -> None:
    """Also while it finishes what an interrupted call has begun."""
    luck = np.random.default_rng(seed)
    model = make(name)
    waiting: list[Any] = []
    for t in range(150):
        before = model.rounds, model.verdicts
        x = {**row(t), **({f"f{t // 10}": 1.0} if t % 3 == 0 else {})}
        if waiting and luck.random() < 0.5:
            told = waiting.pop(int(luck.integers(len(waiting))))
            call: Call = lambda m, told=told, t=t: m.learn(told, t % 2 == 0)  # noqa: E731
        else:
            call = lambda m, x=x: waiting.append(m.decide(x))  # noqa: E731
        interrupted(partial(call, model), int(luck.integers(1, 400)))
        for at in luck.integers(1, 60, 2).tolist():
            interrupted(model.summary, at)
        model.summary()
        if (model.rounds, model.verdicts) == before:
            call(model)
    assert lock_is_free(model)
    model.save(tmp_path / "model.bb")
    assert settled_state(banditboost.load(tmp_path / "model.bb")) == settled_state(model)
