"""Whatever stands in a stored decision: it is refused with our own error, or it is the decision that was
made.
"""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import AdaBandit, Decision
from banditboost.errors import DecisionError, LabelError
from banditboost.io.values import UnreadableError, decode, json_digest
from tests.boosting.forged import forged
from tests.boosting.states import state_of
from tests.decision.made import LABELS, NAMES, at, changed, leaves, model_and_decision

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
DEEP: Any = 1
DEEP_NUMPY: Any = 1
for _ in range(400):
    DEEP, DEEP_NUMPY = [DEEP], {"$numpy": ["i8", DEEP_NUMPY]}
ODD: list[Any] = [
    10**400, -(10**400), 10**5000, {"$int": 10**5000}, 2**53, 2**62, -1, 0, 1, 2, 3, 4, 1.5, True, False, None,
    float("nan"), float("inf"), -float("inf"), 1e300, 5e-324, -0.0, "", "evil", "\ud800", "x" * 5000, [], {},
    [1], [[1]], {"$repr": "evil"}, {"$repr": 5}, {"$tuple": ["a", 1]}, {"$float": "nan"}, {"a": [1]}, {5: 1},
    {"a": 1, 5: 2}, {"a": 10**5000}, {"a": "v", "$b": 1}, DEEP, DEEP_NUMPY, object(), b"bytes", (1,), {1},
]  # fmt: skip
KEYS = (
    "format",
    "model",
    "memo",
    "labels",
    "label",
    "greedy",
    "branch",
    "run",
    "row",
    "labels_digest",
    "allowed",
)


def look_at(decision: Decision) -> None:
    """All that can be asked of a decision gives an answer or a DecisionError."""
    for ask in (
        lambda: decision.label, lambda: decision.greedy, lambda: decision.allowed, decision.distribution,
        lambda: repr(decision), lambda: hash(decision), lambda: decision == decision, decision.to_dict,
        lambda: decision.to_token(b"k" * 16), lambda: copy.deepcopy(decision),
    ):  # fmt: skip
        with contextlib.suppress(DecisionError):
            ask()


def try_out(data: Any, labels: Any = None) -> Decision | None:
    """The decision that a dict is read as; None if it is refused as it should be."""
    try:
        decision = Decision.from_dict(data, labels)
    except DecisionError as refusal:
        message = str(refusal)
    else:
        look_at(decision)
        return decision
    assert len(message) < 2500
    return None


@settings(max_examples=300)
@given(JSON, st.sampled_from([None, LABELS, ("a", "b")]))
def test_any_json(data: Any, labels: Any) -> None:
    assert try_out(data, labels) is None


@settings(max_examples=400)
@given(
    st.integers(1, 4),
    st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(ODD), max_size=4),
    st.sampled_from(NAMES),
    st.sampled_from([None, LABELS]),
)
def test_parts_of_any_kind(version: int, change: dict[str, Any], name: str, labels: Any) -> None:
    """Several parts at once, and no checksum to hide behind."""
    model, decision = model_and_decision(name)
    made = try_out(forged(decision.to_dict(), **{"format": version, **change}), labels)
    if made is not None:
        before = state_of(model)
        try:
            model.learn(made, True)
        except DecisionError:
            assert state_of(model) == before


@pytest.mark.parametrize("name", NAMES)
def test_each_value_changed_alone(name: str) -> None:
    """With its checksum a dict is refused whatever was changed in it; it is the same in other words, or
    nothing.
    """
    _, decision = model_and_decision(name)
    data = json.loads(json.dumps(decision.to_dict()))
    for path in leaves(data):
        for value in ODD:
            made = changed(data, path, value)
            told = try_out(made)
            if told is not None:
                assert told == decision
                assert at(data, path) == value
                assert json_digest(at(data, path)) == json_digest(value)
        if isinstance(path[-1], str):
            less = copy.deepcopy(data)
            del at(less, path[:-1])[path[-1]]
            assert try_out(less) is None


@pytest.mark.parametrize("name", NAMES)
def test_each_value_changed_alone_without_a_checksum(name: str) -> None:
    """As older versions wrote it: refused, by from_dict or by the model, which does not change; or learned,
    and then it was shown as the model knows it. Nobody can tell whether it was this row, rate or number of
    labels.
    """
    model, decision = model_and_decision(name)
    data = json.loads(json.dumps(forged(decision.to_dict())))
    before = state_of(model)
    learned = 0
    for path in leaves(data):
        for value in ODD:
            told = try_out(changed(data, path, value))
            if told is None:
                continue
            hearer = copy.deepcopy(model)
            try:
                hearer.learn(told, True)
            except DecisionError:
                assert state_of(hearer) == before
                continue
            learned += 1
            assert (told.label, told.greedy) == (model.labels[told._shown], model.labels[int(told._memo[2])])
            assert 0.0 < told.probability <= 1.0
            assert path[0] in ("memo", "row", "labels") or at(data, path) == value
    assert learned


@pytest.mark.parametrize("name", NAMES)
def test_another_label_is_refused(name: str) -> None:
    model, decision = model_and_decision(name)
    data = forged(decision.to_dict())
    before = state_of(model)
    for label in ("evil", 3, {"$tuple": ["a", 1]}, {"$repr": "'sports'"}, None):
        for change in ({"label": label}, {"greedy": label}, {"label": label, "greedy": label}):
            made = {**data, **change}
            with pytest.raises(DecisionError, match=r"calls label|two names for one label"):
                model.learn(Decision.from_dict(made), True)
            with pytest.raises(DecisionError, match=r"calls label|two names for one label"):
                Decision.from_dict(made, model.labels)
    assert state_of(model) == before
    model.learn(Decision.from_dict(data), True)


@pytest.mark.parametrize("name", NAMES)
def test_another_row_is_refused(name: str) -> None:
    """Nothing but the checksum can tell."""
    model, decision = model_and_decision(name)
    data = decision.to_dict()
    path = ("row", "x") if name == "branch" else ("memo", model._row_start)
    made = changed(data, path, 123)
    with pytest.raises(DecisionError, match=r"checksum is '[0-9a-f]{16}', which is not that of its contents"):
        Decision.from_dict(made)
    model.learn(Decision.from_dict(forged(made)), True)


@pytest.mark.parametrize("name", NAMES)
def test_stores_may_write_the_same_numbers_otherwise(name: str) -> None:
    """JavaScript knows one kind of number, and writes minus zero as 0; others sort keys."""

    def as_elsewhere(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, list):
            return [as_elsewhere(item) for item in value]
        if isinstance(value, dict):
            return {key: as_elsewhere(value[key]) for key in sorted(value)}
        return value

    model, decision = model_and_decision(name)
    data = as_elsewhere(json.loads(json.dumps(decision.to_dict())))
    back = Decision.from_dict(data)
    assert back == decision
    model.learn(back, True)


@pytest.mark.parametrize(
    "labels", [{"a"}, 5, "ab", b"ab", frozenset("a"), (["a"], ["b"]), ["a", ["b"]], NotImplemented], ids=repr
)
def test_labels_that_are_none(labels: Any) -> None:
    data = AdaBandit(["a", "b"], n_learners=2, seed=1).decide({"x": 1}).to_dict()
    with pytest.raises(LabelError, match="label"):
        Decision.from_dict(data, labels)


def test_labels_may_come_one_by_one() -> None:
    decision = AdaBandit(["a", "b"], n_learners=2, seed=1).decide({"x": 1})
    back = Decision.from_dict(decision.to_dict(), (label for label in "ab"))  # type: ignore[arg-type]
    assert back.distribution() == decision.distribution()
    for labels in (["b", "a"], ["a", "x"], ["x", "b"]):
        if labels[decision._shown] != decision.label:
            with pytest.raises(DecisionError, match="calls label"):
                Decision.from_dict(decision.to_dict(), labels)


@pytest.mark.parametrize("memo", [[10**400] * 20, [[1]] * 20, ["1"] * 20, "1" * 20, {}, range(20)], ids=repr)
def test_memos_of_other_kinds(memo: Any) -> None:
    data = forged(AdaBandit(["a", "b"], n_learners=2, seed=1).decide({"x": 1}).to_dict(), memo=memo)
    with pytest.raises(DecisionError, match=r"memo is .*; give the list of numbers that to_dict returned"):
        Decision.from_dict(data)


def test_digests_differ_where_values_do() -> None:
    values = [
        None,
        True,
        1,
        "1",
        0.5,
        [1],
        {"1": 1},
        [[1]],
        [1, 1],
        {"1": [1]},
        "",
        [],
        {},
        10**400,
        -1,
        2**53 + 1,
    ]
    assert len({json_digest(value) for value in values} | {json_digest(1, b"more")}) == len(values) + 1
    assert json_digest([1.0, -0.0, 1e300]) == json_digest([1, 0, int(1e300)])


@pytest.mark.parametrize("data", [DEEP, DEEP_NUMPY, {5: 1}, {"$int": 10**5000}, {"$numpy": 10**5000}])
def test_values_that_are_none(data: Any) -> None:
    with pytest.raises(UnreadableError):
        decode(data)
