"""The store of open decisions: bounded, with a rule for those that never hear a verdict, and a word for every
verdict.
"""

from __future__ import annotations

import json
import logging
import threading
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, Decision, PendingDecisions
from banditboost.errors import DecisionError, LabelError, ParameterError
from banditboost.pending import Outcome
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS
from tests.models.interrupting import interrupted, lines_of

LEARNED, DUPLICATE, EXPIRED, UNKNOWN = Outcome.LEARNED, Outcome.DUPLICATE, Outcome.EXPIRED, Outcome.UNKNOWN
REFUSED = Outcome.REFUSED


class Clock:
    """Time as the test wants it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Deaf:
    """A model that only writes down what it is told."""

    def __init__(self) -> None:
        self.model_id, self.rounds = "deaf", 0
        self.heard: list[tuple[int, bool]] = []

    def decide(self, x: Any, allowed: Any = None) -> Decision:  # noqa: ARG002
        memo = [self.rounds, 0, 0, 0, 0.5, 0.5, 0, 0, 1]
        self.rounds += 1
        return Decision.from_dict(
            {"format": 1, "model": "deaf", "labels": 2, "label": "a", "greedy": "a", "memo": memo}
        )

    def learn(self, decision: Decision, correct: bool) -> None:
        if decision.round in [round_ for round_, _ in self.heard]:
            raise DecisionError("was learned before")
        self.heard.append((decision.round, correct))


def make(**rule: Any) -> tuple[PendingDecisions, Deaf, Clock]:
    clock, model = Clock(), Deaf()
    return PendingDecisions(model, clock=clock, **rule), model, clock


def test_every_verdict_has_an_outcome() -> None:
    pending, model, _ = make(capacity=2)
    for key in "abc":
        pending.decide(key, {})
    outcomes = [pending.learn(key, True) for key in ("b", "b", "a", "x", "c")]
    assert outcomes == [LEARNED, DUPLICATE, EXPIRED, UNKNOWN, LEARNED]
    assert model.heard == [(0, False), (1, True), (2, True)]
    assert outcomes[0] == "learned"
    counters = {
        "added": 3,
        "learned": 2,
        "duplicate": 1,
        "expired": 1,
        "unknown": 1,
        "expired_by_capacity": 1,
    }
    assert pending.counters == {**counters, "expired_by_rounds": 0, "expired_by_seconds": 0, "refused": 0}


def test_expired_decisions_may_be_dropped() -> None:
    pending, model, _ = make(capacity=1, expired="drop")
    pending.decide("a", {})
    pending.decide("b", {})
    assert model.heard == []
    assert pending.learn("a", True) is EXPIRED
    assert model.heard == []


def test_age_in_rounds() -> None:
    pending, model, _ = make(max_rounds=3)
    for t in range(4):
        pending.decide(t, {})
    assert len(pending) == 4, "three rounds after the first one it is still open"
    pending.decide(4, {})
    assert 0 in pending, "rules are looked at before the model decides"
    assert pending.expire() == 1
    assert pending.learn(0, True) is EXPIRED
    assert pending.learn(1, True) is LEARNED
    assert model.heard == [(0, False), (1, True)]
    assert pending.counters["expired_by_rounds"] == 1


def test_age_in_seconds() -> None:
    pending, model, clock = make(max_seconds=60.0, expired="drop")
    pending.decide("a", {})
    clock.now += 60.0
    pending.decide("b", {})
    assert pending.expire() == 0
    clock.now += 0.5
    assert pending.learn("a", True) is EXPIRED
    assert pending.learn("b", False) is LEARNED
    assert model.heard == [(1, False)]
    assert pending.counters["expired_by_seconds"] == 1


def test_a_clock_that_is_set_back_makes_nobody_younger() -> None:
    pending, _, clock = make(max_seconds=60.0)
    pending.decide("a", {})
    clock.now -= 10_000.0
    pending.decide("b", {})
    clock.now += 10_061.0
    assert pending.expire() == 2


def test_ids_are_used_once() -> None:
    pending, model, _ = make(capacity=2)
    pending.decide("a", {})
    with pytest.raises(
        DecisionError, match=r"id 'a' belongs to a decision that is open; give each decision an id of its own"
    ):
        pending.decide("a", {})
    pending.learn("a", True)
    with pytest.raises(DecisionError, match=r"closed \(learned\)"):
        pending.add("a", model.decide({}))
    assert model.rounds == 2, "the refused call of decide decided nothing"
    assert pending.counters["added"] == 1


def test_closed_ids_are_forgotten_in_the_end() -> None:
    pending, _, _ = make(capacity=2)
    for key in "abc":
        pending.decide(key, {})
        pending.learn(key, True)
    assert [pending.learn(key, True) for key in "abc"] == [UNKNOWN, DUPLICATE, DUPLICATE]
    pending.decide("a", {})
    assert len(pending._closed) == 2


def test_decisions_of_others_are_refused() -> None:
    pending, _, _ = make()
    with pytest.raises(DecisionError, match="this store's model, deaf, has made"):
        pending.add("a", AdaBandit(["a", "b"], seed=1).decide({"x": 1}))
    with pytest.raises(DecisionError, match="not hashable"):
        pending.decide(["a"], {})  # type: ignore[arg-type]
    assert len(pending) == 0


def test_what_is_no_verdict_changes_nothing() -> None:
    pending, model, clock = make(max_seconds=60.0)
    pending.decide("a", {})
    clock.now += 61.0
    for key in ("a", "b"):
        with pytest.raises(DecisionError, match="correct is 'yes'; give True if the shown label was right"):
            pending.learn(key, "yes")  # type: ignore[arg-type]
    assert "a" in pending
    assert model.heard == []
    assert sum(pending.counters.values()) == 1


def test_what_was_learned_without_the_store_is_a_duplicate(caplog: pytest.LogCaptureFixture) -> None:
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    pending = PendingDecisions(model)
    own = pending.decide("own", {"x": 1})
    of_branch = model.branch().decide({"x": 2})
    pending.add("of a branch", of_branch)
    model.learn(own, True)
    model.learn(of_branch, True)
    with caplog.at_level(logging.INFO, logger="banditboost"):
        assert pending.learn("own", True) is DUPLICATE
        assert pending.learn("of a branch", True) is DUPLICATE
    assert len(pending) == 0
    assert pending.learn("own", True) is DUPLICATE
    assert {name: n for name, n in pending.counters.items() if n} == {"added": 2, "duplicate": 3}
    assert model.verdicts == 2
    assert caplog.records[0].getMessage().startswith("decision 'own' of round 0: duplicate, the decision of ")
    assert "was learned before" in caplog.text


def test_what_was_learned_without_the_store_cannot_be_learned_as_wrong() -> None:
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    pending = PendingDecisions(model, capacity=1)
    model.learn(pending.decide("a", {"x": 1}), True)
    pending.decide("b", {"x": 2})
    assert (pending.counters["refused"], pending.counters["expired_by_capacity"]) == (1, 1)
    assert pending.learn("a", True) is EXPIRED
    assert model.verdicts == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"capacity": 0}, "capacity is 0"), ({"capacity": 1.5}, "capacity"), ({"capacity": True}, "capacity"),
        ({"expired": "no"}, "expired is 'no'"),
        ({"max_rounds": 0}, "max_rounds is 0"), ({"max_rounds": 2.5}, "max_rounds"),
        ({"max_seconds": -1}, "max_seconds is -1"),
        ({"max_seconds": float("nan")}, "max_seconds"), ({"max_seconds": "1 h"}, "max_seconds"),
    ],
)  # fmt: skip
def test_impossible_rules_are_refused(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(**rule)


@pytest.mark.parametrize("name", DECIDERS)
def test_learning_through_the_store_is_learning(name: str) -> None:
    """To the last bit, expired decisions included."""
    labels = ["a", "b", "c"]
    model, twin = (getattr(banditboost, name)(labels, n_learners=3, seed=1) for _ in range(2))
    pending = PendingDecisions(model, max_rounds=10)
    waiting = []
    for t in range(60):
        pending.decide(t, {"x": t % 5, "y": t % 3})
        waiting.append(twin.decide({"x": t % 5, "y": t % 3}))
        if t % 2:
            assert pending.learn(t, t % 4 == 1) is LEARNED
            if t > 10:
                twin.learn(waiting[t - 11], False)
            twin.learn(waiting[t], t % 4 == 1)
    assert pending.counters["expired_by_rounds"] == sum(1 for t in range(60) if t % 2 and t > 10)
    assert difference(model, twin) == []


def test_expiry_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    pending, _, _ = make(capacity=1)
    with caplog.at_level(logging.INFO, logger="banditboost"):
        pending.decide("a", {})
        pending.decide("b", {})
    assert [record.getMessage() for record in caplog.records] == [
        "decision 'a' of round 0: expired_by_capacity, as_wrong"
    ]


# Plain data


def via_json(pending: PendingDecisions, model: Any, **options: Any) -> PendingDecisions:
    return PendingDecisions.from_dict(
        json.loads(json.dumps(pending.to_dict(), allow_nan=False)), model, **options
    )


def without_checksum(data: dict[str, Any]) -> dict[str, Any]:
    """What `to_dict` returned as the version before would have returned it."""
    return {**{name: value for name, value in data.items() if name != "checksum"}, "format": 1}


def test_a_store_goes_on_in_another_process(tmp_path: Any) -> None:
    clock = Clock()
    model = AdaBandit(["a", "b"], n_learners=3, seed=1)
    pending = PendingDecisions(
        model, capacity=20, max_rounds=15, max_seconds=100.0, expired="drop", clock=clock
    )
    for t in range(25):
        pending.decide(("visit", t), {"x": t})
        clock.now += 1.0
    pending.learn(("visit", 20), True)
    model.save(tmp_path / "model.bb")
    copy = banditboost.load(tmp_path / "model.bb")
    again = via_json(pending, copy, clock=clock)
    assert again.to_dict() == pending.to_dict()
    assert repr(again) == repr(pending)
    for key in [("visit", t) for t in (20, 3, 24, 99)]:
        assert again.learn(key, True) is pending.learn(key, True)
    clock.now += 85.0
    assert again.expire() == pending.expire() > 0
    assert again.to_dict() == pending.to_dict()
    assert difference(model, copy) == []


def test_a_verdict_between_saving_the_store_and_the_model(tmp_path: Any) -> None:
    model = AdaBandit(["a", "b"], n_learners=3, seed=1)
    pending = PendingDecisions(model)
    pending.decide("x", {"x": 1})
    stored = pending.to_dict()
    pending.learn("x", True)
    model.save(tmp_path / "model.bb")
    model = banditboost.load(tmp_path / "model.bb")
    pending = PendingDecisions.from_dict(stored, model)
    assert [pending.learn("x", True) for _ in range(2)] == [DUPLICATE, DUPLICATE]
    assert len(pending) == 0
    assert (pending.counters["learned"], pending.counters["duplicate"], model.verdicts) == (0, 2, 1)


def test_a_decision_of_rounds_that_were_lost_is_refused_and_closed(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = AdaBandit(["a", "b"], n_learners=3, seed=1)
    pending = PendingDecisions(model)
    model.save(tmp_path / "model.bb")
    pending.decide("lost", {"x": 1})
    stored = pending.to_dict()
    model = banditboost.load(tmp_path / "model.bb")
    pending = PendingDecisions.from_dict(stored, model)
    pending.decide("new", {"x": 2})
    with caplog.at_level(logging.INFO, logger="banditboost"):
        assert [pending.learn("lost", True) for _ in range(2)] == [REFUSED, REFUSED]
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "decision 'lost' of round 0: refused, the decision of round 0 was made"
    )
    assert "lost" not in pending
    assert pending.learn("new", True) is LEARNED
    assert {name: n for name, n in pending.counters.items() if n} == {"added": 2, "learned": 1, "refused": 2}
    again = via_json(pending, model)
    assert again.learn("lost", True) is REFUSED


# An exception at every line of a call, as Ctrl-C or a time limit would raise it


@pytest.mark.skipif(INTERPRETED, reason="interpreted kernels can be interrupted")
def test_a_verdict_is_learned_and_counted_once_wherever_its_call_ends() -> None:
    def begun() -> tuple[AdaBandit, PendingDecisions]:
        model = AdaBandit(["a", "b"], n_learners=2, seed=1)
        pending = PendingDecisions(model, capacity=1)
        for key in "zyx":
            pending.decide(key, {"x": 1})
            if key != "x":
                pending.learn(key, True)
        return model, pending

    for at in range(1, len(lines_of(partial(begun()[1].learn, "x", True))) + 1):
        model, pending = begun()
        where = interrupted(partial(pending.learn, "x", True), at)
        outcome = pending.learn("x", True)
        assert outcome in (LEARNED, DUPLICATE), where
        assert (len(pending), model.verdicts) == (0, 3), where
        assert pending.counters["learned"] == 3, where
        assert pending.counters["duplicate"] == (outcome is DUPLICATE), where
        assert pending.learn("x", True) is DUPLICATE, where


@pytest.mark.skipif(INTERPRETED, reason="interpreted kernels can be interrupted")
@pytest.mark.parametrize("first", ["expire", "learn"])
def test_a_decision_expires_and_is_counted_once_wherever_the_call_ends(first: str) -> None:
    def begun() -> tuple[AdaBandit, PendingDecisions, Clock]:
        model, clock = AdaBandit(["a", "b"], n_learners=2, seed=1), Clock()
        pending = PendingDecisions(model, max_seconds=10.0, clock=clock)
        pending.decide("x", {"x": 1})
        clock.now += 0.0 if first == "learn" else 11.0
        return model, pending, clock

    def call(pending: PendingDecisions) -> None:
        _ = pending.expire() if first == "expire" else pending.learn("x", True)

    for at in range(1, len(lines_of(partial(call, begun()[1]))) + 1):
        model, pending, clock = begun()
        where = interrupted(partial(call, pending), at)
        clock.now += 11.0
        pending.expire()
        assert (len(pending), model.verdicts) == (0, 1), where
        counted = pending.counters
        assert counted["learned"] + counted["expired_by_seconds"] == 1, where
        assert (counted["refused"], counted["duplicate"]) == (0, 0), where


def test_ids_that_json_cannot_carry_are_refused() -> None:
    pending, _, _ = make()
    pending.decide(frozenset("a"), {})
    with pytest.raises(DecisionError, match="frozenset"):
        pending.to_dict()


def test_a_changed_dict_is_refused() -> None:
    pending, model, _ = make()
    pending.decide("a", {})
    pending.decide("b", {})
    pending.learn("b", True)
    good = without_checksum(pending.to_dict())
    changes: list[dict[str, Any]] = [
        {"format": 3}, {"model": "other"}, {"rule": {"capacity": 0}}, {"rule": 5}, {"rule": {"unheard": 1}},
        {"open": [[1]]}, {"open": 5},
        {"open": [["a", 0, 0.0, {}]]}, {"open": [[["a"], *good["open"][0][1:]]]}, {"closed": [["b", "lost"]]},
        {"counters": {}},
        {"open": [[*good["open"][0][:3], forged(good["open"][0][3], model="other")]]},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(DecisionError):
            PendingDecisions.from_dict({**good, **change}, model)
    with pytest.raises(DecisionError, match="no store"):
        PendingDecisions.from_dict([], model)  # type: ignore[arg-type]


# All calls at once


def test_threads_lose_and_repeat_nothing() -> None:
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    pending = PendingDecisions(model, capacity=50)
    outcomes: list[Outcome] = []

    def work(number: int) -> None:
        for t in range(40):
            pending.decide((number, t), {"x": float(t)})
            outcomes.append(pending.learn((number, t), True))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (model.rounds, model.verdicts, len(outcomes)) == (320, 320, 320)
    assert set(outcomes) == {LEARNED}


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["decide", "learn", "wait"]), st.integers(0, 12)), max_size=60),
    st.integers(1, 5),
    st.integers(1, 6),
)
def test_against_a_plain_account(steps: list[tuple[str, int]], capacity: int, max_rounds: int) -> None:
    """What the store does, told in lists that are searched from end to end."""
    pending, model, clock = make(capacity=capacity, max_rounds=max_rounds, max_seconds=10.0)
    waiting: list[tuple[int, int, float]] = []  # id, rounds and time when it was added
    closed: list[tuple[int, Outcome]] = []
    heard: list[bool] = []

    def close(n: int, outcome: Outcome, verdict: bool) -> None:
        for item in waiting[:n]:
            closed.append((item[0], outcome))
            heard.append(verdict)
        del waiting[:n], closed[: max(0, len(closed) - capacity)]

    def expire() -> None:
        close(
            sum(
                model.rounds - rounds > max_rounds or clock.now - added > 10.0 for _, rounds, added in waiting
            ),
            EXPIRED,
            False,
        )

    for step, key in steps:
        if step == "wait":
            clock.now += key
            continue
        known = key in dict(closed) or key in [item[0] for item in waiting]
        if step == "decide" and known:
            with pytest.raises(DecisionError):
                pending.decide(key, {})
        elif step == "decide":
            expire()
            pending.decide(key, {})
            waiting.append((key, model.rounds, clock.now))
            close(len(waiting) - capacity if len(waiting) > capacity else 0, EXPIRED, False)
        else:
            expire()
            place = [item[0] for item in waiting].index(key) if key in [item[0] for item in waiting] else None
            expected = {LEARNED: DUPLICATE, None: UNKNOWN}.get(dict(closed).get(key), EXPIRED)
            if place is not None:
                waiting.insert(0, waiting.pop(place))
                close(1, LEARNED, True)
                expected = LEARNED
            assert pending.learn(key, True) is expected
        assert [item[0] for item in waiting] == list(pending._open)
        assert [verdict for _, verdict in model.heard] == heard
    assert pending.to_dict()["closed"] == [[key, str(outcome)] for key, outcome in closed]


def test_decisions_among_some_labels_wait_as_others_do() -> None:
    model = AdaBandit(["a", "b", "c"], n_learners=3, seed=1)
    pending = PendingDecisions(model)
    decision = pending.decide("visit", {"age": 31}, allowed=["c", "b"])
    assert decision.allowed == ("b", "c")
    text = json.dumps(pending.to_dict())
    again = PendingDecisions.from_dict(json.loads(text), model)
    assert again.learn("visit", True) is LEARNED
    with pytest.raises(LabelError, match="some of the model's labels"):
        pending.decide("another", {"age": 31}, allowed=["d"])
    assert "another" not in pending
    assert model.rounds == 1
