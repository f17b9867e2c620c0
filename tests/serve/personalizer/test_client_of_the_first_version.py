"""PyPI's azure-cognitiveservices-personalizer, which speaks v1.0, against a service on a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from azure.cognitiveservices.personalizer import PersonalizerClient
from azure.cognitiveservices.personalizer.models import ErrorResponseException, RankableAction, RankRequest
from msrest.authentication import CognitiveServicesCredentials
from msrest.exceptions import HttpOperationError

from banditboost.serve.settings import ModelSettings
from tests.serve.personalizer.conftest import Start

ACTIONS = [
    RankableAction(id="pasta", features=[{"price": 9.5}, {"vegan": False}]),
    RankableAction(id="soup", features=[{"price": 5.5}, {"vegan": True}]),
]


def connect(endpoint: str) -> Any:
    return PersonalizerClient(endpoint, CognitiveServicesCredentials("any key"))


@pytest.fixture
def client(start: Start) -> Iterator[Any]:
    with connect(start()) as client:
        yield client


def test_rank_and_reward(client: Any) -> None:
    request = RankRequest(
        actions=ACTIONS, context_features=[{"time": "evening"}, {"user": {"age": 31}}], event_id="visit/1"
    )
    told = client.rank(request)
    assert (told.event_id, told.reward_action_id) == ("visit/1", told.ranking[0].id)
    assert sum(place.probability for place in told.ranking) == pytest.approx(1.0)
    again = client.rank(request)
    assert again.as_dict() == told.as_dict()
    client.events.reward("visit/1", 0.5)
    client.events.reward("visit/1", 0.5)
    client.events.reward("nobody", 1.0)


def test_excluded_actions_and_ids_that_are_made(client: Any) -> None:
    told = client.rank(RankRequest(actions=ACTIONS, context_features=[{}], excluded_actions=["pasta"]))
    assert told.reward_action_id == "soup"
    assert {place.id: place.probability for place in told.ranking} == {"pasta": 0.0, "soup": 1.0}
    assert told.event_id


def test_a_deferred_event(client: Any) -> None:
    client.rank(RankRequest(actions=ACTIONS, event_id="later", defer_activation=True))
    client.events.reward("later", 1.0)
    client.events.activate("later")
    client.events.activate("nobody")


def test_errors(client: Any) -> None:
    with pytest.raises(ErrorResponseException) as told:
        client.rank(RankRequest(actions=[]))
    error = told.value.error.error
    assert (error.code, error.target) == ("BadRequest", "actions")
    assert error.message == "actions are 0; give 1 to 50"
    with pytest.raises(HttpOperationError) as refused:
        client.events.reward("visit", 2.0)
    assert refused.value.response.status_code == 400


def test_a_model_of_its_own_by_the_endpoint(start: Start) -> None:
    at = start(shop=ModelSettings(learner="OptionBoost", rewards=(-1.0, 1.0)))
    with connect(f"{at}/models/shop") as client:
        assert client.rank(RankRequest(actions=ACTIONS, event_id="e")).event_id == "e"
        client.events.reward("e", -1.0)
    with connect(f"{at}/models/other") as client:
        with pytest.raises(ErrorResponseException) as told:
            client.rank(RankRequest(actions=ACTIONS))
        assert told.value.error.error.code == "ResourceNotFound"
