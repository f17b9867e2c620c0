"""The page on limits tells all of them, and beyond each of them the service does what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.docs.pages import DOCS
from tests.serve.calling import Caller, calling

PAGE = (DOCS / "serve/limits.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \| (.*) \|$", PAGE, re.MULTILINE)
SMALL = Limits(
    body=2_000,
    file=300,
    batch=3,
    id=9,
    name=12,
    label=5,
    labels=4,
    options=3,
    features=6,
    depth=2,
    open=2,
    models=3,
)
AT = "/v1/models/news"
SHOP = "/v1/models/shop"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    models = {
        "news": ModelSettings(labels=["a", "b"], seed=1),
        "shop": ModelSettings(learner="OptionBoost", seed=1),
    }
    settings = ServiceSettings(limits=SMALL, models=models, personalizer=None)
    service = SoloService(settings, SQLiteStore(tmp_path_factory.mktemp("store")))
    with calling(create_app(service)) as client:
        yield client


def decided(client: Caller, body: Any, at: str = AT) -> Any:
    return client.post(f"{at}/decisions", json=body)


def too_many_open(client: Caller) -> Any:
    client.put("/v1/models/open", json={"labels": ["a", "b"], "window": 70})
    answers = [decided(client, {"features": {}}, "/v1/models/open") for _ in range(3)]
    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert answers[2].headers["retry-after"] == "70"
    client.delete("/v1/models/open")
    return answers[2]


def too_many_models(client: Caller) -> Any:
    client.put("/v1/models/third", json={"labels": ["a", "b"]})
    answer = client.put("/v1/models/fourth", json={"labels": ["a", "b"]})
    client.delete("/v1/models/third")
    return answer


BEYOND: dict[str, list[Callable[[Caller], Any]]] = {
    "body": [lambda client: decided(client, {"features": {"text": "x" * 2_000}})],
    "file": [lambda client: client.put(f"{AT}/file", content=b"x" * 301)],
    "batch": [
        lambda client: decided(client, [{"features": {}}] * 4),
        lambda client: client.post(f"{AT}/verdicts", json=[{"id": "a", "correct": True}] * 4),
        lambda client: client.post(f"{AT}/activations", json=["a"] * 4),
    ],
    "id": [
        lambda client: decided(client, {"features": {}, "id": "x" * 10}),
        lambda client: decided(client, {"features": {}, "options": {"x" * 10: {}}}, SHOP),
    ],
    "name": [lambda client: client.put("/v1/models/" + "x" * 13, json={"labels": ["a", "b"]})],
    "label": [lambda client: client.put("/v1/models/new", json={"labels": ["a", "x" * 6]})],
    "labels": [lambda client: client.put("/v1/models/new", json={"labels": ["a", "b", "c", "d", "e"]})],
    "options": [
        lambda client: decided(
            client, {"features": {}, "options": {"a": {}, "b": {}, "c": {}, "d": {}}}, SHOP
        )
    ],
    "features": [
        lambda client: decided(client, {"features": {f"f{i}": i for i in range(7)}}),
        lambda client: decided(client, {"features": [0] * 7}),
        lambda client: decided(client, {"features": {"words": ["w"] * 7}}),
    ],
    "depth": [lambda client: decided(client, {"features": {"a": {"b": {"c": 1}}}})],
    "open": [too_many_open],
    "models": [too_many_models],
}
ELSEWHERE = {
    "under_way",  # tests/serve/http/test_app.py
    "queue",  # tests/serve/core/test_trouble.py
    "memory",  # tests/serve/core/test_trouble.py: nothing is refused
}


def test_the_page_tells_all_limits_and_their_defaults() -> None:
    assert [name for name, _, _ in ROWS] == list(Limits.__struct_fields__)
    for name, default, _ in ROWS:
        number, _, unit = default.partition(" ")
        value = int(number.replace(",", "")) * UNITS.get(unit, 1)
        assert value == getattr(Limits(), name), name


def test_each_limit_is_tried() -> None:
    assert BEYOND.keys() | ELSEWHERE == set(Limits.__struct_fields__)


@pytest.mark.parametrize("limit", BEYOND)
def test_beyond_a_limit_the_service_does_what_the_page_says(client: Caller, limit: str) -> None:
    told = next(beyond for name, _, beyond in ROWS if name == limit)
    before = client.get(AT).json()["events"]
    for ask in BEYOND[limit]:
        answer = ask(client)
        assert told.startswith(f"{answer.status_code} "), answer.text
        assert f"`{answer.json()['code']}`" in told, answer.text
        assert answer.json()["remedy"]
    assert client.get(AT).json()["events"] == before


def test_within_the_limits_it_is_answered(client: Caller) -> None:
    body = {"features": {f"f{i}": i for i in range(6)}, "id": "x" * 9}
    assert decided(client, body).status_code == 200
    assert decided(client, {"features": {"a": {"b": 1}}}).status_code == 200
    assert msgspec.structs.asdict(SMALL).keys() >= BEYOND.keys()
