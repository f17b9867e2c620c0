"""The doors of the service by themselves: paths, bodies, limits, keys, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.http.auth import hash_of
from banditboost.serve.messages import DecisionRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Key, Limits, ServiceSettings
from tests.serve.calling import Caller, calling
from tests.serve.http.memory import MemoryService

AT = "/v1/models/news"


def _client(service: MemoryService) -> AbstractContextManager[Caller]:
    return calling(create_app(service))


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(ServiceSettings(limits=Limits(body=2000, batch=3, file=10)))


@pytest.fixture
def client(service: MemoryService) -> Iterator[Caller]:
    with _client(service) as client:
        assert client.put(AT, json={"labels": ["a", "b", 3]}).status_code == 201
        yield client


def test_the_application_starts_and_stops_the_service(service: MemoryService) -> None:
    with _client(service):
        assert service.started
    assert not service.started


def test_a_decision_and_its_verdict(client: Caller, service: MemoryService) -> None:
    asked = {"features": {"hour": 21}, "allowed": ["b", 3], "id": "x/1 %2F", "ranking": -1}
    told = client.post(f"{AT}/decisions", json=asked)
    assert (told.status_code, told.json()["label"], told.json()["id"]) == (200, "b", "x/1 %2F")
    assert service.asked[0].features == b'{"hour":21}'
    judged = client.post(f"{AT}/decisions/x%2F1%20%252F/verdict", json={"correct": True})
    assert (judged.status_code, judged.json()) == (200, {"id": "x/1 %2F", "outcome": "learned"})
    assert client.post(f"{AT}/decisions/x%2F1%20%252F/activate").json()["outcome"] == "learned"


@pytest.mark.parametrize("id_", ["a\nb", "\n", "x\r\nSet-Cookie: y", "a/verdict", "/", "a\0b", "%2F"])
def test_ids_in_paths_may_be_any_text(client: Caller, id_: str) -> None:
    client.post(f"{AT}/decisions", json={"features": {}, "id": id_})
    at = f"{AT}/decisions/{quote(id_, safe='')}"
    for told in (
        client.post(f"{at}/verdict", json={"correct": True}),  # both ways: the short one, and the routes
        client.post(f"{at}/verdict", content=b' {"correct": true}'),
        client.post(f"{at}/activate"),
    ):
        assert (told.status_code, told.json()["id"]) == (200, id_)


def test_arrays_are_answered_item_by_item(client: Caller) -> None:
    told = client.post(
        f"{AT}/decisions",
        json=[{"features": {}, "id": "1"}, {"features": [1, 2], "allowed": ["z"]}, {"features": {}}],
    ).json()
    assert [one.get("id") for one in told] == ["1", None, "made-1"]
    assert (told[1]["status"], told[1]["field"], told[1]["remedy"]) == (422, "[1].allowed", "leave it out")
    verdicts = [{"id": "1", "reward": 0.5}, {"id": "nobody", "correct": False}]
    told = client.post(f"{AT}/verdicts", json=verdicts).json()
    assert [one["outcome"] for one in told] == ["learned", "unknown"]
    told = client.post(f"{AT}/activations", json=["1", "nobody"]).json()
    assert [one["outcome"] for one in told] == ["learned", "unknown"]


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("decisions", "{", 400, "body"),
        ("decisions", "", 400, "body"),
        ("decisions", b"\xff", 400, "body"),
        ("decisions", "{}", 400, ""),
        ("decisions", '{"features": {}, "ranking": "all"}', 400, "ranking"),
        ("decisions", '{"features": {}, "feature": {}}', 400, ""),
        ("decisions", '[{"features": {}}, {"features": {}, "id": 7}]', 400, "[1].id"),
        ("decisions", "[" * 1500, 400, "body"),
        ("decisions", "[{}, {}, {}, {}]", 413, "body"),
        ("decisions", " " * 2001, 413, "body"),
        ("decisions/1/verdict", "{}", 400, ""),
        ("decisions/1/verdict", '{"correct": true, "reward": 1}', 400, ""),
        ("decisions/1/verdict", '{"correct": 1}', 400, "correct"),
        ("decisions/1/verdict", '{"correct": true}', 404, "id"),
        ("decisions/1/activate", "", 404, "id"),
        ("verdicts", '[{"id": "1"}]', 400, "[0]"),
        ("activations", '{"id": "1"}', 400, ""),
    ],
)
def test_refusals_name_the_field_and_the_remedy(
    client: Caller, path: str, body: str | bytes, status: int, field: str
) -> None:
    told = client.post(f"{AT}/{path}", content=body)
    problem = told.json()
    assert told.headers["content-type"] == "application/problem+json"
    assert (told.status_code, problem["status"], problem["field"]) == (status, status, field)
    assert problem["remedy"]
    assert problem["type"] == f"urn:banditboost:{problem['code']}"


def test_bodies_without_a_length_are_bounded(client: Caller) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 1500

    told = client.post(f"{AT}/decisions", content=endless())
    assert told.status_code == 413
    assert client.post(f"{AT}/decisions", headers={"Content-Encoding": "gzip"}).status_code == 415


def test_overload_is_told_with_a_time_to_come_back(client: Caller, service: MemoryService) -> None:
    service.refusal = ServiceError(503, "queue", "too many wait; come back later", retry_after=0.2)
    told = client.post(f"{AT}/decisions", json={"features": {}})
    assert (told.status_code, told.headers["retry-after"]) == (503, "1")


class Slow(MemoryService):
    """Answers decisions when it is let."""

    def __init__(self, settings: ServiceSettings) -> None:
        super().__init__(settings)
        self.let = asyncio.Event()

    async def decide(self, name: str, requests: Sequence[DecisionRequest]) -> list[Any]:
        await self.let.wait()
        return await super().decide(name, requests)


def test_more_than_so_many_at_once_are_turned_away_and_nothing_is_read_of_them() -> None:
    service = Slow(ServiceSettings(limits=Limits(under_way=3)))

    async def crowd(client: Caller) -> list[httpx.Response]:
        asked = [asyncio.create_task(_asked(client, "decisions")) for _ in range(3)]
        await asyncio.sleep(0.05)
        others = [await _asked(client, "decisions") for _ in range(2)] + [await _asked(client, "verdicts")]
        assert len(service.asked) == 0
        looks = [await client._client.get(path) for path in ("/health/ready", "/health/live", "/metrics")]
        assert [look.status_code for look in looks] == [200, 200, 200]
        assert 'banditboost_refused_total{code="overloaded"} 3.0' in looks[2].text
        service.let.set()
        return [*others, *await asyncio.gather(*asked), await _asked(client, "decisions")]

    with calling(create_app(service)) as client:
        client.put(AT, json={"labels": ["a", "b"]})
        answers = client.run(crowd(client))
    assert [answer.status_code for answer in answers] == [503] * 3 + [200] * 4
    for answer in answers[:3]:
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.json()["code"] == "overloaded"
        assert "later" in answer.json()["remedy"]


async def _asked(client: Caller, what: str) -> httpx.Response:
    return await client._client.post(f"{AT}/{what}", json={"features": {}})


def test_models(client: Caller) -> None:
    assert client.get("/v1/models").json() == {"models": ["news"], "next": None}
    assert client.get(AT).json()["labels"] == ["a", "b", 3]
    assert client.put(AT, json={"labels": ["a", "b", 3]}).status_code == 200  # asked for again
    assert client.put(AT, json={"labels": ["a"]}).status_code == 409
    assert client.patch(AT, json={"window": 5.0}).json()["settings"]["window"] == 5.0
    assert client.post(f"{AT}/reset").status_code == 200
    file = client.get(f"{AT}/file")
    assert (file.content, file.headers["content-type"]) == (b"file", "application/octet-stream")
    assert client.put(f"{AT}/file", content=b"file").status_code == 200
    assert client.put(f"{AT}/file", content=b"fil").status_code == 422
    assert client.put(f"{AT}/file", content=b"file" * 3).status_code == 413
    assert client.delete(AT).status_code == 204
    assert client.get(AT).status_code == 404


def test_lists_of_models_go_on_page_by_page(client: Caller) -> None:
    client.put("/v1/models/a b", json={})
    assert client.get("/v1/models?limit=1").json() == {"models": ["a b"], "next": "a b"}
    assert client.get("/v1/models?limit=1&after=a+b").json() == {"models": ["news"], "next": "news"}
    assert client.get("/v1/models?limit=x").json()["field"] == "limit"
    assert client.get("/v1/models?limit=1001").status_code == 400


def test_paths_and_methods_that_are_not_there(client: Caller) -> None:
    assert client.get("/v1/nothing").json()["code"] == "no-such-path"
    told = client.post(AT)
    assert (told.status_code, told.headers["allow"]) == (405, "DELETE, GET, HEAD, PATCH, PUT")


def test_browsers_are_told_what_they_may_do(client: Caller) -> None:
    for told in (client.get(AT), client.get("/nothing")):
        assert told.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in told.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "host"),
        ({"Host": "localhost.evil.example"}, "host"),
        ({"Host": "[::1"}, "host"),
        ({"Origin": "http://evil.example"}, "origin"),
        ({"Origin": "null"}, "origin"),
    ],
)
def test_pages_of_other_sites_cannot_call(client: Caller, headers: dict[str, str], code: str) -> None:
    assert client.get(AT, headers=headers).json()["code"] == code


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8730", "[::1]:8730", "LOCALHOST:1"])
def test_this_machine_can_call(client: Caller, host: str) -> None:
    assert client.get(AT, headers={"Host": host, "Origin": f"http://{host}"}).status_code == 200


CALLS: dict[str, list[tuple[str, str, Any]]] = {
    "decide": [("POST", f"{AT}/decisions", {"features": {}, "id": "1"})],
    "learn": [
        ("POST", f"{AT}/decisions/1/verdict", {"correct": True}),
        ("POST", f"{AT}/decisions/1/activate", None),
        ("POST", f"{AT}/verdicts", []),
        ("POST", f"{AT}/activations", []),
    ],
    "read": [
        ("GET", "/v1/models", None),
        ("GET", AT, None),
        ("GET", f"{AT}/file", None),
        ("GET", f"{AT}/statistics", None),
    ],
    "admin": [
        ("PATCH", AT, {}),
        ("POST", f"{AT}/reset", None),
        ("PUT", f"{AT}/file", None),
        ("PUT", AT, {}),
        ("DELETE", AT, None),
    ],
}


@pytest.fixture
def keyed() -> Iterator[Caller]:
    keys = [Key(hash=hash_of(role), roles=[role]) for role in ("decide", "learn", "read", "admin")]
    keys += [Key(hash=hash_of("other"), roles=["admin"], models=["other"], name="o")]
    with _client(MemoryService(ServiceSettings(keys=keys))) as client:
        client.put(AT, json={"labels": ["a", "b"]}, headers={"Authorization": "Bearer admin"})
        client.post(
            CALLS["decide"][0][1], json=CALLS["decide"][0][2], headers={"Authorization": "Bearer admin"}
        )
        yield client


@pytest.mark.parametrize("role", CALLS)
@pytest.mark.parametrize("held", [*CALLS, "other", "", "none"])
def test_roles(keyed: Caller, role: str, held: str) -> None:
    """Each key may do what it was made for, and no more; that of an admin may do all."""
    headers = {"Authorization": f"bearer {held}"} if held else {}
    for method, path, body in CALLS[role]:
        told = keyed.request(method, path, json=body, headers=headers)
        if held in ("", "none"):
            assert (told.status_code, told.headers["www-authenticate"][:6]) == (401, "Bearer")
        elif held in (role, "admin"):
            assert told.status_code not in (401, 403), told.text
        elif held == "other" and path == "/v1/models":
            assert told.json() == {"models": [], "next": None}
        else:
            assert told.status_code == 403


def test_a_key_for_some_models_hears_of_no_other(keyed: Caller) -> None:
    for name in ("aa", "other", "secret"):
        keyed.put(f"/v1/models/{name}", json={}, headers={"Authorization": "Bearer admin"})
    headers = {"Authorization": "Bearer other"}
    for query in ("limit=1", "limit=2", "limit=1&after=aa", "limit=1&after=other", "after=p"):
        told = keyed.get(f"/v1/models?{query}", headers=headers).json()
        assert told["next"] in (None, "other")
        assert told["models"] == ([] if query in ("limit=1&after=other", "after=p") else ["other"])
    assert keyed.get("/metrics", headers=headers).json()["code"] == "model"
    assert keyed.get("/metrics", headers={"Authorization": "Bearer read"}).status_code == 200


def test_keys_in_the_header_of_personalizer(keyed: Caller) -> None:
    assert keyed.get(AT, headers={"Ocp-Apim-Subscription-Key": "read"}).status_code == 200
    assert keyed.get(AT, headers={"Ocp-Apim-Subscription-Key": b"r\xe9ad"}).status_code == 401
    assert keyed.get(AT, headers={"Ocp-Apim-Subscription-Key": "read", "Host": "evil"}).status_code == 200
