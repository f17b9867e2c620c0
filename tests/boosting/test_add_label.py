"""A label that joins a running model: what changes, what stays, and that open decisions are learned as what
they were.
"""

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
from banditboost import AdaBandit, BinBandit, Decision, PendingDecisions, play
from banditboost.boosting.potential import make_table
from banditboost.errors import DecisionError, LabelError
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import BANDITS, BOOSTERS, GAMMA, RHO, make_booster
from tests.io.models import go_on, reloaded, same
from tests.weak_learners.invariants import check_committee

K, N = 3, 4
STREAM = make_stream("mixed", K, 24 if INTERPRETED else 80)


@pytest.fixture(params=BOOSTERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def grown(name: str, **options: Any) -> Any:
    """A model of K labels that began with one less."""
    model = make_booster(name, K - 1, N, **options)
    model.add_label(K - 1)
    return model


def test_a_label_that_joins_before_the_first_row_has_always_been_there(name: str) -> None:
    model, expected = grown(name), make_booster(name, K, N)
    assert model.labels == expected.labels == (0, 1, 2)
    assert difference(model, expected) == []
    rows = STREAM.dicts()
    assert go_on(model, rows, STREAM.y) == go_on(expected, rows, STREAM.y)
    assert difference(model, expected) == []


def test_a_label_that_joins_later(name: str, tmp_path: Path) -> None:
    """Nothing learned is lost; the model goes on, also from a file, and the compiled loop plays as one row
    after the other does.
    """
    rows, half = STREAM.dicts(), len(STREAM.y) // 2
    model = make_booster(name, 2, N)
    go_on(model, rows[:half], STREAM.y % 2)
    before = state_of(model)
    model.add_label("new")
    changed = {part for part, value in state_of(model).items() if value != before[part]}
    # Leaves have answers ready of two classes only.
    assert changed == {"settings", "tally"} | ({"head", "steps"} if name != "BinBandit" else set())
    assert model.labels == (0, 1, "new")
    loaded, played = reloaded(model, tmp_path / "a"), copy.deepcopy(model)
    assert same(model, loaded)
    right = np.array([0, 1, "new"], object)[STREAM.y[half:]]
    assert go_on(model, rows[half:], right) == go_on(loaded, rows[half:], right)
    assert same(model, loaded)
    play(played, rows[half:], right)
    assert difference(model, played) == []
    check_committee(model._committee)


@pytest.mark.skipif(INTERPRETED, reason="takes a thousand rounds")
def test_the_new_label_is_learned(name: str) -> None:
    model = make_booster(name, 2, 10)
    rows = [{"x": str(t % 3)} for t in range(2400)]
    play(
        model,
        [row for row in rows[:600] if row["x"] != "2"],
        [int(row["x"]) for row in rows[:600] if row["x"] != "2"],
    )
    model.add_label(2)
    assert play(model, rows, [int(row["x"]) for row in rows]).greedy[-300:].tolist() == [0, 1, 2] * 100
    if name == "BinBandit":
        assert model.n_groups == 3


# What the number of labels decides


def test_exploration_spreads() -> None:
    for name in BANDITS:
        model = grown(name)
        shares = sorted(model.decide(STREAM.X[0]).distribution().values())
        assert shares == pytest.approx([RHO / 2, RHO / 2, 1 - RHO])


def test_the_potential_is_made_anew() -> None:
    for name in ("OptBandit", "OptFull"):
        model, table = grown(name), make_table(N, K, GAMMA)
        for part in (
            "keys",
            "partitions",
            "weights",
            "factors",
            "plan",
        ):  # values are written when a state is met
            assert np.array_equal(getattr(model.table, part), getattr(table, part))


def test_a_step_of_ones_own_stays() -> None:
    for model in (BinBandit(["a", "b"], step=0.25, seed=1), BinBandit(["a", "b"], seed=1)):
        usual = model.parameters["step"] != 0.25
        model.add_label("c")
        assert model.parameters["step"] == (
            BinBandit(["a", "b", "c"], seed=1).parameters["step"] if usual else 0.25
        )


class Counter:
    """A weak learner that says what it was last taught."""

    def __init__(self) -> None:
        self.last = 0

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return self.last

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002
        self.last = label


@pytest.mark.parametrize("name", ["AdaFull", "OptFull", "MixFull"])
def test_learners_written_in_python(name: str) -> None:
    model = getattr(banditboost, name)(["a", "b"], n_learners=3, weak_learner=Counter, seed=1)
    model.add_label("c")
    for _ in range(20):
        model.learn_one({"x": 1.0}, "c")
    assert model.predict_one({"x": 1.0}) == "c"


# Open decisions


@pytest.mark.parametrize("name", BANDITS)
def test_open_decisions_stay_valid(name: str, tmp_path: Path) -> None:
    """As they are, through JSON, from a file; all with the same result, and with what they said of their own
    time.
    """
    model = make_booster(name, 2, N)
    decisions = model.decide_many(STREAM.X[:20], [[t % 2] if t % 4 == 0 else None for t in range(20)])
    stored = [json.loads(json.dumps(decision.to_dict())) for decision in decisions]
    model.add_label("new")
    loaded = reloaded(model, tmp_path / "a")
    for decision, data in zip(decisions, stored, strict=True):
        assert list(decision.distribution()) == [0, 1]
        assert Decision.from_dict(data, model.labels).distribution() == decision.distribution()
        model.learn(decision, decision.label == 1)
        loaded.learn(Decision.from_dict(data), decision.label == 1)
    assert same(model, loaded)
    assert model.verdicts == 20


def test_open_decisions_charge_the_experts_for_what_they_said() -> None:
    """Ties were broken among the labels of that time, and must be when the verdict comes: Hedge then moves as
    if nothing had joined.
    """
    plain, other = (make_booster("AdaBandit", 2, N) for _ in range(2))
    pairs = [(plain.decide(x), other.decide(x)) for x in STREAM.X[:20]]
    other.add_label("new")
    for decision, waiting in pairs:
        plain.learn(decision, decision.label == 1)
        other.learn(waiting, decision.label == 1)
    assert len(set(plain.expert_weights.tolist())) > 1
    assert np.array_equal(plain.expert_weights, other.expert_weights)


def test_open_decisions_in_a_store() -> None:
    pending = PendingDecisions(AdaBandit(["a", "b"], n_learners=3, seed=1))
    pending.decide("visit", {"x": 1.0})
    pending.model.add_label("c")  # type: ignore[attr-defined]
    assert pending.learn("visit", True) == "learned"


@pytest.mark.parametrize("name", BANDITS)
def test_a_decision_among_more_labels_than_there_are(name: str) -> None:
    """A file from before the label joined does not know it."""
    model = make_booster(name, 2, N)
    before = copy.deepcopy(model)
    model.add_label(2)
    decision = model.decide(STREAM.X[0])
    before.decide(STREAM.X[0])
    state = state_of(before)
    for made in (decision, Decision.from_dict(decision.to_dict())):
        with pytest.raises(DecisionError, match="another run"):
            before.learn(made, True)
        assert state_of(before) == state


# Refusals


@pytest.mark.parametrize(
    ("label", "message"), [(0, "twice"), (True, "twice"), ([], "not hashable"), ({"a": 1}, "not hashable")]
)
def test_refusals(name: str, label: Any, message: str) -> None:
    model = make_booster(name, K, N)
    before = state_of(model)
    with pytest.raises(LabelError, match=message):
        model.add_label(label)
    assert state_of(model) == before
    assert model.labels == (0, 1, 2)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=2),
            st.integers(0, 5),
            st.floats(allow_nan=False),
            st.none(),
            st.tuples(st.integers(0, 2)),
        ),
        max_size=6,
    )
)
def test_any_labels_join_once(labels: list[Any]) -> None:
    model = AdaBandit(["a", "b"], n_learners=1, seed=1)
    for label in labels:
        known = model.labels
        if label in known:
            with pytest.raises(LabelError, match="twice"):
                model.add_label(label)
            assert model.labels == known
        else:
            model.add_label(label)
            assert model.labels == (*known, label)
            assert model.decide({"x": 1.0}, [label]).label is label
