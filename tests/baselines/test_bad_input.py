"""What is refused changes nothing and names a remedy; what is accepted gives a valid decision."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from banditboost import Decision, HoeffdingTree, Schema, baselines, play
from banditboost.errors import BanditBoostError, DecisionError, FeatureError, LabelError, ParameterError
from tests.baselines.models import NAMES, make
from tests.boosting.forged import forged
from tests.boosting.states import bytes_of, state_of
from tests.test_bad_input import DAMAGES, REMEDY

LABELS = ["a", "b", "c"]
pytestmark = pytest.mark.parametrize("name", NAMES)


def warmed(name: str) -> Any:
    model = make(name, LABELS)
    for t in range(18):
        decision = model.decide([{"n": 1.0, "s": "x"}, {"n": 2.5, "s": "y"}, {"n": -1.0}][t % 3])
        model.learn(decision, decision.label == LABELS[t % 3])
    return model


def refused(model: Any, kind: type[Exception], call: Any) -> None:
    before = state_of(model)
    with pytest.raises(kind) as refusal:
        call(model)
    assert isinstance(refusal.value, BanditBoostError)
    assert REMEDY.search(str(refusal.value)), refusal.value
    assert state_of(model) == before


BAD_ROWS = [
    {"n": math.inf}, {"n": 10**400}, {"n": b"text"}, {"n": [1.0]}, {"new": math.inf, "n": 1.0}, {"new": 1j}, 5,
    None, "text", [], [1.0],
    np.zeros(2), np.zeros((1, 2)),
]  # fmt: skip
GOOD_ROWS = [
    {},
    {"n": None},
    {"n": math.nan, "s": None},
    {"n": "text"},
    {"n": "3"},
    {"s": 5.0},
    {"new": 0.0},
    {"s": "z"},
    {"s": True},
    {"late": "x", "n": -0.0},
]


def test_bad_rows(name: str) -> None:
    model = warmed(name)
    for row in BAD_ROWS:
        refused(model, FeatureError, lambda model, row=row: model.decide(row))


def test_good_rows(name: str) -> None:
    model = warmed(name)
    for row in [*GOOD_ROWS, *GOOD_ROWS]:
        decision = model.decide(row)
        assert decision.label in LABELS
        model.learn(decision, correct=decision.label == "a")
    assert model.verdicts == 18 + 2 * len(GOOD_ROWS)


def test_bad_streams(name: str) -> None:
    model = warmed(name)
    for X in (None, 5, [{"n": 1.0}, {"n": math.inf}], np.zeros((2, 3))):
        refused(model, FeatureError, lambda model, X=X: play(model, X, ["a", "b"]))
    refused(model, LabelError, lambda model: play(model, [{"n": 1.0}], ["z"]))


def test_bad_verdicts(name: str) -> None:
    model = warmed(name)
    decision = model.decide({"n": 1.0})
    for verdict in (None, 2, "yes", np.int64(-1), 0.5, [True]):
        refused(model, DecisionError, lambda model, verdict=verdict: model.learn(decision, verdict))
    other = make(name, LABELS).decide({"n": 1.0})
    for wrong in (None, "a", other):
        refused(model, DecisionError, lambda model, wrong=wrong: model.learn(wrong, True))
    model.learn(decision, np.True_)
    refused(model, DecisionError, lambda model: model.learn(decision, True))


WAYS_TO_DAMAGE = [
    "short", "long", "half round", "future", "past", "label 7", "greedy -1",
    "no chance", "rate 7", "infinite", "code 99", "code -1", "half a code", "text", "no list",
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS_TO_DAMAGE)
def test_damaged_decisions(name: str, how: str) -> None:
    model = warmed(name)
    decision = model.decide({"n": 1.0, "s": "x"})
    data = decision.to_dict()
    before = state_of(model)
    with pytest.raises(DecisionError):
        model.learn(
            Decision.from_dict(forged(data, memo=DAMAGES[how](data["memo"])), tuple(LABELS)), correct=True
        )
    assert state_of(model) == before
    model.learn(Decision.from_dict(data, tuple(LABELS)), correct=True)


def test_bad_labels(name: str) -> None:
    for labels in (["a", "a"], [["a"], ["b"]], ["a"], [], "ab", b"ab", 5, None):
        with pytest.raises(LabelError):
            make(name, labels)
    assert make(name, (label for label in "ab")).labels == ("a", "b")


def use(name: str, **parameters: Any) -> None:
    """Weak learners are made when the first verdict comes."""
    model = make(name, LABELS, **parameters)
    model.learn(model.decide({}), True)


def test_bad_parameters(name: str) -> None:
    bad: dict[str, list[Any]] = {"seed": [-1, 0.5, "x"], "schema": [5, {"n": "numeric"}]}
    own = {
        "exploration": [-0.1, 1.0, math.nan, None, "0.1", True],
        "regularization": [0.0, 1e-101, -1.0, math.nan, None],
        "n_learners": [0, 1.5, None],
        "max_memory": [0, 2.0**30],
        "weak_learner": [5, "tree"],
    }
    taken = make(name, LABELS).parameters
    bad |= {parameter: values for parameter, values in own.items() if parameter in taken}
    for parameter, values in bad.items():
        for value in values:
            with pytest.raises(ParameterError, match=rf"{parameter}.*(give|must)"):
                use(name, **{parameter: value})
    for parameter in {"clip", "estimator", "edge", "tie_tolerance", *own} - set(taken):
        with pytest.raises(TypeError, match=parameter):
            make(name, LABELS, **{parameter: 1})


def test_a_declared_schema_is_kept_apart(name: str) -> None:
    schema = Schema(numeric=["n"], nominal={"s": ["x"]})
    model = make(name, LABELS, schema)
    model.learn(model.decide({"n": 1.0, "s": "y"}), True)
    assert (model.schema.n_values(), schema.n_values()) == ([0, 2], [0, 1])
    refused(model, FeatureError, lambda model: model.decide({"other": 1.0}))


class Constant:
    """A weak learner written elsewhere."""

    def predict(self, x: np.ndarray) -> int:
        return int(x[0] > 0)

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        """Nothing to learn."""


def test_weak_learners_of_others(name: str) -> None:
    if "weak_learner" not in make(name, LABELS).parameters:
        pytest.skip("has no weak learners")
    model = make(name, LABELS, weak_learner=Constant)
    play(model, np.array([[1.0], [-1.0]] * 10), ["a", "b"] * 10)
    assert model.verdicts == 20
    assert make(name, LABELS, weak_learner=HoeffdingTree()).weak_learner == HoeffdingTree()


def test_exploration_of_zero_warns(name: str) -> None:
    if name == "Random":
        assert baselines.Random(LABELS).exploration == pytest.approx(2 / 3)
        return
    with pytest.warns(UserWarning, match="exploration is 0"):
        make(name, LABELS, exploration=0.0)


def test_decide_changes_nothing_that_was_learned(name: str) -> None:
    model = warmed(name)
    before = {part: bytes_of(array) for part, array in model._arrays().items()}
    other = copy.deepcopy(model)
    for t in range(5):
        model.decide({"n": 100.0 + t, "s": "x"})
    assert [part for part, array in model._arrays().items() if bytes_of(array) != before[part]] == []
    assert other.decide({"n": 1.0}).greedy in LABELS


def test_labels_neither_join_nor_are_left_out(name: str) -> None:
    refused(warmed(name), LabelError, lambda model: model.add_label("one more"))
    refused(warmed(name), LabelError, lambda model: model.decide({"n": 1.0}, allowed=["a"]))
