"""A decision is small, cannot be changed, and is complete: it may wait anywhere for its verdict."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, Decision
from banditboost import memo as layout
from banditboost.errors import DecisionError
from tests.boosting.rounds import STREAM, N, make, taught
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS, GAP


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_decision_cannot_be_changed(name: str) -> None:
    decision = make(name).decide(STREAM.X[0])
    for attribute in ("label", "greedy", "probability", "round", "explored", "model_id", "anything"):
        with pytest.raises(AttributeError):
            setattr(decision, attribute, 1)
    decision.distribution()[decision.label] = 0.0
    assert decision.distribution()[decision.label] == decision.probability


def test_decision_owes_nothing_to_the_row_it_was_made_for(name: str) -> None:
    model, twin = make(name), make(name)
    row = STREAM.X[0].copy()
    decision = model.decide(row)
    row[:] = np.nan
    model.learn(decision, True)
    twin.learn(twin.decide(STREAM.X[0]), True)
    assert difference(model, twin) == []


def test_numbers_kept_beside_the_memo_are_those_of_the_memo(name: str) -> None:
    model = taught(name)
    allowed = None if model.labels_are_fixed else model.labels[1:]
    made = [model.decide(x) for x in STREAM.X[:20]] + [
        model.decide(STREAM.X[0], allowed),
        *model.decide_many(STREAM.X[:3]),
    ]
    for decision in made:
        for one in (
            decision,
            via_json(decision, model),
            via_pickle(decision, model),
            via_copy(decision, model),
        ):
            assert (one.round, model.labels.index(one.label)) == (
                one._memo[layout.ROUND],
                one._memo[layout.SHOWN],
            )
    assert [decision.round for decision in made] == list(range(model.rounds - len(made), model.rounds))


def test_numbers_of_a_row_may_lie_apart(name: str) -> None:
    """A column of a matrix, every other number, a row from the back: the numbers count, not where they
    lie.
    """
    models = [make(name) for _ in range(4)]
    spread = np.repeat(STREAM.X[:30], 2, axis=1)
    for t, y in enumerate(STREAM.y[:30].tolist()):
        row = STREAM.X[t]
        ways = (row, np.asfortranarray(STREAM.X[:30])[t], spread[t, ::2], row[::-1].copy()[::-1])
        decisions = [model.decide(x) for model, x in zip(models, ways, strict=True)]
        assert len({decision._memo.tobytes() for decision in decisions}) == 1
        for model, decision in zip(models, decisions, strict=True):
            model.learn(decision, decision.label == y)


def test_decision_is_small(name: str) -> None:
    """Votes and weights (or probabilities), row and a few numbers: what it takes, and not what the model
    takes.
    """
    model = taught(name)
    decision = model.decide(STREAM.X[0])
    numbers = layout.VOTES + (layout.MOST_PROBABILITIES if name == GAP else 2 * N) + len(model.schema)
    assert sys.getsizeof(decision) < 100
    assert decision._memo.nbytes == 8 * numbers
    assert len(pickle.dumps(decision)) < 8 * numbers + 600


def via_json(decision: Decision, model: Any) -> Decision:
    return Decision.from_dict(json.loads(json.dumps(decision.to_dict())), model.labels)


def via_pickle(decision: Decision, model: Any) -> Decision:  # noqa: ARG001
    copied = pickle.loads(pickle.dumps(decision))
    assert isinstance(copied, Decision)
    return copied


def via_copy(decision: Decision, model: Any) -> Decision:  # noqa: ARG001
    return copy.deepcopy(decision)


@pytest.mark.parametrize("travel", [via_json, via_pickle, via_copy])
def test_decision_survives_a_journey(name: str, travel: Any) -> None:
    """Learned after it has waited elsewhere it has the same effect, to the last bit."""
    model, twin = taught(name), taught(name)
    for x, y in zip(STREAM.X[40:80], STREAM.y[40:80].tolist(), strict=True):
        decision, expected = travel(model.decide(x), model), twin.decide(x)
        assert (decision.label, decision.greedy, decision.round) == (
            expected.label,
            expected.greedy,
            expected.round,
        )
        assert decision.distribution() == expected.distribution()
        model.learn(decision, decision.label == y)
        twin.learn(expected, expected.label == y)
    assert difference(model, twin) == []


def test_decisions_are_equal_if_all_is(name: str) -> None:
    model = make(name)
    decision, another = model.decide(STREAM.X[0]), model.decide(STREAM.X[0])
    again = via_json(decision, model)
    assert again == decision
    assert hash(again) == hash(decision)
    assert another != decision
    assert decision != "decision"
    assert "round=0" in repr(decision)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [("a", 1), ("b", 2)], list(np.arange(2)), [None, 0.5]], ids=str
)
def test_json_carries_a_decision_of_any_labels(labels: list[Any]) -> None:
    """Labels are any hashable names; a store need not know them."""
    model = AdaBandit(labels, n_learners=2, seed=1)
    decision = model.decide({"x": 1.0})
    assert via_json(decision, model) == decision


def test_from_dict_refuses_what_it_cannot_read() -> None:
    model = make("AdaBandit")
    data = model.decide(STREAM.X[0]).to_dict()
    with pytest.raises(DecisionError, match="format 99"):
        Decision.from_dict({**data, "format": 99}, model.labels)
    with pytest.raises(DecisionError, match=r"3 labels.*2 were given"):
        Decision.from_dict(data, model.labels[:2])
