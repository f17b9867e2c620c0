"""A learning loop in time: windows, silence, activation, sums, evaluations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from banditboost.serve.clock import Clock
from banditboost.serve.events import Closed, Judged, decode
from banditboost.serve.http.app import create_app
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.calling import Caller, calling

AT = "/personalizer/v1.1-preview.3"
BEGIN = 1_800_000_000.0
TIMES = {"startTime": "2027-01-15T00:00:00Z", "endTime": "2027-01-16T00:00:00Z"}
ASKED = TIMES | {"name": "first", "policies": []}


class Loop:
    """A service whose time is told by the test."""

    def __init__(self, store: SQLiteStore) -> None:
        self.time, self.store = BEGIN, store
        self.service = SoloService(ServiceSettings(), store, Clock(lambda: self.time))

    def called(self, caller: Caller) -> Loop:
        self.caller = caller
        return self

    def rank(self, event_id: str, **other: Any) -> dict[str, Any]:
        body = {"eventId": event_id, "actions": [{"id": "tea"}, {"id": "juice"}], **other}
        told = self.caller.post(f"{AT}/rank", json=body)
        assert told.status_code == 201
        found: dict[str, Any] = told.json()
        return found

    def reward(self, event_id: str, value: float) -> None:
        assert self.caller.post(f"{AT}/events/{event_id}/reward", json={"value": value}).status_code == 204

    def configure(self, **changes: Any) -> None:
        assert self.caller.patch(f"{AT}/configurations/service", json=changes).status_code == 200

    def wait(self, seconds: float) -> None:
        """Let time go on, until windows have ended and the log tells of it."""
        self.time += seconds
        (model,) = self.store.models()
        for _ in range(1_000):
            told = self.caller.get("/v1/models/personalizer").json()
            if not told["open"] and self.store.head(model.number)[0] == told["events"]:
                return
            self.caller.run(asyncio.sleep(0.02))
        pytest.fail("windows did not end")

    def told(self) -> list[Any]:
        """What became of events, by the log."""
        (model,) = self.store.models()
        events = [decode(event.body) for event in self.store.read(model.number)]
        return [
            (event.id, event.reward, event.outcome if isinstance(event, Judged) else "closed")
            for event in events
            if isinstance(event, (Judged, Closed))
        ]


@pytest.fixture
def loop(store: SQLiteStore) -> Iterator[Loop]:
    made = Loop(store)
    with calling(create_app(made.service)) as caller:
        yield made.called(caller)


def test_silence_earns_the_default_reward(loop: Loop) -> None:
    loop.configure(defaultReward=-0.25)
    loop.rank("silent")
    loop.wait(601.0)
    loop.reward("silent", 1.0)
    assert loop.told() == [("silent", -0.25, "closed"), ("silent", 1.0, "late")]


def test_the_wait_time_is_that_of_the_configuration(loop: Loop) -> None:
    loop.configure(rewardWaitTime="PT5S")
    loop.rank("early")
    loop.time += 4.9
    loop.reward("early", 1.0)
    loop.rank("late")
    loop.wait(5.1)
    loop.reward("late", 1.0)
    assert loop.told() == [("early", 1.0, "learned"), ("late", 0.0, "closed"), ("late", 1.0, "late")]


def test_a_deferred_event_counts_once_it_is_activated(loop: Loop) -> None:
    for event_id in ("shown", "silent", "never"):
        loop.rank(event_id, deferActivation=True)
    loop.reward("shown", 1.0)
    loop.reward("never", 1.0)
    for event_id in ("shown", "silent"):
        assert loop.caller.post(f"{AT}/events/{event_id}/activate").status_code == 204
    assert loop.caller.get("/v1/models/personalizer").json()["verdicts"] == 1
    loop.wait(601.0)
    assert loop.told() == [
        ("shown", 1.0, "held"),
        ("never", 1.0, "held"),
        ("silent", 0.0, "closed"),
        ("never", None, "closed"),
    ]


def test_rewards_are_added_up_to_the_end_of_the_range(loop: Loop) -> None:
    loop.configure(rewardAggregation="sum")
    for event_id, values in {"few": [0.25, 0.5], "many": [1.0, 1.0, 1.0]}.items():
        loop.rank(event_id)
        for value in values:
            loop.reward(event_id, value)
    loop.wait(601.0)
    assert loop.told()[-2:] == [("few", 0.75, "closed"), ("many", 1.0, "closed")]


def test_rewards_with_one_request_id_are_one_if_they_are_the_same(loop: Loop) -> None:
    loop.configure(rewardAggregation="sum")
    loop.rank("e")
    for value in (0.25, 0.5, 0.25):
        headers = {"x-ms-client-request-id": "visitor-7"}
        loop.caller.post(f"{AT}/events/e/reward", json={"value": value}, headers=headers)
    assert [outcome for _, _, outcome in loop.told()] == ["added", "added", "duplicate"]


def test_names_of_models_may_have_any_letters(loop: Loop) -> None:
    at = "/models/%C3%A4%20%0Ab/personalizer/v1.0"
    loop.caller.put("/v1/models/%C3%A4%20%0Ab", json={"learner": "OptionBoost", "rewards": [-1, 1]})
    assert loop.caller.post(f"{at}/rank", json={"actions": [{"id": "tea"}]}).status_code == 201
    created = loop.caller.post(f"{at}/evaluations", json=ASKED)
    assert created.headers["location"] == f"{at}/evaluations/{created.json()['id']}"


def test_an_evaluation_of_the_first_form(loop: Loop) -> None:
    rewards = {"tea": -1.0, "juice": 0.5}
    shown = []
    for n in range(20):
        loop.time += 60.0
        shown.append(loop.rank(f"e{n}")["rewardActionId"])
        loop.reward(f"e{n}", rewards[shown[-1]])
    created = loop.caller.post(f"{AT}/evaluations", json=ASKED)
    told = created.json()
    assert (created.status_code, created.headers["location"]) == (201, f"{AT}/evaluations/{told['id']}")
    assert (told["name"], told["status"], told["evaluationType"]) == ("first", "completed", "Manual")
    assert told["startTime"] == TIMES["startTime"]
    online, baseline, lot = told["policyResults"]
    assert [one["policySource"] for one in (online, baseline, lot)] == ["Online", "Baseline", "Random"]
    assert online["arguments"] == "OptionBoost {}"
    mean = sum(rewards[action] for action in shown) / 20
    assert online["totalSummary"]["averageReward"] == pytest.approx(mean)
    assert online["totalSummary"]["ipsEstimatorDenominator"] == 20
    assert baseline["totalSummary"]["nonZeroProbability"] == shown.count("tea")
    assert sum(one["ipsEstimatorDenominator"] for one in online["summary"]) == 20
    assert online["summary"][0]["aggregateTimeWindow"] == "PT300S"

    loop.rank("later")
    loop.reward("later", 1.0)
    at = f"{AT}/evaluations/{told['id']}"
    assert loop.caller.get(at).json() == told
    (listed,) = loop.caller.get(f"{AT}/evaluations").json()
    assert listed == {name: told[name] for name in listed}
    assert loop.caller.delete(at).status_code == 204
    gone = loop.caller.get(at)
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "EvaluationNotFound")
    assert loop.caller.get(f"{AT}/evaluations").json() == []


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"endTime": TIMES["startTime"]}, "endTime"),
        ({"startTime": "yesterday"}, "startTime"),
        ({"name": ""}, "name"),
        ({"policies": [{"name": "mine", "arguments": "--cb_explore_adf"}]}, "policies"),
        ({"enableOfflineExperimentation": True}, "enableOfflineExperimentation"),
        ({"enablePolicyOptimization": True}, "enablePolicyOptimization"),
    ],
)
def test_a_wrong_evaluation_is_refused(loop: Loop, change: dict[str, Any], target: str) -> None:
    refused = loop.caller.post(f"{AT}/evaluations", json=ASKED | change)
    told = refused.json()["error"]
    assert (refused.status_code, told["code"], told["target"]) == (400, "InvalidEvaluationContract", target)


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"startTime": None}, "startTime"),
        ({"endTime": "soon"}, "endTime"),
        ({"intervalInMinutes": 7}, "intervalInMinutes"),
        ({"window": "Sliding"}, "window"),
        ({}, None),
    ],
)
def test_the_series_that_is_asked_for(loop: Loop, change: dict[str, Any], target: str | None) -> None:
    loop.rank("e")
    version = {"api-version": "2022-09-01-preview"}
    asked = {"name": "long", "startTime": "2020-01-01T00:00:00Z", "endTime": "2030-01-01T00:00:00Z"}
    assert loop.caller.put("/personalizer/evaluations/x", params=version, json=asked).status_code == 200
    query = version | TIMES | {"intervalInMinutes": 60, "window": "Rolling"} | change
    given = {name: value for name, value in query.items() if value is not None}
    told = loop.caller.get("/personalizer/evaluations/x", params=given)
    assert (told.status_code, told.json().get("error", {}).get("target")) == (400 if target else 200, target)
    too_long = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2030-01-01T00:00:00Z"}
    refused = loop.caller.get("/personalizer/evaluations/x", params=version | too_long)
    assert refused.json()["error"]["target"] == "intervalInMinutes"


def test_evaluations_are_limited_in_number(loop: Loop) -> None:
    loop.rank("e")
    codes = {
        loop.caller.put(
            f"/personalizer/evaluations/{n}", params={"api-version": "2022-09-01-preview"}, json=ASKED
        ).status_code
        for n in range(100)
    }
    assert codes == {200}
    full = loop.caller.post(f"{AT}/evaluations", json=ASKED)
    assert (full.status_code, full.json()["error"]["innerError"]["code"]) == (409, "too-many")
