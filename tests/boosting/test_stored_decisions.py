"""Decisions as plain data: small, with or without the labels at hand, and checked before they teach
anything.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, Decision
from banditboost.errors import DecisionError
from banditboost.memo import PROBABILITY, RATE
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED
from tests.boosting.rounds import STREAM, make, refused, taught
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS, make_booster

LABELS = ["sports", 2, 2.5, None, True, ("a", 1), b"x", np.int64(4)]


def via_json(decision: Decision) -> Decision:
    return Decision.from_dict(json.loads(json.dumps(decision.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("name", DECIDERS)
def test_it_is_learned_without_the_labels(name: str) -> None:
    model, twin = taught(name), taught(name)
    for x, y in zip(STREAM.X[40:80], STREAM.y[40:80].tolist(), strict=True):
        decision, expected = via_json(model.decide(x)), twin.decide(x)
        assert (decision.label, decision.greedy, decision.probability) == (
            expected.label,
            expected.greedy,
            expected.probability,
        )
        model.learn(decision, decision.label == y)
        twin.learn(expected, expected.label == y)
    assert difference(model, twin) == []


def test_own_labels_come_back_with_their_types() -> None:
    model = AdaBandit(LABELS, n_learners=2, exploration=0.9, seed=1)
    seen = set()
    for t in range(60):
        decision = model.decide({"x": t})
        back = via_json(decision)
        assert (back.label, type(back.label)) == (decision.label, type(decision.label))
        assert (back.greedy, type(back.greedy)) == (decision.greedy, type(decision.greedy))
        assert repr(back) == repr(decision)
        assert back.to_dict() == decision.to_dict()
        seen.add(decision.label)
    assert len(seen) > 5


def test_the_distribution_needs_all_labels() -> None:
    model = make("AdaBandit")
    decision = model.decide(STREAM.X[0])
    with pytest.raises(DecisionError, match=r"from_dict\(data, model.labels\)"):
        via_json(decision).distribution()
    assert Decision.from_dict(decision.to_dict(), model.labels).distribution() == decision.distribution()


def test_labels_that_json_cannot_carry() -> None:
    """The dict shows them to people; to programs the model's labels tell them."""
    days = [datetime.date(2026, 1, day) for day in (1, 2)]
    model = AdaBandit(days, n_learners=2, seed=1)
    decision = model.decide({"x": 1})
    back = via_json(decision)
    assert "datetime.date(2026, 1" in repr(back)
    assert back.to_dict() == decision.to_dict()
    with pytest.raises(DecisionError, match=r"model\.labels"):
        _ = back.label
    assert Decision.from_dict(decision.to_dict(), model.labels).label == decision.label
    model.learn(back, True)


@pytest.mark.parametrize("name", DECIDERS)
@pytest.mark.parametrize("k", [3, 1000])
def test_it_takes_less_than_2_kb(name: str, k: int) -> None:
    """Twenty learners and twenty features, each with all its digits, after the weights have moved."""
    draw = np.random.default_rng(2)
    model = make_booster(name, k, 20)
    largest = 0
    for _ in range(6 if INTERPRETED else 60):
        decision = model.decide(draw.normal(size=20))
        model.learn(decision, bool(draw.random() < 0.3))
        largest = max(largest, len(json.dumps(decision.to_dict())))
    assert 500 < largest < 2000


def test_numbers_come_back_to_the_last_bit() -> None:
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    row = np.array([-0.0, 0.0, 1e100, -1e-300, 2.0**53 + 2, 0.1, np.nan, 123456789.0])
    decision = model.decide(row)
    assert via_json(decision)._memo.tobytes() == decision._memo.tobytes()


BAD: dict[str, dict[str, Any]] = {
    "label count": {"labels": 1},
    "label count no number": {"labels": "3"},
    "label count true": {"labels": True},
    "label count beyond all bounds": {"labels": 10**30},
    "memo": {"memo": [1]},
    "no memo": {"memo": None},
    "format": {"format": "1"},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_changed_dicts_are_refused(change: dict[str, Any]) -> None:
    data = forged(make("AdaBandit").decide(STREAM.X[0]).to_dict())
    with pytest.raises(DecisionError):
        Decision.from_dict({**data, **change})
    for key in data:
        with pytest.raises(DecisionError, match="whole dict"):
            Decision.from_dict({name: value for name, value in data.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "decision", 5], ids=repr)
def test_what_is_no_dict_is_refused(data: Any) -> None:
    with pytest.raises(DecisionError, match="whole dict"):
        Decision.from_dict(data)


@pytest.mark.parametrize(
    "label", [[1], {"$tuple": 1}, {"a": 1}, {"$repr": 5}, {"$repr": "a", "b": 1}, {1: 2}], ids=str
)
def test_a_label_that_is_no_value_is_refused(label: Any) -> None:
    data = make("AdaBandit").decide(STREAM.X[0]).to_dict()
    for change in ({"label": label}, {"greedy": label}, {"label": label, "greedy": label}):
        with pytest.raises(DecisionError, match="label is no value"):
            Decision.from_dict(forged(data, **change))


@pytest.mark.parametrize("name", DECIDERS)
def test_the_model_does_not_believe_in_more_labels_than_it_has(name: str) -> None:
    """A dict that claims a thousand labels, with a probability that fits: the index must not reach the
    kernels.
    """
    model = make(name)
    data = forged(model.decide(STREAM.X[0]).to_dict())
    data["labels"], data["memo"][1], data["memo"][4] = 1000, 999, data["memo"][5] / 999 or 0.5
    assert "does not fit" in refused(model, Decision.from_dict(data), True)


@pytest.mark.parametrize("p", [9.99e-31, 1e-31, 1e-160, 1e-300, 5e-324])
def test_no_label_is_shown_with_next_to_no_probability(p: float) -> None:
    """What was learned with weight 1 / p would make a file that nobody can load."""
    model = AdaBandit(["a", "b"], n_learners=2, exploration=0.5, seed=1)
    decision = next(d for d in model.decide_many([{"x": 1.0}] * 50) if d.label != d.greedy)

    def with_probability(given: float) -> Decision:
        memo = decision.to_dict()["memo"]
        memo[RATE] = memo[PROBABILITY] = given  # of two labels, the other one is explored
        return Decision.from_dict(forged(decision.to_dict(), memo=memo))

    with pytest.raises(DecisionError, match=r"names no possible round, label or probability"):
        with_probability(p)
    model.learn(with_probability(1e-30), True)
    assert model.verdicts == 1
