"""Whatever comes to a store of open decisions: it is refused with our own error, and neither store nor model
changes.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import AdaBandit, AdaFull, PendingDecisions
from banditboost.errors import DecisionError, ParameterError
from tests.boosting.states import difference, state_of
from tests.decision.made import at, changed, leaves
from tests.decision.test_doors import JSON, ODD
from tests.test_pending import Clock, make, without_checksum


def stored() -> tuple[dict[str, Any], AdaBandit]:
    """A store with open and closed decisions, as it was written, and its model."""
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    pending = PendingDecisions(model, capacity=4, max_rounds=20, max_seconds=60.0, clock=Clock())
    for t in range(7):
        pending.decide(("visit", t), {"x": t})
    pending.learn(("visit", 5), True)
    pending.learn("nobody", True)
    return json.loads(json.dumps(pending.to_dict())), model


DATA, MODEL = stored()


def try_out(data: Any) -> PendingDecisions | None:
    """The store that a dict is read as; None if it is refused as it should be. The model never changes."""
    before = state_of(MODEL)
    try:
        pending = PendingDecisions.from_dict(data, MODEL, clock=Clock())
    except DecisionError:
        return None
    finally:
        assert state_of(MODEL) == before
    assert len(pending) == len(data["open"])
    with contextlib.suppress(DecisionError):  # an id that is no JSON
        pending.to_dict()
    return pending


def test_it_comes_back_as_it_was() -> None:
    pending = try_out(DATA)
    assert pending is not None
    assert pending.to_dict() == DATA


@settings(max_examples=200)
@given(JSON)
def test_any_json(data: Any) -> None:
    assert try_out(data) is None


@settings(max_examples=300)
@given(st.integers(1, 2), st.dictionaries(st.sampled_from([*DATA]), JSON | st.sampled_from(ODD), max_size=3))
def test_parts_of_any_kind(version: int, change: dict[str, Any]) -> None:
    base = DATA if version == 2 else without_checksum(DATA)
    try_out({**base, **change})


def test_each_value_changed_alone() -> None:
    for path in leaves(DATA):
        for value in ODD:
            made = try_out(changed(DATA, path, value))
            if made is not None:
                assert at(DATA, path) == value
                assert made.to_dict() == DATA


def test_each_value_changed_alone_without_a_checksum() -> None:
    """Refused, or a store that one could have: its ages are not of the time to come."""
    old = without_checksum(DATA)
    for path in leaves(old):
        for value in ODD:
            made = try_out(changed(old, path, value))
            if made is not None:
                assert all(item.round <= MODEL.rounds for item in made._open.values())
                assert all(-math.inf < item.seconds <= Clock().now for item in made._open.values())
                assert all(type(count) is int and count >= 0 for count in made.counters.values())


@pytest.mark.parametrize("seconds", [math.nan, math.inf, 10**400, "5", None, True], ids=repr)
def test_seconds_that_are_no_time(seconds: Any) -> None:
    made = changed(without_checksum(DATA), ("open", 0, 2), seconds)
    with pytest.raises(DecisionError, match="seconds is"):
        PendingDecisions.from_dict(made, MODEL, clock=Clock())


@pytest.mark.parametrize(
    "round_", [math.inf, math.nan, 2.5, "5", -1, 10**400, 10**5000], ids=lambda _: "count"
)
def test_rounds_and_counters_that_are_no_counts(round_: Any) -> None:
    for path in (("open", 0, 1), ("counters", "added")):
        assert try_out(changed(without_checksum(DATA), path, round_)) is None


def test_what_was_added_in_time_to_come_does_not_wait_for_ever() -> None:
    data, model = stored()
    clock = Clock()
    old = without_checksum(data)
    for place in range(len(old["open"])):
        old["open"][place][2] = 1e300
    pending = PendingDecisions.from_dict(old, model, clock=clock)
    clock.now += 60.0
    assert pending.expire() == 0
    clock.now += 1.0
    assert pending.expire() == len(old["open"]) > 0


def test_an_id_is_there_once() -> None:
    old = without_checksum(DATA)
    for made in (
        {**old, "open": [*old["open"], old["open"][0]]},
        {**old, "closed": [*old["closed"], old["closed"][0]]},
        {**old, "closed": [*old["closed"], [old["open"][0][0], "learned"]]},
    ):
        with pytest.raises(DecisionError, match="is there twice"):
            PendingDecisions.from_dict(made, MODEL)


@pytest.mark.parametrize("key", [["k"], ([],), {}, {1}, (1, {2: 3}), [10**5000]], ids=lambda _: "id")
def test_ids_that_cannot_be_hashed(key: Any) -> None:
    pending, model, _ = make()
    decision = model.decide({})
    for call in (
        lambda: pending.learn(key, True),
        lambda: pending.decide(key, {}),
        lambda: pending.add(key, decision),
    ):
        with pytest.raises(DecisionError, match=r"id .* is not hashable; give a string or a number"):
            call()
    assert key not in pending
    assert (len(pending), model.rounds, model.heard) == (0, 1, [])
    assert set(pending.counters.values()) == {0}


@pytest.mark.parametrize("now", [math.nan, math.inf, "now", None, 10**400, True], ids=repr)
def test_a_clock_that_tells_no_time(now: Any) -> None:
    pending, model, clock = make()
    pending.decide("a", {})
    clock.now = now
    for call in (lambda: pending.learn("a", True), lambda: pending.decide("b", {}), pending.expire):
        with pytest.raises(ParameterError, match=r"clock\(\) is"):
            call()
    assert (len(pending), model.rounds, model.heard) == (1, 1, [])


def test_what_is_no_clock_and_no_model() -> None:
    with pytest.raises(ParameterError, match="clock is 5; give a function"):
        make_with(clock=5)
    with pytest.raises(ParameterError, match="clock is 5; give a function"):
        PendingDecisions.from_dict(DATA, MODEL, clock=5)  # type: ignore[arg-type]
    for model in (None, 5, AdaBandit, AdaFull(["a", "b"], seed=1)):
        with pytest.raises(ParameterError, match="give one that hears verdicts"):
            PendingDecisions(model)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="give one that hears verdicts"):
            PendingDecisions.from_dict(DATA, model)  # type: ignore[arg-type]


def make_with(**options: Any) -> PendingDecisions:
    return PendingDecisions(AdaBandit(["a", "b"], seed=1), **options)


def test_a_changed_decision_in_a_store_is_refused_whole() -> None:
    twin = copy.deepcopy(MODEL)
    made = changed(DATA, ("open", 1, 3, "memo", -1), 123)
    with pytest.raises(DecisionError, match="checksum"):
        PendingDecisions.from_dict(made, MODEL)
    assert difference(MODEL, twin) == []


def test_a_model_id_that_is_no_text_is_refused() -> None:
    for told in (np.array(["a", "b"]), None, 5):
        with pytest.raises(DecisionError, match="the store belongs to model"):
            PendingDecisions.from_dict({**DATA, "model": told}, MODEL)
