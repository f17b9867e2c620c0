"""The dialects of Personalizer by themselves: paths, versions, bodies, limits, refusals."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.http.auth import hash_of
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Key, Limits, ServiceSettings
from tests.serve.calling import Caller, calling
from tests.serve.personalizer.offering import OfferingService

OLDEST, MIDDLE, LATEST = "/personalizer/v1.0", "/personalizer/v1.1-preview.3", "/personalizer"
QUERY = {"api-version": "2022-09-01-preview"}
REQUEST: dict[str, Any] = {
    "eventId": "visit-1",
    "contextFeatures": [{"hour": 9}, {"user": {"age": 31}}],
    "actions": [
        {"id": "pasta", "features": [{"price": 9.5}, {"vegan": False}]},
        {"id": "soup", "features": [{"price": 5.5}]},
        {"id": "salad", "features": [{"price": 4.0}]},
    ],
}


@pytest.fixture
def service() -> OfferingService:
    return OfferingService(ServiceSettings(limits=Limits(body=5000, file=10)))


@pytest.mark.parametrize("at", [OLDEST, MIDDLE, "/personalizer/v1.1-preview.1", LATEST])
def test_rank_reward_and_activate_in_every_dialect(client: Caller, service: OfferingService, at: str) -> None:
    told = client.post(f"{at}/rank", json=REQUEST, params=QUERY)
    assert told.status_code == 201
    assert told.json() == {
        "ranking": [
            {"id": "salad", "probability": 0.25},
            {"id": "pasta", "probability": 0.75},
            {"id": "soup", "probability": 0.75},
        ],
        "eventId": "visit-1",
        "rewardActionId": "salad",
    }
    asked = service.asked[0]
    assert msgspec.json.decode(asked.features) == {"hour": 9, "user.age": 31}
    assert msgspec.json.decode(asked.options or b"") == {
        "pasta": {"price": 9.5, "vegan": False},
        "soup": {"price": 5.5},
        "salad": {"price": 4.0},
    }
    assert (asked.allowed, asked.baseline, asked.deferred) == (None, "pasta", False)
    rewarded = client.post(f"{at}/events/visit-1/reward", json={"value": -0.5}, params=QUERY)
    assert (rewarded.status_code, rewarded.content) == (204, b"")
    assert service.judged["visit-1"].reward == -0.5
    assert client.post(f"{at}/events/visit-1/activate", params=QUERY).status_code == 204


def test_excluded_actions_keep_their_places_with_probability_0(
    client: Caller, service: OfferingService
) -> None:
    told = client.post(f"{OLDEST}/rank", json=REQUEST | {"excludedActions": ["pasta", "nothing of these"]})
    assert [(one["id"], one["probability"]) for one in told.json()["ranking"]] == [
        ("pasta", 0.0),
        ("salad", 0.25),
        ("soup", 0.75),
    ]
    assert (service.asked[0].allowed, service.asked[0].baseline) == (["soup", "salad"], "soup")


def test_an_event_without_id_gets_one_and_may_be_deferred(client: Caller, service: OfferingService) -> None:
    told = client.post(f"{MIDDLE}/rank", json=REQUEST | {"eventId": None, "deferActivation": True})
    assert told.json()["eventId"] == "made"
    assert (service.asked[0].id, service.asked[0].deferred) == (None, True)


@pytest.mark.parametrize("id_", ["a/b", "a/reward", "50%", "%2F", "ä ö", "x?y#z"])
def test_ids_of_events_are_decoded_once(client: Caller, service: OfferingService, id_: str) -> None:
    client.post(f"{OLDEST}/rank", json=REQUEST | {"eventId": id_})
    in_path = "".join(f"%{byte:02X}" for byte in id_.encode())
    assert client.post(f"{OLDEST}/events/{in_path}/reward", json={"value": 1}).status_code == 204
    assert service.judged[id_].reward == 1.0


def test_a_reward_for_an_unknown_event_is_no_error(client: Caller) -> None:
    assert client.post(f"{OLDEST}/events/nobody/reward", json={"value": 1}).status_code == 204
    assert client.post(f"{OLDEST}/events/nobody/activate").status_code == 204


def test_the_model_is_made_at_first_use_and_others_are_not(client: Caller, service: OfferingService) -> None:
    assert client.get("/v1/models/personalizer").status_code == 404
    client.post(f"{OLDEST}/rank", json=REQUEST)
    settings = service.models["personalizer"]
    assert (settings.learner, settings.rewards, settings.window) == ("OptionBoost", (-1.0, 1.0), 600.0)
    assert (settings.silence, settings.silence_reward, settings.baseline) == ("reward", 0.0, "first")
    refused = client.post("/models/other/personalizer/v1.0/rank", json=REQUEST)
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "ResourceNotFound")
    assert refused.json()["error"]["innerError"] == {"code": "unknown-model"}


def test_a_model_that_cannot_be_made_is_refused_with_the_reason(
    client: Caller, service: OfferingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> Any:
        raise ServiceError(503, "disk-full", "the disk is full; make room", retry_after=1.0)

    monkeypatch.setattr(service, "create", fails)
    refused = client.post(f"{OLDEST}/rank", json=REQUEST)
    assert (refused.status_code, refused.json()["error"]["innerError"]) == (503, {"code": "disk-full"})


def test_a_model_that_somebody_else_makes_meanwhile_is_used(
    client: Caller, service: OfferingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = service.create

    async def late(name: str, settings: Any) -> Any:
        await create(name, settings)
        return await create(name, settings)

    monkeypatch.setattr(service, "create", late)
    assert client.post(f"{OLDEST}/rank", json=REQUEST).status_code == 201


def test_other_models_have_paths_of_their_own(client: Caller, service: OfferingService) -> None:
    client.put("/v1/models/shop", json={"learner": "OptionBoost"})
    told = client.post("/models/shop/personalizer/rank", json=REQUEST, params=QUERY)
    assert told.status_code == 201
    assert "personalizer" not in service.models


WRONG = [
    ({"actions": []}, "actions"),
    ({"actions": [{"id": str(i)} for i in range(51)]}, "actions"),
    ({"actions": [{"id": "a"}, {"id": "a"}]}, "actions"),
    ({"actions": [{"id": ""}]}, "actions[0].id"),
    ({"actions": [{"id": "a" * 257}]}, "actions[0].id"),
    ({"actions": [{"id": 3}]}, "actions[0].id"),
    ({"actions": None}, "actions"),
    ({"excludedActions": ["pasta", "soup", "salad"]}, "excludedActions"),
    ({"eventId": "e" * 257}, "eventId"),
    ({"contextFeatures": ["hour"]}, "contextFeatures[0]"),
    ({"contextFeatures": [{"hour": [1, "x"]}]}, "contextFeatures[0].hour"),
    ({"contextFeatures": [{"hour": [{"x": 1}]}]}, "contextFeatures[0].hour"),
    ({"actions": [{"id": "a", "features": [1]}]}, "actions[0].features[0]"),
    ({"contextFeature": []}, None),
]


@pytest.mark.parametrize(("change", "target"), WRONG)
def test_a_wrong_rank_request_is_refused_by_its_place(
    client: Caller, service: OfferingService, change: dict[str, Any], target: str | None
) -> None:
    refused = client.post(f"{MIDDLE}/rank", json=REQUEST | change)
    told = refused.json()["error"]
    assert (refused.status_code, told["code"], told["target"]) == (400, "InvalidRankRequest", target)
    assert refused.headers["x-ms-error-code"] == "InvalidRankRequest"
    assert told["message"]
    assert told["details"] == []
    assert not service.asked


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 2000, b'{"value": NaN}'])
def test_what_is_no_request_is_refused(client: Caller, body: bytes) -> None:
    for path, code in (("rank", "InvalidRankRequest"), ("events/e/reward", "InvalidRewardRequest")):
        refused = client.post(f"{MIDDLE}/{path}", content=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)


@pytest.mark.parametrize("value", [1.01, -1.01, None, "1", True, 1e300])
def test_a_wrong_reward_is_refused(client: Caller, service: OfferingService, value: Any) -> None:
    client.post(f"{MIDDLE}/rank", json=REQUEST)
    refused = client.post(f"{MIDDLE}/events/visit-1/reward", json={"value": value})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidRewardRequest")
    assert not service.judged


def test_the_first_version_knows_three_codes(client: Caller) -> None:
    codes = [
        client.request(method, f"{OLDEST}{path}", json=body).json()["error"]["code"]
        for method, path, body in [
            ("POST", "/rank", {}),
            ("DELETE", "/logs", None),
            ("GET", "/nothing", None),
            ("POST", "/rank", REQUEST | {"contextFeatures": ["x" * 6000]}),
        ]
    ]
    assert codes == ["BadRequest", "BadRequest", "ResourceNotFound", "BadRequest"]


def test_limits_and_refusals_of_the_service_reach_the_client(
    client: Caller, service: OfferingService
) -> None:
    too_long = client.post(f"{MIDDLE}/rank", json=REQUEST | {"contextFeatures": [{"x": "x" * 6000}]})
    assert (too_long.status_code, too_long.json()["error"]["code"]) == (413, "PayloadSizeExceeded")
    service.refusal = ServiceError(503, "disk-full", "the disk is full; make room", retry_after=1.2)
    busy = client.post(f"{MIDDLE}/rank", json=REQUEST)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "2")
    assert busy.json()["error"]["innerError"] == {"code": "disk-full"}
    service.refusal = ServiceError(422, "reward", "reward is 2; give 0 to 1", field="reward")
    refused = client.post(f"{MIDDLE}/events/e/reward", json={"value": 1})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidRewardRequest")
    service.refusal = ServiceError(409, "other-content", "this id was used", field="id")
    again = client.post(f"{MIDDLE}/rank", json=REQUEST)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "InvalidRankRequest")


def test_the_version_of_the_query_is_checked(client: Caller) -> None:
    for query in ({}, {"api-version": "2021"}):
        refused = client.post(f"{LATEST}/rank", json=REQUEST, params=query)
        assert (refused.status_code, refused.json()["error"]["target"]) == (400, "api-version")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/logs/interactions", "InvalidApiAccess"),
        ("GET", "/featureImportances", "InvalidApiAccess"),
        ("PUT", "/featureImportances/x", "InvalidApiAccess"),
        ("DELETE", "/logs", "OperationNotAllowed"),
        ("PATCH", "/rank", "ResourceNotFound"),
        ("GET", "/anything", "ResourceNotFound"),
    ],
)
def test_what_is_not_offered_is_refused_by_its_name(
    client: Caller, method: str, path: str, code: str
) -> None:
    refused = client.request(method, f"{MIDDLE}{path}")
    assert refused.json()["error"]["code"] == code
    assert refused.status_code == (404 if code == "ResourceNotFound" else 403)


def test_the_id_of_a_request_is_told_again_and_names_its_reward(
    client: Caller, service: OfferingService
) -> None:
    name = "r-7" * 100
    headers = {"x-ms-client-request-id": name}
    for path, status in (("rank", 201), ("events/visit-1/reward", 204), ("nothing", 404)):
        body = REQUEST if path == "rank" else {"value": 1}
        told = client.post(f"{OLDEST}/{path}", json=body, headers=headers)
        assert (told.status_code, told.headers["x-ms-client-request-id"]) == (status, name)
    assert len(service.judged["visit-1"].once or "") == 32


def test_keys_and_roles() -> None:
    keys = [Key(hash=hash_of("one"), roles=["decide", "learn"]), Key(hash=hash_of("all"), roles=["admin"])]
    service = OfferingService(ServiceSettings(keys=keys))
    with calling(create_app(service)) as client:
        for headers, status in [
            ({}, 401),
            ({"Ocp-Apim-Subscription-Key": "wrong"}, 401),
            ({"Ocp-Apim-Subscription-Key": "one"}, 201),
            ({"Authorization": "Bearer one"}, 201),
        ]:
            told = client.post(f"{OLDEST}/rank", json=REQUEST, headers=headers)
            assert told.status_code == status
            assert ("error" in told.json()) == (status == 401)
        one, all_ = ({"Ocp-Apim-Subscription-Key": key} for key in ("one", "all"))
        assert client.delete(f"{MIDDLE}/model", headers=one).json()["error"]["code"] == "OperationNotAllowed"
        assert client.delete(f"{MIDDLE}/model", headers=all_).status_code == 204


def test_the_dialects_can_be_switched_off() -> None:
    with calling(create_app(OfferingService(ServiceSettings(personalizer=None)))) as client:
        assert client.post(f"{OLDEST}/rank", json=REQUEST).status_code == 404


def test_the_file_of_the_model(client: Caller) -> None:
    file = client.get(f"{LATEST}/model", params=QUERY | {"signed": "true"})
    assert (file.status_code, file.content, file.headers["content-type"]) == (
        200,
        b"file",
        "application/octet-stream",
    )
    assert client.put(f"{LATEST}/model", params=QUERY, content=b"file").status_code == 204
    refused = client.put(f"{LATEST}/model", params=QUERY, content=b"other")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidModelImportFormat")
    assert client.put(f"{LATEST}/model", params=QUERY, content=b"file" * 9).status_code == 413
    assert client.delete(f"{LATEST}/model", params=QUERY).status_code == 204
    times = client.get(f"{LATEST}/model/properties", params=QUERY).json()
    assert times == {"creationTime": "1970-01-01T00:00:01Z", "lastModifiedTime": "1970-01-01T00:00:01Z"}
