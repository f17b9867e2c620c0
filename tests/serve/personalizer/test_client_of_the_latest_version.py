"""PyPI's azure-ai-personalizer, which speaks 2022-09-01-preview, against a service on a socket."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import pytest
from azure.ai.personalizer import PersonalizerAdministrationClient, PersonalizerClient
from azure.core.credentials import AccessToken, AzureKeyCredential
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)

from banditboost import OptionBoost, load
from banditboost.serve.events import AnyEvent, Decided, Judged, Settled, decode
from banditboost.serve.http.auth import hash_of
from banditboost.serve.http.personalizer.configuration import personalizer_settings
from banditboost.serve.settings import Key
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.personalizer.conftest import Start

NO_RETRIES = {"retry_total": 0}


class Loop(NamedTuple):
    """The two clients of a service."""

    events: Any
    admin: Any


def connect(endpoint: str, **options: Any) -> Loop:
    given = endpoint, AzureKeyCredential("any key")
    return Loop(PersonalizerClient(*given, **options), PersonalizerAdministrationClient(*given, **options))


@pytest.fixture
def loop(start: Start) -> Iterator[Loop]:
    settings = msgspec.structs.replace(personalizer_settings(), seed=7)
    made = connect(start(personalizer=settings), **NO_RETRIES)
    with made.events, made.admin:
        yield made


def request(event_id: str | None = None, hour: int = 9, **other: Any) -> dict[str, Any]:
    actions = [{"id": id_, "features": [{"price": price}]} for id_, price in (("tea", 3.5), ("juice", 3.0))]
    return {"eventId": event_id, "contextFeatures": [{"hour": hour}], "actions": actions} | other


def test_rank_reward_and_activate(loop: Loop) -> None:
    told = loop.events.rank(request("a/b"))
    assert (told["eventId"], told["rewardActionId"]) == ("a/b", told["ranking"][0]["id"])
    assert loop.events.rank(request("a/b")) == told
    loop.events.reward("a/b", {"value": 1.0})
    deferred = loop.events.rank(request(deferActivation=True))
    loop.events.activate(deferred["eventId"])
    loop.events.reward("nobody", {"value": 1.0})
    with pytest.raises(ResourceExistsError, match="other features"):
        loop.events.rank(request("a/b", hour=10))


def test_requests_at_the_same_time_with_one_id_are_one_decision(loop: Loop, store: SQLiteStore) -> None:
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda _: loop.events.rank(request("same")), range(12)))
    assert all(one == told[0] for one in told)
    assert [type(event) for event in events_of(store)] == [Settled, Decided]


def events_of(store: SQLiteStore) -> list[AnyEvent]:
    """The log of the only model."""
    (model,) = store.models()
    return [decode(event.body) for event in store.read(model.number)]


def test_the_configuration(loop: Loop) -> None:
    told = loop.admin.get_service_configuration()
    assert (told["rewardWaitTime"], told["learningMode"]) == ("PT600S", "Online")
    changed = loop.admin.update_service_configuration(
        told | {"rewardWaitTime": "PT4H", "rewardAggregation": "sum", "explorationPercentage": 0.3}
    )
    assert loop.admin.get_service_configuration() == changed
    assert (changed["rewardWaitTime"], changed["explorationPercentage"]) == ("PT14400S", None)
    with pytest.raises(HttpResponseError) as refused:
        loop.admin.update_service_configuration(told | {"logRetentionDays": 90})
    assert refused.value.error is not None
    assert refused.value.error.code == "InvalidLogRetentionDays"
    policy = loop.admin.get_policy()
    assert loop.admin.update_policy(policy) == loop.admin.reset_policy() == policy
    with pytest.raises(HttpResponseError, match="cannot be changed"):
        loop.admin.update_policy({"name": "mine", "arguments": "--cb_explore_adf"})


def test_an_apprentice_shows_the_first_action_that_is_not_excluded(loop: Loop) -> None:
    loop.admin.update_service_configuration(
        loop.admin.get_service_configuration() | {"learningMode": "Apprentice"}
    )
    for n in range(20):
        told = loop.events.rank(request(f"e{n}"))
        assert told["rewardActionId"] == "tea"
        assert told["ranking"] == [{"id": "tea", "probability": 1.0}, {"id": "juice", "probability": 0.0}]
        loop.events.reward(f"e{n}", {"value": 1.0})
    told = loop.events.rank(request(excludedActions=["tea"]))
    assert told["rewardActionId"] == "juice"
    assert loop.admin.get_service_configuration()["learningMode"] == "Apprentice"
    results = evaluated(loop)
    assert results["Online"]["expectedReward"] is None
    assert results["Baseline"]["expectedReward"] == 1.0


def evaluated(loop: Loop) -> dict[str, Any]:
    """Summaries of the policies over all that was decided."""
    times = {"start_time": datetime(2020, 1, 1, tzinfo=UTC), "end_time": datetime(2099, 1, 1, tzinfo=UTC)}
    start, end = (time.isoformat() for time in times.values())
    loop.admin.create_evaluation("all", {"name": "all", "startTime": start, "endTime": end, "policies": []})
    now = datetime.now(UTC)
    found = loop.admin.get_evaluation(
        "all", start_time=now - timedelta(days=1), end_time=now + timedelta(days=1)
    )
    return {one["name"]: one["summary"] for one in found["content"]["value"]}


def test_the_file_of_the_model(loop: Loop, tmp_path: Any) -> None:
    loop.events.rank(request("e"))
    loop.events.reward("e", {"value": 1.0})
    file = tmp_path / "model.bb"
    file.write_bytes(b"".join(loop.admin.export_model(signed=True)))
    model = load(file)
    assert (type(model), model.rewards, model.verdicts) == (OptionBoost, (-1.0, 1.0), 1)
    loop.admin.reset_model()
    file.write_bytes(b"".join(loop.admin.export_model()))
    assert load(file).verdicts == 0
    loop.admin.import_model(io.BytesIO(_saved(model, tmp_path)))
    file.write_bytes(b"".join(loop.admin.export_model()))
    assert load(file).verdicts == 1
    times = loop.admin.get_model_properties()
    assert times["creationTime"] <= times["lastModifiedTime"]
    with pytest.raises(HttpResponseError) as refused:
        loop.admin.import_model(io.BytesIO(b"no model"))
    assert refused.value.error is not None
    assert refused.value.error.code == "InvalidModelImportFormat"


def _saved(model: Any, folder: Any) -> bytes:
    model.save(folder / "saved.bb")
    found: bytes = (folder / "saved.bb").read_bytes()
    return found


def test_the_log(loop: Loop) -> None:
    with pytest.raises(ResourceNotFoundError):
        loop.admin.get_log_properties()
    loop.events.rank(request("e"))
    told = loop.admin.get_log_properties()["dateRange"]
    assert told["from"] <= told["to"]
    with pytest.raises(HttpResponseError, match="DELETE /v1/models/personalizer"):
        loop.admin.delete_logs()


def test_an_evaluation(loop: Loop) -> None:
    earned = visits(loop, 80)
    now = datetime.now(UTC)
    start, end = now - timedelta(hours=1), now + timedelta(hours=1)
    asked = {"name": "first", "startTime": start.isoformat(), "endTime": end.isoformat(), "policies": []}
    loop.admin.create_evaluation("one", asked)
    loop.admin.create_evaluation("one", asked)
    assert [one["id"] for one in loop.admin.list_evaluations()] == ["one"]
    assert list(loop.admin.list_evaluations(filter_expression="metadata=evaluationType eq 'Auto'")) == []
    found = loop.admin.get_evaluation("one", start_time=start, end_time=end, interval_in_minutes=60)
    assert (found["status"], found["content"]["intervalInMinutes"]) == ("Succeeded", 60)
    results = {one["name"]: one["summary"] for one in found["content"]["value"]}
    assert results["Online"]["expectedReward"] == pytest.approx(sum(earned) / 80)
    values = {"Online": sum(earned) / 80, "Baseline": 0.5, "Random": 0.5}
    for name, value in values.items():
        low, high = results[name]["confidenceInterval"]
        assert -1.0 <= low <= value <= high <= 1.0
    assert all(one["timeseries"]["data"] for one in found["content"]["value"])

    loop.admin.apply_from_evaluation({"evaluationId": "one", "policyName": "Online"})
    with pytest.raises(HttpResponseError, match="learns nothing"):
        loop.admin.apply_from_evaluation({"evaluationId": "one", "policyName": "Random"})
    with pytest.raises(ResourceExistsError):
        loop.admin.create_evaluation("one", asked | {"name": "another"})
    with pytest.raises(HttpResponseError, match="nothing was decided"):
        loop.admin.create_evaluation(
            "two", asked | {"startTime": "2020-01-01T00:00:00Z", "endTime": "2020-01-02T00:00:00Z"}
        )
    loop.admin.delete_evaluation("one")
    with pytest.raises(ResourceNotFoundError):
        loop.admin.delete_evaluation("one")
    with pytest.raises(ResourceNotFoundError):
        loop.admin.get_evaluation("one", start_time=start, end_time=end)


def test_slots(loop: Loop) -> None:
    """Juice earns in the second slot, nothing in the first."""
    slots = [{"id": "top", "baselineAction": "tea"}, {"id": "side", "baselineAction": "juice"}]
    earned = 0.0
    for n in range(100):
        told = loop.events.rank_multi_slot(request(f"e{n}", slots=slots))
        shown = {slot["id"]: slot["rewardActionId"] for slot in told["slots"]}
        assert (told["eventId"], sorted(shown.values())) == (f"e{n}", ["juice", "tea"])
        rewards = [
            {"slotId": "top", "value": 0.0},
            {"slotId": "side", "value": float(shown["side"] == "juice")},
        ]
        loop.events.reward_multi_slot(f"e{n}", {"reward": rewards})
        loop.events.activate_multi_slot(f"e{n}")
        earned += rewards[1]["value"]
    again = loop.events.rank_multi_slot(request("e0", slots=slots))
    assert again == loop.events.rank_multi_slot(request("e0", slots=slots))
    assert earned > 0.0
    loop.events.reward_multi_slot("nobody", {"reward": [{"slotId": "top", "value": 1.0}]})


def test_what_is_refused(loop: Loop) -> None:
    for call, code in [
        (lambda: loop.events.rank(request(actions=[])), "InvalidRankRequest"),
        (lambda: loop.events.reward("e", {"value": 2}), "InvalidRewardRequest"),
        (lambda: loop.events.rank_multi_slot(request(slots=[])), "InvalidRankRequest"),
        (lambda: list(loop.admin.list_feature_importances()), "InvalidApiAccess"),
    ]:
        with pytest.raises(HttpResponseError) as refused:
            call()
        assert refused.value.error is not None
        assert (refused.value.error.code, refused.value.response.headers["x-ms-error-code"]) == (code, code)


class Token:
    """A credential such as those of azure-identity."""

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("any key", 2**40)


def test_a_bearer_token(start: Start) -> None:
    with PersonalizerClient(start(), Token()) as client:
        assert client.rank(request("e"), enforce_https=False)["eventId"] == "e"


def test_keys(start: Start) -> None:
    at = start(keys=[Key(hash=hash_of("right"), roles=["decide"])])
    with PersonalizerClient(at, AzureKeyCredential("right")) as client:
        assert client.rank(request("e"))["eventId"] == "e"
        with pytest.raises(HttpResponseError) as refused:
            client.reward("e", {"value": 1.0})
        assert refused.value.status_code == 403
    with (
        PersonalizerClient(at, AzureKeyCredential("wrong")) as client,
        pytest.raises(ClientAuthenticationError),
    ):
        client.rank(request())


class FailsOnce:
    """Answers 503 to each first POST of a path, after the service has done its work."""

    def __init__(self, app: Any) -> None:
        self._app, self.failed = app, set[str]()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        fails = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] not in self.failed

        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.failed.add(scope["path"])
                message = {**message, "status": 503, "headers": []}
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app(scope, receive, told if fails else send)


@pytest.mark.parametrize("counting", ["first", "sum"])
def test_requests_that_are_sent_again_count_once(start: Start, store: SQLiteStore, counting: Any) -> None:
    settings = msgspec.structs.replace(personalizer_settings(), counting=counting)
    at = start(FailsOnce, personalizer=settings)
    loop = connect(at, retry_backoff_factor=0.0)
    assert loop.events.rank(request("e"))["eventId"] == "e"
    loop.events.reward("e", {"value": 0.5})
    judged = [event for event in events_of(store) if isinstance(event, Judged)]
    first = "learned" if counting == "first" else "added"
    assert [event.outcome for event in judged] == [first, "duplicate"]


def visits(loop: Loop, n: int) -> list[float]:
    """What visits have earned: with tea in the morning and juice in the evening always 1, by lot one half."""
    draw, earned = random.Random(7), []
    for visit in range(n):
        hour = draw.choice([9, 21])
        told = loop.events.rank(request(f"visit-{visit}", hour=hour))
        earned.append(float(told["rewardActionId"] == ("tea" if hour == 9 else "juice")))
        loop.events.reward(f"visit-{visit}", {"value": earned[-1]})
    return earned


def test_what_is_learned_beats_chance(loop: Loop) -> None:
    """By lot 300 visits earn 150 with a deviation of 9."""
    assert sum(visits(loop, 300)) > 210.0
