"""The short way answers as the routes do: the same requests, sent in one part and in several."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from banditboost.errors import FeatureError
from banditboost.serve.http.app import create_app
from banditboost.serve.http.auth import hash_of
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Key, Limits, ServiceSettings
from tests.serve.calling import Caller, calling
from tests.serve.http.memory import MemoryService

AT = "/v1/models/news"
KEYS = [Key(hash=hash_of(role), roles=[role]) for role in ("decide", "learn", "admin")]  # type: ignore[list-item]


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(ServiceSettings(keys=KEYS, limits=Limits(body=200)))


@pytest.fixture
def caller(service: MemoryService) -> Iterator[Caller]:
    with calling(create_app(service)) as caller:
        caller.put(AT, json={"labels": ["a", "b"]}, headers={"Authorization": "Bearer admin"})
        caller.post(f"{AT}/decisions", content='{"features": {}, "id": "1"}', headers=_with("decide"))
        yield caller


def _with(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _both(caller: Caller, path: str, body: bytes, headers: dict[str, str]) -> tuple[Any, Any]:
    async def parts() -> AsyncIterator[bytes]:
        yield body[:1]
        yield body[1:]

    short = caller.post(path, content=body, headers=headers)
    return short, caller.post(path, content=parts(), headers=headers)


@pytest.mark.parametrize(
    ("path", "body", "key", "status"),
    [
        (f"{AT}/decisions", b'{"features": {"hour": 1}, "id": "2"}', "decide", 200),
        (f"{AT}/decisions", b'{"features": {"hour": 1}, "id": "2", "allowed": ["c"]}', "decide", 422),
        (f"{AT}/decisions", b'{"features": ', "decide", 400),
        (f"{AT}/decisions", b'{"features": 1, "id": 3}', "decide", 400),
        (f"{AT}/decisions", b'{"features": {"hour": "%b"}}' % (b"x" * 200), "decide", 413),
        (f"{AT}/decisions", b'{"features": {}}', "learn", 403),
        (f"{AT}/decisions", b'{"features": {}}', "nobody's", 401),
        ("/v1/models/other/decisions", b'{"features": {}}', "decide", 404),
        (f"{AT}/decisions/1/verdict", b'{"correct": true}', "learn", 200),
        (f"{AT}/decisions/1/verdict", b'{"correct": true}', "decide", 403),
        (f"{AT}/decisions/%31%2F/verdict", b'{"reward": 0.5}', "learn", 404),
    ],
)
def test_both_ways_give_the_same_answer(
    caller: Caller, path: str, body: bytes, key: str, status: int
) -> None:
    short, long = _both(caller, path, body, _with(key))
    assert short.status_code == long.status_code == status
    if status != 200:
        assert (short.json(), short.headers["content-type"]) == (long.json(), long.headers["content-type"])
    else:
        assert short.json()["id"] == long.json()["id"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ServiceError(503, "overloaded", "too many wait; come back", retry_after=3.0), 503),
        (FeatureError("feature 'a' is inf; give a finite number"), 422),
        (RuntimeError("a fault"), 500),
    ],
)
def test_failures_are_told_the_same_way(
    caller: Caller, service: MemoryService, error: Exception, status: int
) -> None:
    service.refusal = error  # type: ignore[assignment]
    for content in (b'{"features": {}}', b' {"features": {}}'):  # a blank goes the long way
        told = caller.post(f"{AT}/decisions", content=content, headers=_with("decide"))
        assert (told.status_code, told.json()["status"]) == (status, status)
        assert told.headers.get("retry-after") == ("3" if status == 503 else None)
        assert "default-src" in told.headers["content-security-policy"]
