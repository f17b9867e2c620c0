"""What the log says of the three policies."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.serve.events import Activated, AnyEvent, Closed, Decided, Judged, Settled, encode
from banditboost.serve.http.personalizer.evaluating import SOURCES, Evaluator, row_of, series, summary
from banditboost.serve.store.base import StoredEvent
from tests.naive.personalizer import evaluation

REWARDS = (-1.0, 1.0)
ACTIONS = ["a", "b", "c"]


def stored(events: list[tuple[float, AnyEvent]]) -> list[StoredEvent]:
    return [StoredEvent(n, "", at, 0, encode(event)) for n, (at, event) in enumerate(events, 1)]


def decided(id_: str, label: str = "a", p: float = 0.5, arm: str = "model", **other: Any) -> Decided:
    options = msgspec.json.encode({action: {} for action in ACTIONS})
    told = {"allowed": None, "explored": False, "deferred": False, "expires": 9.0, "version": "m.0"} | other
    return Decided(id=id_, features=b"{}", options=options, arm=arm, label=label, probability=p, **told)


def earned(events: list[tuple[float, AnyEvent]]) -> list[float]:
    evaluator = Evaluator(0.0, 100.0)
    evaluator.read(stored(events))
    found: list[float] = evaluator.rows()["reward"].tolist()
    return found


LEFT = st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=3, unique=True)


@st.composite
def decisions(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = []
    for n in range(draw(st.integers(0, 12))):
        allowed, arm = sorted(draw(LEFT)), draw(st.sampled_from(["model", "control", "baseline"]))
        p = {
            "model": draw(st.sampled_from([0.1, 0.5, 0.9])),
            "control": 1.0 / len(allowed),
            "baseline": 1.0,
        }[arm]
        label = allowed[0] if arm == "baseline" else draw(st.sampled_from(allowed))
        ranking = draw(st.sampled_from([[], [(action, 1.0 / len(allowed)) for action in allowed]]))
        reward = draw(st.none() | st.sampled_from([-1.0, -0.25, 0.0, 1.0]))
        made.append(
            {
                "at": float(n),
                "arm": arm,
                "label": label,
                "allowed": allowed,
                "probability": p,
                "ranking": ranking,
                "reward": reward,
            }
        )
    return made


@given(decisions(), st.integers(0, 6), st.integers(0, 12))
def test_sums_are_those_of_plain_loops(told: list[dict[str, Any]], start: int, length: int) -> None:
    events: list[tuple[float, AnyEvent]] = []
    for n, one in enumerate(told):
        allowed = None if one["allowed"] == ACTIONS else one["allowed"]
        other = {"allowed": allowed, "ranking": one["ranking"]}
        events.append((one["at"], decided(str(n), one["label"], one["probability"], one["arm"], **other)))
        if one["reward"] is not None:
            events.append((50.0, Judged(str(n), one["reward"], "learned")))
    evaluator = Evaluator(float(start), float(start + length))
    evaluator.read(stored(events))
    expected = evaluation(told, start, start + length)
    for source in SOURCES:
        found = summary(evaluator.rows(), source, REWARDS, 0.0)
        sums = {
            "rows": found.rows,
            "shown": found.shown,
            "weights": found.weights,
            "weighted": found.weighted_rewards,
        }
        assert sums == pytest.approx({name: expected[source][name] for name in sums}, abs=1e-12)
        assert found.estimate == pytest.approx(expected[source]["estimate"], abs=1e-12)
        assert -1.0 <= found.low <= found.high <= 1.0


def test_every_policy_is_told_without_bias() -> None:
    """On average over what the model may choose, a weighted reward is what the policy earns."""
    shares, rewards = {"a": 0.7, "b": 0.2, "c": 0.1}, {"a": -1.0, "b": 0.5, "c": 1.0}
    values = {"Online": -0.5, "Baseline": -1.0, "Random": 0.5 / 3.0}
    for source, value in values.items():
        rows = {label: row_of(decided("x", label, p), 0.0) for label, p in shares.items()}
        weights = {label: getattr(row, source.lower()) / row.probability for label, row in rows.items()}
        mean = sum(shares[label] * weights[label] * rewards[label] for label in shares)
        assert mean == pytest.approx(value, abs=1e-15)


def test_bounds_hold_where_a_baseline_shows_its_action_without_lot() -> None:
    """An apprentice that would show another action: what that earns is not known, only how little and how much
    it can be.
    """
    ranking = [("b", 0.9), ("a", 0.1), ("c", 0.0)]
    events: list[tuple[float, AnyEvent]] = []
    for n in range(200):
        events += [
            (1.0, decided(str(n), "a", 1.0, "baseline", ranking=ranking)),
            (2.0, Judged(str(n), -1.0, "learned")),
        ]
    evaluator = Evaluator(0.0, 9.0)
    evaluator.read(stored(events))
    online, baseline, lot = (summary(evaluator.rows(), source, REWARDS, 9.0) for source in SOURCES)
    least, most = 0.1 * -1.0 + 0.9 * -1.0, 0.1 * -1.0 + 0.9 * 1.0
    assert (online.estimate, lot.estimate, baseline.estimate) == (None, None, -1.0)
    assert -1.0 == online.low == least
    assert most <= online.high <= most + 0.1
    assert baseline.high < -0.8


def test_what_a_decision_has_earned() -> None:
    first = (1.0, decided("x"))
    assert earned([first]) == []
    assert earned([first, (2.0, Judged("x", 0.5, "learned")), (3.0, Judged("x", 1.0, "duplicate"))]) == [0.5]
    assert earned([first, (2.0, Judged("x", 0.5, "late"))]) == []
    assert earned([first, (2.0, Judged("x", 0.5, "logged"))]) == [0.5]
    assert earned([first, (2.0, Judged("x", 0.5, "added")), (9.0, Closed("x", 0.75))]) == [0.75]
    assert earned([first, (9.0, Closed("x", 0.0))]) == [0.0]
    assert earned([first, (9.0, Closed("x", None))]) == []
    assert earned([(0.0, Settled({})), (1.0, Judged("nobody", 1.0, "unknown"))]) == []


def test_a_deferred_decision_has_earned_what_was_held_once_it_is_activated() -> None:
    first, held = (1.0, decided("x", deferred=True)), (2.0, Judged("x", 0.5, "held"))
    assert earned([first, held]) == []
    assert earned([first, held, (9.0, Closed("x", None))]) == []
    assert earned([first, held, (3.0, Activated("x", "learned"))]) == [0.5]
    assert earned([first, (3.0, Activated("x", "activated")), (4.0, Judged("x", 0.25, "learned"))]) == [0.25]
    assert earned([first, held, (3.0, Activated("x", "added")), (9.0, Closed("x", 0.5))]) == [0.5]


def test_a_series_has_the_intervals_in_which_something_was_decided() -> None:
    events: list[tuple[float, AnyEvent]] = []
    for n, (at, reward) in enumerate([(1.0, 1.0), (2.0, -1.0), (2.5, 0.0), (7.0, 1.0)]):
        events += [(at, decided(str(n))), (at, Judged(str(n), reward, "learned"))]
    evaluator = Evaluator(0.0, 100.0)
    evaluator.read(stored(events))
    told = {
        rolling: [
            (one.at, one.rows, one.estimate)
            for one in series(evaluator.rows(), "Online", REWARDS, [2.0, 4.0, 6.0, 8.0], rolling=rolling)
        ]
        for rolling in (True, False)
    }
    assert told[True] == [(2.0, 2, 0.0), (4.0, 1, 0.0), (8.0, 1, 1.0)]
    assert told[False] == [(2.0, 2, 0.0), (4.0, 3, 0.0), (8.0, 4, 0.25)]
