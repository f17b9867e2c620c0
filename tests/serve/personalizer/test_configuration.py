"""The service configuration and the learning settings."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.serve.http.personalizer.configuration import changes_of, read_configuration
from banditboost.serve.problems import ServiceError
from tests.serve.calling import Caller
from tests.serve.personalizer.offering import OfferingService

AT = "/personalizer/v1.1-preview.3/configurations/service"
POLICY = "/personalizer/v1.1-preview.3/configurations/policy"
DEFAULTS = {
    "rewardWaitTime": "PT600S",
    "defaultReward": 0.0,
    "rewardAggregation": "earliest",
    "explorationPercentage": None,
    "modelExportFrequency": "P0D",
    "modelRetrainDays": 0,
    "logRetentionDays": -1,
    "logMirrorEnabled": False,
    "learningMode": "Online",
    "isAutoOptimizationEnabled": False,
}
OF_AZURE: dict[str, Any] = {
    "rewardWaitTime": "PT4H",
    "defaultReward": -0.5,
    "rewardAggregation": "sum",
    "explorationPercentage": 0.2,
    "modelExportFrequency": "PT5M",
    "modelRetrainDays": 2,
    "logRetentionDays": -1,
    "lastConfigurationEditDate": "2021-01-01T00:00:00Z",
    "learningMode": "Apprentice",
    "isAutoOptimizationEnabled": False,
    "autoOptimizationFrequency": "P7D",
    "autoOptimizationStartDate": "2019-01-19T00:00:00Z",
}


def test_defaults(client: Caller) -> None:
    assert client.get(AT).json() == DEFAULTS


def test_what_get_tells_can_be_put_and_changes_nothing(client: Caller, service: OfferingService) -> None:
    told = client.get(AT).json()
    before = service.models["personalizer"]
    put = client.put(AT, json=told)
    assert (put.status_code, put.json()) == (200, told)
    assert service.models["personalizer"] == before


def test_a_configuration_of_azure_is_taken_and_the_answer_tells_what_is_so(
    client: Caller, service: OfferingService
) -> None:
    put = client.put(AT, json=OF_AZURE)
    assert put.status_code == 200
    assert put.json() == DEFAULTS | {
        "rewardWaitTime": "PT14400S",
        "defaultReward": -0.5,
        "rewardAggregation": "sum",
        "learningMode": "Apprentice",
    }
    for name in ("explorationPercentage", "modelExportFrequency", "modelRetrainDays"):
        assert f'299 banditboost "{name} is not used: ' in put.headers["warning"]
    settings = service.models["personalizer"]
    assert (settings.window, settings.counting, settings.mode) == (14400.0, "sum", "apprentice")
    assert (settings.silence, settings.silence_reward) == ("reward", -0.5)


def test_the_first_version_changes_parts(client: Caller, service: OfferingService) -> None:
    told = client.patch("/personalizer/v1.0/configurations/service", json={"learningMode": "LoggingOnly"})
    assert told.json() == DEFAULTS | {"learningMode": "LoggingOnly"}
    assert "warning" not in told.headers
    assert service.models["personalizer"].mode == "logging"


def test_no_default_reward_is_null(client: Caller, service: OfferingService) -> None:
    assert client.put(AT, json=OF_AZURE | {"defaultReward": None}).json()["defaultReward"] is None
    assert service.models["personalizer"].silence == "nothing"
    client.put("/v1/models/shop", json={"learner": "OptionBoost", "silence": "wrong", "rewards": [-1, 1]})
    shop = client.get("/models/shop/personalizer/v1.0/configurations/service").json()
    assert shop["defaultReward"] == -1.0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rewardWaitTime": "PT4S"}, "InvalidServiceConfiguration"),
        ({"rewardWaitTime": "P2DT1S"}, "InvalidServiceConfiguration"),
        ({"rewardWaitTime": "10 minutes"}, "InvalidServiceConfiguration"),
        ({"defaultReward": 1.5}, "InvalidServiceConfiguration"),
        ({"rewardAggregation": "mean"}, "InvalidServiceConfiguration"),
        ({"explorationPercentage": 1.5}, "InvalidServiceConfiguration"),
        ({"learningMode": "Offline"}, "InvalidServiceConfiguration"),
        ({"logRetentionDays": 90}, "InvalidLogRetentionDays"),
        ({"logMirrorEnabled": True}, "InvalidServiceConfiguration"),
        ({"isAutoOptimizationEnabled": True}, "InvalidServiceConfiguration"),
        ({"rewardWait": "PT5M"}, "InvalidServiceConfiguration"),
    ],
)
def test_a_wrong_configuration_changes_nothing(
    client: Caller, service: OfferingService, change: dict[str, Any], code: str
) -> None:
    client.get(AT)
    before = service.models["personalizer"]
    refused = client.put(AT, json=OF_AZURE | change)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert next(iter(change)) in refused.json()["error"]["message"]
    assert service.models["personalizer"] == before


@pytest.mark.parametrize("name", ["rewardWaitTime", "defaultReward", "logRetentionDays"])
def test_put_wants_the_whole_configuration(client: Caller, name: str) -> None:
    parts = {key: value for key, value in OF_AZURE.items() if key != name}
    refused = client.put(AT, json=parts)
    assert (refused.status_code, refused.json()["error"]["target"]) == (400, name)
    assert client.patch(AT, json=parts).status_code == 200


PARTS = st.dictionaries(st.sampled_from(sorted(OF_AZURE)), st.sampled_from([*OF_AZURE.values(), None, 5]))


@given(st.binary() | PARTS.map(msgspec.json.encode))
def test_whatever_comes_is_read_or_refused(body: bytes) -> None:
    with suppress(ServiceError):
        changes = changes_of(read_configuration(body, whole=False))
        assert changes.keys() <= {"window", "silence", "silence_reward", "counting", "mode"}


def test_learning_settings_are_told_and_kept(client: Caller) -> None:
    told = client.get(POLICY)
    assert told.json() == {"name": "banditboost", "arguments": "OptionBoost {}"}
    for same in (client.put(POLICY, json=told.json()), client.delete(POLICY)):
        assert (same.status_code, same.json()) == (200, told.json())
    for other in ({"name": "banditboost", "arguments": "--cb_explore_adf"}, {"name": "x", "arguments": ""}):
        refused = client.put(POLICY, json=other)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidPolicyConfiguration")
