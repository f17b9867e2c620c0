"""A branch meets features, values and labels in another order than its original: nothing is mistaken."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from banditboost import Decision, Schema
from banditboost.errors import DecisionError
from banditboost.models.calls import LEARNED
from banditboost.models.identity import draw_seed
from banditboost.rows.schema import Told
from tests.boosting.forged import forged
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS
from tests.models.lines import JOURNEYS, ROWS, go_on, id_of, make, refused, taught, via_json

LEDGERS = {"ledger", "below"}


@pytest.fixture(params=JOURNEYS)
def sent(request: pytest.FixtureRequest) -> Callable[[Decision], Decision]:
    return JOURNEYS[request.param]


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def heard_by_hand(model: Any, decision: Decision, row: Any, correct: bool) -> Any:
    """A copy of the model that is taught the decision's votes with the row as the model itself codes it."""
    twin = copy.deepcopy(model)
    memo = np.concatenate([decision._memo[: twin._row_start], twin._joined(row)])
    while twin._hear(memo, int(correct), draw_seed(twin.seed, decision.branch), None, False) != LEARNED:
        twin._make_learners_for(memo)
    return twin


def check_learned(model: Any, decision: Decision, row: Any, sent: Callable[[Decision], Decision]) -> None:
    expected = heard_by_hand(model, decision, row, True)
    model.learn(sent(decision), True)
    assert set(difference(model, expected)) <= LEDGERS
    assert "once" in refused(model, decision)


def test_features_that_joined_in_another_order(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = taught(name)
    branch = model.branch()
    go_on(model, [{"here": 1.0, "colour": "black", "x": 2.0}, {"both": "p", "colour": "white"}])
    rows: list[dict[str, Any]] = [
        {"there": "q", "x": -0.0},
        {"both": "q", "colour": "white"},
        {"colour": "black", "there": "r", "both": "p"},
        {"colour": "violet"},
        {"here": 0.1},
        {},
    ]
    decisions = [branch.decide(row) for row in rows]
    for decision, row in zip(decisions, rows, strict=True):
        check_learned(model, decision, row, sent)
    assert model.schema.names == ("x", "colour", "here", "both", "there")
    assert branch.schema.names == ("x", "colour", "there", "both", "here")
    assert model.schema.values("colour")[3:] == ("black", "white")
    assert branch.schema.values("colour")[3:] == ("white",)


def test_a_branch_of_a_model_that_has_met_nothing(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = make(name)
    branches = [model.branch(), model.branch()]
    rows: list[dict[str, Any]] = [{"a": 1.0, "b": "u"}, {"b": "v", "a": 2.0}]
    decisions = [branch.decide(row) for branch, row in zip(branches, rows, strict=True)]
    for decision, row in zip(decisions, rows, strict=True):
        check_learned(model, decision, row, sent)
    assert model.schema.values("b") == ("u", "v")


def test_the_names_of_a_row_are_told_and_nothing_more() -> None:
    model = taught()
    told = model.branch().decide({"x": 31.0, "colour": "green", "new": -0.0}).to_dict()
    assert told["row"] == {"x": 31, "colour": "green", "new": -0.0}
    assert "-0.0" in json.dumps(told["row"])
    assert len(told["memo"]) == model._row_start
    assert "row" not in model.decide(ROWS[0]).to_dict()


def test_kinds_that_do_not_agree_are_names(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = taught(name)
    branch = model.branch()
    go_on(model, [{"f": 1.0, "g": "red"}])
    for row in ({"f": "red"}, {"g": 1.0}, {"new": 1.0, "f": "red"}):
        check_learned(model, branch.decide(row), row, sent)
    assert model.schema.names == ("x", "colour", "f", "g", "f (text)", "new")
    assert model.schema.values("g") == ("red", "1")


def test_kinds_that_do_not_agree_are_refused_by_a_strict_schema(
    name: str, sent: Callable[[Decision], Decision]
) -> None:
    model = make(name, schema=Schema(strict=True))
    branch = model.branch()
    go_on(model, [{"f": 1.0, "g": "red"}])
    for row in ({"f": "red"}, {"g": 1.0}, {"new": 1.0, "f": "red"}):
        reason = refused(model, sent(branch.decide(row)))
        assert "whose features do not fit this model's" in reason
        assert "learn it with the branch that made it" in reason
    assert model.schema.names == ("f", "g")
    branch.learn(branch.decide({"f": "red"}), True)


def test_a_declared_schema(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = make(name, schema=Schema(numeric=["x"], nominal={"n": [1, 2], "m": []}))
    branch = model.branch()
    go_on(model, [{"m": "one"}, {"n": True}])
    rows = [{"m": "two", "n": 2}, {"m": "one", "n": 3}, {"n": True, "x": 1e100}]
    decisions = [branch.decide(row) for row in rows]
    for decision, row in zip(decisions, rows, strict=True):
        check_learned(model, decision, row, sent)
    codes = branch.decide(np.array([0.5, 1.0, 0.0]))
    check_learned(model, codes, {"x": 0.5, "n": 2, "m": "two"}, sent)


def test_values_beyond_those_that_have_places_share(sent: Callable[[Decision], Decision]) -> None:
    model = make()
    branch = model.branch()
    for t in range(2 * 255):
        model.decide({"f": f"here {t // 2}"})
    decisions = [branch.decide({"f": f"there {t}"}) for t in range(2)]
    check_learned(model, decisions[0], Told({"f": "there 0"}), sent)
    check_learned(model, decisions[1], Told({"f": "there 1"}), sent)
    assert len(model.schema.values("f")) == 256


def test_rows_without_names(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = make(name)
    branch = model.branch()
    rows = [np.array([np.nan, 2.0, -1e100]), np.array([1.0, np.nan, np.nan]), np.array([3, 4, 5])]
    decisions = [branch.decide(row) for row in rows]
    for decision, row in zip(decisions, rows, strict=True):
        check_learned(model, decision, row.tolist() if row.dtype == int else row, sent)
    assert model.schema.names == ("x0", "x1", "x2")
    assert model.schema.by_position
    for _ in range(2):
        model.learn(model.decide(rows[0]), True)
    assert model._calls.row_shape == (3,)


def test_lists_with_values_of_both_kinds(sent: Callable[[Decision], Decision]) -> None:
    model = make()
    branch = model.branch()
    rows: list[list[Any]] = [[1.0, None, None], [None, "red", 2.0], [3, "green", None]]
    decisions = [branch.decide(row) for row in rows]
    decisions.append(branch.decide({"x0": 2.0, "named": "value"}))
    for decision, row in zip(
        reversed(decisions), [{"x0": 2.0, "named": "value"}, *reversed(rows)], strict=True
    ):
        if isinstance(row, list) and not model.schema.by_position:
            row = {f"x{i}": value for i, value in enumerate(row)}
            assert "the row has no names" in refused(model, sent(decision))
        else:
            check_learned(model, decision, row, sent)
    other = make()
    branch = other.branch()
    decisions = [branch.decide(row) for row in rows]
    for decision, expected in zip(reversed(decisions), reversed(rows), strict=True):
        check_learned(other, decision, expected, sent)
    assert other.schema.names == ("x0", "x1", "x2")
    assert other.schema.kinds == ("numeric", "nominal", "numeric")


def test_places_of_another_kind_are_no_codes(sent: Callable[[Decision], Decision]) -> None:
    """An array may give the code of a nominal value. A branch where that place is a number means a number."""
    model = make()
    branch = model.branch()
    model.decide(["red", 1.0])
    check_learned(model, branch.decide(np.array([0.0, 1.0])), ["0", 1.0], sent)
    assert model.schema.values("x0") == ("red", "0")
    assert "values where 2 are expected" in refused(
        model, sent(model.branch().branch() and make_wider(model))
    )


def make_wider(model: Any) -> Decision:
    """A decision of a branch whose rows are wider; the branch was made before the model met any."""
    empty = type(model)(model.labels, **model.parameters)
    empty.model_id = empty._identity.model_id = model.model_id
    decision: Decision = empty.branch().decide(np.array([0.0, 1.0, 2.0]))
    return decision


def test_names_that_json_cannot_carry() -> None:
    model = make()
    branch = model.branch()
    decision = branch.decide({("a", 1): 2.0, 5: "red", "$odd": 1.0})
    assert via_json(decision) == decision
    model.learn(via_json(decision), True)
    assert model.schema.names == (("a", 1), 5, "$odd")
    day = branch.decide({datetime.date(2026, 1, 1): 1.0})
    with pytest.raises(DecisionError, match="pickle the decision"):
        day.to_dict()
    model.learn(pickle.loads(pickle.dumps(day)), True)


def test_a_decision_and_its_copies_are_equal(sent: Callable[[Decision], Decision]) -> None:
    branch = taught().branch()
    rows: list[Any] = [{"x": 1.0, "new": "v"}, {"x": None, "new": "w"}, {}]
    decisions = [branch.decide(row) for row in rows]
    again = [sent(decision) for decision in decisions]
    assert again == decisions
    assert list(map(hash, again)) == list(map(hash, decisions))
    assert list(map(id_of, again)) == list(map(id_of, decisions))
    assert len({*again, *decisions}) == 3
    assert [decision.to_dict() for decision in again] == [decision.to_dict() for decision in decisions]
    assert [copy.deepcopy(decision) for decision in again] == decisions
    twin = copy.deepcopy(branch)
    assert twin.decide({"x": 1.0}) != branch.decide({"x": 1.0})
    told = decisions[0].to_dict()
    assert Decision.from_dict(forged(told, row={"x": 2, "new": "v"})) != decisions[0]


def test_a_pickled_decision_does_not_hold_the_branchs_features() -> None:
    model = make()
    for t in range(250):
        model.decide({"f": f"a long value that has the number {t}", f"g{t}": 1.0})
    decision = model.branch().decide({"f": "a long value that has the number 7"})
    assert len(pickle.dumps(decision)) < 1000


def test_decisions_are_told_with_the_features_of_their_time() -> None:
    branch = make().branch()
    early = branch.decide([1.0, None])
    assert early.to_dict()["row"] == [1, None]
    branch.decide([1.0, 2.0])
    assert early.to_dict()["row"] == [1, None]


# Labels


def test_labels_that_joined_the_original_only(sent: Callable[[Decision], Decision]) -> None:
    model = taught("GapBoost")
    branch, twin = model.branch(), copy.deepcopy(model)
    model.add_label("d")
    decision = branch.decide(ROWS[0])
    model.learn(sent(decision), True)
    twin.learn(decision, True)
    twin.add_label("d")
    assert model.verdicts == twin.verdicts
    assert model.distribution(ROWS[1]) == twin.distribution(ROWS[1])


def test_labels_that_did_not_join_alike_are_refused(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = taught(name)
    branch = model.branch()
    old = branch.decide(ROWS[0])
    branch.add_label("there")
    decision = sent(branch.decide(ROWS[0]))
    assert "among 4 labels that are not the first 4 of this model's" in refused(model, decision)
    model.add_label("here")
    reason = refused(model, decision)
    assert "let labels join the model before branches are made from it" in reason
    branch.learn(decision, True)
    model.learn(sent(old), True)
    agreeing = taught(name).branch()
    twin = copy.deepcopy(agreeing)
    child = agreeing.branch()
    for one in (agreeing, child):
        one.add_label("both")
    agreeing.learn(sent(child.decide(ROWS[0], allowed=["both", "a"])), True)
    assert agreeing.verdicts == twin.verdicts + 1


def test_true_is_not_one() -> None:
    """Equal in Python, and the same to a model: but a decision tells which labels it was made among."""
    model = make(labels=["a", 1])
    told = model.branch().decide(ROWS[0]).to_dict()
    assert Decision.from_dict(told, ["a", 1]).to_dict() == told
    for labels in (["a", True], [1, "a"], ["a", "1"]):
        with pytest.raises(DecisionError, match="give the labels of the branch"):
            Decision.from_dict(told, labels)
    model.learn(Decision.from_dict(told, model.labels), True)


def test_labels_that_json_cannot_carry() -> None:
    model = make(labels=[datetime.date(2026, 1, day) for day in (1, 2)])
    model.learn(via_json(model.branch().decide(ROWS[0])), True)
    assert model.verdicts == 1
