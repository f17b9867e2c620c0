"""What the page is told of statistics: the same as the package's own estimates from the same rows."""

from __future__ import annotations

import json
import random

import pytest

from banditboost.evaluation import PolicyDifference, PolicyValue
from banditboost.serve.events import Decided, Judged, Settled
from banditboost.serve.statistics import ModelStatistics, show
from banditboost.serve.statistics.points import SPANS
from tests.serve.statistics.streams import Known, Stream, watched

LABELS = ["a", "b"]
CONTROL = 0.25


def played(n: int, seed: int, better: float) -> tuple[ModelStatistics, list[tuple[float, Known]]]:
    """A model whose decisions earn more than its control group's, by so much; a decision in each second."""
    draw, made, rows = random.Random(seed), ModelStatistics(), []
    made.note(0.0, Settled({"labels": LABELS, "rewards": [0, 1], "control": CONTROL}))
    for second in range(n):
        arm = "control" if draw.random() < CONTROL else "model"
        assigned = CONTROL if arm == "control" else 1 - CONTROL
        greedy = arm == "model" and draw.random() < 0.8
        label = "a" if greedy else draw.choice(LABELS)
        probability = 0.5 if arm == "control" else 0.9 if label == "a" else 0.1
        known = Known(float(second), label, probability, arm, 2, assigned)
        reward = float(draw.random() < 0.2 + better * (arm == "model"))
        id = str(second)
        event = Decided(id, b"{}", None, None, arm, label, probability, False, False, second + 60.0, "v")
        made.note(float(second), event, known)
        made.note(float(second), Judged(id, reward, "learned"), known, reward)
        rows.append((reward, known))
    return made, rows


def test_estimates_and_bounds_are_those_of_the_package() -> None:
    statistics, rows = played(400, 1, 0.4)
    told = show(statistics.look("hour"), "hour")
    own = [(reward, known) for reward, known in rows if known.arm == "model"]
    rewards, logged = [reward for reward, _ in own], [known.probability for _, known in own]
    value = PolicyValue()
    value.add_many(rewards, logged, logged)
    bounds = value.interval()
    assert told["value"]["estimate"] == pytest.approx(value.estimate(), abs=1e-12)
    assert (told["value"]["low"], told["value"]["high"]) == (bounds.low, bounds.high)
    for name, policy, level in [("uniform", [0.5] * len(own), 0.95), ("a", None, 0.975)]:
        ahead = PolicyDifference()
        constant = [float(known.label == name) for _, known in own]
        ahead.add_many(rewards, logged, policy or constant)
        others = told["others"]
        line = (
            others["uniform"]
            if policy
            else next(line for line in others["constants"] if line["label"] == name)
        )
        bounds = ahead.interval(level=level)
        assert line["ahead"]["estimate"] == pytest.approx(-ahead.estimate(), abs=1e-12)
        assert (line["ahead"]["low"], line["ahead"]["high"]) == (-bounds.high, -bounds.low)
        assert line["estimate"] == pytest.approx(value.estimate() + ahead.estimate(), abs=1e-12)


def test_points_tell_the_bounds_of_their_time() -> None:
    statistics, rows = played(300, 2, 0.4)
    told = show(statistics.look("10 minutes"), "10 minutes")
    for point in told["points"]:
        value = PolicyValue()
        own = [(r, k) for r, k in rows if k.arm == "model" and k.at < point["start"] + 10]
        value.add_many([r for r, _ in own], [k.probability for _, k in own], [k.probability for _, k in own])
        bounds = value.interval()
        assert point["value"] == pytest.approx([value.estimate(), bounds.low, bounds.high], abs=1e-9)
    assert told["points"][-1]["value"][1:] == [told["value"]["low"], told["value"]["high"]]


def test_the_report_says_by_how_much_and_since_when() -> None:
    statistics, rows = played(3_000, 3, 0.5)
    report = show(statistics.look("hour"), "hour")["control"]
    for name, mine in [("model", True), ("control", False)]:
        rewards = [reward for reward, known in rows if (known.arm == "model") is mine]
        assert report[name] == {"rewards": len(rewards), "mean": pytest.approx(sum(rewards) / len(rewards))}
    assert report["ahead"]["low"] < 0.5 < report["ahead"]["high"]
    assert report["ahead"]["estimate"] == pytest.approx(0.5, abs=0.05)
    since = report["better_since"]
    assert 0.0 < since < 3_000.0
    for until, better in [(since, True), (since - 10.0, False)]:
        before, _ = played(int(until), 3, 0.5)
        assert (show(before.look("hour"), "hour")["control"]["ahead"]["low"] > 0.0) is better


def test_a_group_that_is_not_worse_is_not_called_worse() -> None:
    statistics, _ = played(2_000, 4, 0.0)
    assert show(statistics.look("hour"), "hour")["control"]["better_since"] is None


def test_the_bounds_on_the_control_group_hold_at_all_times_together() -> None:
    """In 40 worlds, looked at 20 times each: it may fail in 2 of them on average, and does in none."""
    for seed in range(40):
        statistics, _ = played(200, 100 + seed, 0.3)
        for point in show(statistics.look("10 minutes"), "10 minutes")["points"]:
            _, low, high = point["ahead"] or (0.0, -1.0, 1.0)
            assert low <= 0.3 <= high


@pytest.mark.parametrize("span", SPANS)
def test_all_is_json_also_of_nothing(span: str) -> None:
    for statistics in (ModelStatistics(), watched(Stream(5, 300, 40.0)), played(1, 1, 0.0)[0]):
        json.dumps(show(statistics.look(span), span), allow_nan=False)
