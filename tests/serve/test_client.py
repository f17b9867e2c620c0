"""The client: what it sends, how it retries, and which exceptions refusals become."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from banditboost import errors
from banditboost.client import AsyncClient, Client, ServiceRefusal, UnreachableError, Wanted
from banditboost.client.retrying import Retries
from banditboost.serve.http.app import create_app
from banditboost.serve.http.auth import hash_of
from banditboost.serve.settings import Key, ServiceSettings
from tests.serve.http.memory import MemoryService
from tests.serve.serving import serving

QUICK = Retries(attempts=3, wait=0.001)


class Dropping(httpx.HTTPTransport):
    """Sends every request, and loses the first answers."""

    def __init__(self, lost: int) -> None:
        super().__init__()
        self.lost, self.sent = lost, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        answer = super().handle_request(request)
        if self.sent > self.lost:
            return answer
        answer.close()
        raise httpx.ReadError("the answer was lost", request=request)


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(ServiceSettings(keys=[Key(hash=hash_of("k"), roles=["admin"])]))


@pytest.fixture
def address(service: MemoryService) -> Iterator[str]:
    with serving(create_app(service)) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, key="k", model="news", retries=QUICK) as client:
        client.create(["a", "b"])
        yield client


def test_every_call(client: Client, service: MemoryService) -> None:
    decision = client.decide({"hour": 21}, allowed=["b"], id="x/ä?#", ranking=-1)
    assert (decision.id, decision.label) == ("x/ä?#", "b")
    assert service.asked[-1].features == b'{"hour":21}'
    assert client.learn(decision, True) == "learned"
    assert client.learn("x/ä?#", reward=0.5) == "duplicate"
    assert client.activate(decision) == "learned"
    answers = client.decide_many([Wanted(features=[1.0, 2.0]), Wanted(features={}, allowed=["zz"])])
    assert isinstance(answers[1], errors.LabelError)
    told = client.learn_many([(answers[0].id, 0.25), ("nobody", False)])
    assert [one.outcome for one in told] == ["learned", "unknown"]
    assert client.models() == ["news"]
    assert client.change(window=7.0).settings["window"] == client.show().settings["window"] == 7.0
    assert client.upload(client.download()) == client.reset()
    assert client.statistics()["decisions"] == 2
    client.delete()
    with pytest.raises(ServiceRefusal, match="no such model; PUT makes it") as refused:
        client.show()
    assert (refused.value.status, refused.value.code, refused.value.remedy) == (
        404,
        "unknown-model",
        "PUT makes it",
    )


@pytest.mark.parametrize("id_", [".", "..", "a/../b", "a\nb", "?"])
def test_any_id_finds_its_decision(client: Client, id_: str) -> None:
    assert client.decide({"hour": 3}, id=id_).id == id_
    assert client.learn(id_, correct=True) == "learned"
    assert client.activate(id_) == "learned"


def test_awaiting_is_the_same(address: str) -> None:
    async def play() -> list[Any]:
        async with AsyncClient(address, key="k", retries=QUICK) as client:
            await client.create(["a"])
            decision = await client.decide([1.0])
            return [decision.label, await client.learn(decision, False), await client.models()]

    assert asyncio.run(play()) == ["a", "learned", ["default"]]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda client: client.decide({}, allowed=["zz"]), errors.LabelError),
        (lambda client: client.learn("nobody", True), errors.DecisionError),
        (lambda client: client.learn("1"), ServiceRefusal),
        (lambda client: client.create(["other"]), ServiceRefusal),
    ],
)
def test_refusals_are_exceptions_of_the_library(
    client: Client, call: Callable[[Client], Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind) as refused:
        call(client)
    assert isinstance(refused.value, errors.BanditBoostError)
    assert refused.value.code


def test_a_wrong_key_is_told(address: str) -> None:
    with Client(address, key="wrong") as client, pytest.raises(ServiceRefusal) as refused:
        client.models()
    assert refused.value.status == 401


@pytest.mark.usefixtures("client")
def test_a_lost_answer_is_asked_for_again(address: str, service: MemoryService) -> None:
    """The service has done it each time, and does it once."""
    with Client(address, key="k", model="news", retries=QUICK, transport=Dropping(2)) as unlucky:
        decision = unlucky.decide({})
    assert [asked.id for asked in service.asked] == [decision.id] * 3
    assert list(service.answers) == [decision.id]
    with Client(address, key="k", model="news", retries=QUICK, transport=Dropping(1)) as unlucky:
        unlucky.learn(decision, True)
    assert len(service.judged) == 1
    with Client(address, key="k", model="news", retries=QUICK, transport=Dropping(1)) as unlucky:
        unlucky.delete()
    assert service.models == {}


def test_a_verdict_sent_again_has_the_same_name() -> None:
    heard = []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(request.content)
        if len(heard) < 3:
            return httpx.Response(503, headers={"Retry-After": "0"})
        return httpx.Response(200, json={"id": "1", "outcome": "added"})

    with Client(retries=QUICK, transport=httpx.MockTransport(answer)) as client:
        assert client.learn("1", reward=0.5) == "added"
        client.learn("1", reward=0.5)
    assert heard[0] == heard[1] == heard[2] != heard[3]


def test_it_gives_up_and_says_so() -> None:
    down = Client("http://127.0.0.1:9", retries=QUICK)
    with down, pytest.raises(UnreachableError, match=r"3 attempts.*check the address"):
        down.models()


def test_overload_that_lasts_is_told() -> None:
    def busy(_: httpx.Request) -> httpx.Response:
        return httpx.Response(502, text="<html>proxy")

    with Client(retries=QUICK, transport=httpx.MockTransport(busy)) as client:
        with pytest.raises(ServiceRefusal, match="502 Bad Gateway") as refused:
            client.decide({})
        assert refused.value.status == 502


def test_pauses_grow_and_heed_the_service() -> None:
    retries = Retries(attempts=9, wait=0.1)
    error = httpx.ReadError("lost")
    for attempt in range(9):
        assert 0.05 * 2**attempt <= retries.pause(attempt, error) <= 0.1 * 2**attempt
    assert retries.pause(0, httpx.Response(503, headers={"Retry-After": "2"})) == 2
    assert retries.pause(0, httpx.Response(503, headers={"Retry-After": "soon"})) <= 0.1
    assert retries.pause(30, error) <= 30
