"""Odd requests to all paths of the dialects: refused or answered, and never a failure of the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.calling import Caller, calling

VERSIONS = ["/personalizer", "/personalizer/v1.0", "/personalizer/v1.1-preview.3", "/models/x/personalizer"]
PARTS = ["rank", "events", "reward", "activate", "multislot", "configurations", "service", "policy", "model"]
PARTS += ["properties", "logs", "evaluations", "applyFromEvaluation", "e", "", "..", "%00", "%2F", "%C3", "~"]
PATHS = st.lists(st.sampled_from(PARTS), max_size=4).map("/".join)
ODD = st.sampled_from(
    [
        None,
        True,
        -1,
        1e300,
        2**70,
        "",
        "x" * 300,
        "2026-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "PT10M",
        "P999999999D",
        [],
        {},
        "\x00",
        "\ud7ff",
        "Online",
    ]
)
NAMES = st.sampled_from(
    ["actions", "id", "features", "eventId", "slots", "value", "reward", "name", "option", "_x"]
)
BODIES = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6), max_leaves=15
)
QUERIES = st.dictionaries(
    st.sampled_from(
        ["api-version", "skip", "top", "filter", "startTime", "endTime", "intervalInMinutes", "window"]
    ),
    st.sampled_from(
        ["2022-09-01-preview", "-1", "5", "x", "2026-01-01T00:00:00Z", "9" * 30, "\x00", "Rolling"]
    ),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    store = SQLiteStore(tmp_path_factory.mktemp("store") / "s", "normal")
    with calling(create_app(SoloService(ServiceSettings(), store))) as caller:
        body = {"eventId": "e", "actions": [{"id": "a"}, {"id": "b"}]}
        assert caller.post("/personalizer/v1.0/rank", json=body).status_code == 201
        yield caller


@settings(max_examples=200)
@given(
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    st.sampled_from(VERSIONS),
    PATHS,
    BODIES.map(msgspec.json.encode) | st.binary(max_size=20),
    QUERIES,
)
def test_no_request_breaks_the_service(
    client: Caller, method: str, version: str, path: str, body: bytes, query: dict[str, str]
) -> None:
    told = client.request(method, f"{version}/{path}", content=body, params=query)
    assert told.status_code < 500
    if told.status_code >= 400 and "personalizer" in told.request.url.path:
        error: dict[str, Any] = told.json()["error"]
        assert error["code"]
        assert error["message"].isprintable()


ACTIONS = [{"id": "a", "features": [{"x": {"y": 1}}]}, {"id": "b", "features": []}]
TIMES = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2099-01-01T00:00:00Z"}
RANK = {"eventId": "r", "actions": ACTIONS, "contextFeatures": [{"x": [1, 2]}], "excludedActions": ["a"]}
SLOTS = [{"id": "s", "baselineAction": "a", "excludedActions": [], "features": [{"x": 1}]}]
CONFIGURATION = {
    "rewardWaitTime": "PT10M", "defaultReward": 0.0, "rewardAggregation": "sum", "explorationPercentage": 0.2,
    "modelExportFrequency": "PT5M", "logRetentionDays": -1, "learningMode": "Online",
}  # fmt: skip
WHOLE: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/rank", RANK | {"deferActivation": True}),
    ("POST", "/events/e/reward", {"value": 0.5}),
    ("POST", "/multislot/rank", {"eventId": "m", "actions": ACTIONS, "contextFeatures": [], "slots": SLOTS}),
    ("POST", "/multislot/events/e/reward", {"reward": [{"slotId": "s", "value": 1}]}),
    ("PUT", "/configurations/service", CONFIGURATION),
    ("PUT", "/configurations/policy", {"name": "banditboost", "arguments": "OptionBoost {}"}),
    ("POST", "/configurations/applyFromEvaluation", {"evaluationId": "one", "policyName": "Online"}),
    ("POST", "/evaluations", {"name": "n", "policies": [], "enableOfflineExperimentation": False, **TIMES}),
]


@pytest.mark.parametrize(("method", "path", "body"), WHOLE)
def test_whole_requests_are_taken(client: Caller, method: str, path: str, body: Any) -> None:
    if path.endswith("applyFromEvaluation"):
        asked = {"name": "one", "policies": [], **TIMES}
        query = {"api-version": "2022-09-01-preview"}
        assert client.put("/personalizer/evaluations/one", json=asked, params=query).status_code == 200
    assert client.request(method, VERSIONS[2] + path, json=body).status_code < 300


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str, Any]:
    """A request of which one part was replaced by something odd."""
    method, path, body = draw(st.sampled_from(WHOLE))
    return method, path, _damaged(draw, body)


def _damaged(draw: st.DrawFn, part: Any) -> Any:
    if isinstance(part, dict) and part and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(part)))
        return part | {name: _damaged(draw, part[name])}
    if isinstance(part, list) and part and draw(st.integers(0, 5)):
        place = draw(st.integers(0, len(part) - 1))
        return [*part[:place], _damaged(draw, part[place]), *part[place + 1 :]]
    return draw(ODD)


@settings(max_examples=300)
@given(st.sampled_from(VERSIONS[1:3]), damaged())
def test_no_damaged_request_breaks_the_service(
    client: Caller, version: str, request_: tuple[str, str, Any]
) -> None:
    method, path, body = request_
    told = client.request(method, version + path, content=msgspec.json.encode(body))
    assert told.status_code < 500
    if told.status_code >= 400:
        assert told.json()["error"]["message"].isprintable()
