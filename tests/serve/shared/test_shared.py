"""Two services on one database are one: whoever is asked, the log decides."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from banditboost.serve import making, replay
from banditboost.serve.events import Closed, Decided, Judged
from banditboost.serve.messages import VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.shared import learner
from banditboost.serve.shared.service import SharedService
from tests.serve.core.running import asked, decided, judged
from tests.serve.postgresql import Database, running
from tests.serve.shared.reading import assert_same, log_of, one_learner
from tests.serve.shared.running import LABELS, learned, serve


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with running() as made:
        yield made


@pytest.fixture
def url(database: Database) -> str:
    return database.fresh()


async def play(services: tuple[SharedService, ...], name: str, rounds: int) -> None:
    """Rows that any of them decides, and any other judges."""

    async def one(i: int) -> None:
        row = {"hour": i % 24, "device": ["phone", "desk"][i % 2], f"feature{i % 7}": f"v{i % 5}"}
        answer = await decided(services[i % len(services)], name, row)
        right = answer.label == LABELS[i % 3]
        assert await judged(services[(i // 3) % len(services)], name, answer.id, correct=right) == "learned"

    for begin in range(0, rounds, 25):
        await asyncio.gather(*(one(i) for i in range(begin, min(begin + 25, rounds))))


async def refreshed(services: tuple[SharedService, ...], name: str) -> None:
    """Each decides with what was published last."""
    for service in services:
        n = (await service.show(name)).events
        while (await service._deciding(name)).n < n:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("learner", ["GapBoost", "AdaBandit"])
def test_what_two_decide_is_learned_as_by_one(url: str, tmp_path: Path, learner: str) -> None:
    async def use(*services: SharedService) -> bytes:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3, learner=learner))
        for _ in range(3):
            await play(services, "shop", 100)
            file = await learned(services[1], "shop")
            await refreshed(services, "shop")
        assert file == await services[0].download("shop")
        told = await services[1].show("shop")
        assert (told.events, told.rounds, told.verdicts, told.open) == (601, 300, 300, 0)
        return file

    file = serve(url, use)
    model = one_learner(url, "shop", tmp_path)
    assert model.verdicts == 300
    assert_same(model, file, tmp_path)
    branches = {(told[0], told[1]) for told in model._plain_identity()["below"]}
    assert len(branches) == 2, "one branch for each process, however often it was refreshed"
    versions = {event.version for event in log_of(url, "shop") if isinstance(event, Decided)}
    assert len(versions) > 2, "they were refreshed"


def test_they_go_on_where_they_stopped(url: str, tmp_path: Path) -> None:
    async def first(*services: SharedService) -> str:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3))
        await play(services, "shop", 40)
        return str((await decided(services[0], "shop", {"hour": 3}, id="waits")).id)

    async def then(*services: SharedService) -> bytes:
        assert await judged(services[0], "shop", "waits", reward=0.25) == "learned"
        await play(services, "shop", 40)
        return await learned(services[0], "shop")

    serve(url, first)
    file = serve(url, then)
    assert_same(one_learner(url, "shop", tmp_path), file, tmp_path)


def test_one_decision_for_each_id_whoever_is_asked(url: str) -> None:
    async def use(*services: SharedService) -> None:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3))
        asks = [decided(services[i % 3], "shop", {"hour": i // 30}, id=str(i // 30)) for i in range(300)]
        answers = await asyncio.gather(*asks)
        for i in range(10):
            same = answers[30 * i : 30 * (i + 1)]
            assert len({(one.label, one.probability, one.expires, one.version) for one in same}) == 1
            assert sorted(one.repeated for one in same) == [False] + [True] * 29
        for service in services:
            with pytest.raises(ServiceError) as refused:
                await decided(service, "shop", {"hour": 99}, id="0")
            assert refused.value.status == 409

    serve(url, use, n=3)
    assert sum(isinstance(event, Decided) for event in log_of(url, "shop")) == 10


def test_one_verdict_counts_whoever_is_told(url: str, tmp_path: Path) -> None:
    async def use(*services: SharedService) -> bytes:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3))
        for i in range(20):
            await decided(services[i % 3], "shop", {"hour": i}, id=str(i))
        tells = [judged(services[i % 3], "shop", str(i // 30), reward=(i % 3) / 2) for i in range(600)]
        outcomes = await asyncio.gather(*tells)
        for i in range(20):
            assert sorted(outcomes[30 * i : 30 * (i + 1)]) == ["duplicate"] * 29 + ["learned"]
        assert await judged(services[0], "shop", "nobody", reward=1.0) == "unknown"
        return await learned(services[0], "shop")

    file = serve(url, use, n=3)
    model = one_learner(url, "shop", tmp_path)
    assert model.verdicts == 20
    assert_same(model, file, tmp_path)


def test_a_batch_is_answered_item_by_item(url: str) -> None:
    async def use(one: SharedService, other: SharedService) -> None:
        await one.create("shop", ModelSettings(labels=LABELS, seed=3))
        answers = await other.decide(
            "shop", [asked({"x": 1}, id="a"), asked({"x": 1}, allowed=["no"]), asked({"x": 1}, id="a")]
        )
        first, refused, again = answers
        assert not isinstance(first, ServiceError)
        assert not isinstance(again, ServiceError)
        assert isinstance(refused, ServiceError)
        assert (refused.status, refused.field) == (422, "allowed")
        assert (again.label, again.repeated) == (first.label, True)

    serve(url, use)


def test_deferred_summed_and_silent(url: str, tmp_path: Path) -> None:
    """Windows are ended by the learner, once, and a verdict that came before it is not lost."""
    settings = ModelSettings(labels=LABELS, seed=3, counting="sum", window=1.5, silence="wrong")

    async def use(one: SharedService, other: SharedService) -> bytes:
        await one.create("shop", settings)
        for id_ in ("sum", "silent", "deferred", "shown"):
            await decided(one, "shop", {"x": id_}, id=id_, deferred=id_ in ("deferred", "shown"))
        assert await judged(other, "shop", "sum", reward=0.25) == "added"
        assert await judged(one, "shop", "sum", reward=0.5) == "added"
        assert await judged(one, "shop", "deferred", reward=1.0) == "held"
        assert await judged(one, "shop", "shown", reward=1.0) == "held"
        (told,) = await other.activate("shop", ["shown"])
        assert not isinstance(told, ServiceError)
        assert told.outcome == "added"
        head = one._store.head((await one._stored("shop")).number)[0]
        file = await learned(other, "shop", head + 4)
        assert await judged(other, "shop", "sum", reward=0.5) == "late"
        return file

    file = serve(url, use)
    closed = {event.id: event.reward for event in log_of(url, "shop") if isinstance(event, Closed)}
    assert closed == {"sum": 0.75, "silent": 0.0, "deferred": None, "shown": 1.0}
    assert_same(one_learner(url, "shop", tmp_path), file, tmp_path)


def test_a_control_group_and_options(url: str, tmp_path: Path) -> None:
    async def use(*services: SharedService) -> tuple[bytes, bytes]:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3, control=0.5))
        await play(services, "shop", 60)
        await services[0].create("offers", ModelSettings(learner="OptionBoost", seed=3, control=0.3))
        for i in range(40):
            answer = await decided(
                services[i % 2],
                "offers",
                {"hour": i},
                options=b'{"tea": {"price": 4}, "juice": {"price": 3}}',
            )
            assert await judged(services[0], "offers", answer.id, correct=answer.label == "tea") == "learned"
        return await learned(services[0], "shop"), await learned(services[1], "offers")

    shop, offers = serve(url, use)
    assert {event.arm for event in log_of(url, "shop") if isinstance(event, Decided)} == {"model", "control"}
    assert_same(one_learner(url, "shop", tmp_path), shop, tmp_path)
    assert_same(one_learner(url, "offers", tmp_path), offers, tmp_path)


def test_changes_of_a_model_reach_all(url: str, tmp_path: Path) -> None:
    """Labels that join, another model from a file, a new beginning, an end."""

    async def use(one: SharedService, other: SharedService) -> tuple[bytes, bytes]:
        await one.create("shop", ModelSettings(labels=LABELS, seed=3))
        await play((one, other), "shop", 30)
        told = await one.change("shop", {"labels": ["green", "violet"], "window": 60.0})
        assert told.labels == ["green", "violet"]
        answer = await decided(one, "shop", {"hour": 1}, allowed=["violet"])
        assert answer.label == "violet"
        assert answer.expires < 120.0 + told.changed
        with pytest.raises(ServiceError, match="cannot change"):
            await one.change("shop", {"seed": 4})
        before = await learned(one, "shop")
        waits = await decided(one, "shop", {"hour": 1})
        assert (await other.reset("shop")).verdicts == 0
        assert await judged(one, "shop", waits.id, correct=True) == "late"
        assert (await other.upload("shop", before)).verdicts == 30
        await decided(other, "shop", {"hour": 1}, id="after")
        assert await judged(one, "shop", "after", correct=True) == "learned"
        return before, await learned(one, "shop")

    async def gone(one: SharedService, other: SharedService) -> None:
        await decided(one, "shop", {"hour": 1})
        await other.delete("shop")
        for service in (one, other):
            with pytest.raises(ServiceError) as refused:
                await decided(service, "shop", {"hour": 1})
            assert (refused.value.status, refused.value.code) == (404, "unknown-model")
        assert await one.names() == []
        await one.create("shop", ModelSettings(labels=LABELS))
        await decided(other, "shop", {"hour": 1})

    _, file = serve(url, use)
    model = one_learner(url, "shop", tmp_path)
    assert model.verdicts == 31
    assert_same(model, file, tmp_path)
    serve(url, gone)


async def _asked(service: SharedService, what: str) -> Any:
    if what == "log":
        return [event.n async for page in service.log("shop") for event in page]
    if what == "change":
        return (await service.change("shop", {"window": 5.0})).labels
    if what == "upload":
        return (await service.upload("shop", await service.download("shop"))).labels
    if what in ("decide", "judge", "activate"):
        requests: Any = {"decide": asked({"hour": 1}), "judge": VerdictRequest(id="y", correct=True)}
        [answer] = await getattr(service, what)("shop", [requests.get(what, "y")])
        return answer
    return await getattr(service, what)("shop")


@pytest.mark.parametrize(
    "what",
    ["show", "statistics", "log", "download", "change", "upload", "reset", "decide", "judge", "activate"],
)
def test_a_model_that_was_deleted_elsewhere_is_gone_here_and_its_successor_is_found(
    url: str, what: str
) -> None:
    """The first request after that, of whatever kind, is answered as if it had been known all the time."""

    async def use(one: SharedService, other: SharedService) -> None:
        for again in (False, True):
            await one.create("shop", ModelSettings(labels=LABELS))
            await decided(other, "shop", {"hour": 1}, id="x")
            await learned(other, "shop")
            await one.delete("shop")
            if again:
                await one.create("shop", ModelSettings(labels=["p", "q"], seed=5))
                await decided(one, "shop", {"hour": 1}, id="y", deferred=what == "activate")
                found = await _asked(other, what)
                assert not isinstance(found, ServiceError)
                if what == "decide":
                    assert found.label in ("p", "q")
                assert (await other.show("shop")).labels == ["p", "q"]
            else:
                with pytest.raises(ServiceError) as refused:
                    await _asked(other, what)
                assert (refused.value.status, refused.value.code) == (404, "unknown-model")
            assert other.health().ready

    serve(url, use)


def test_a_model_whose_snapshots_are_damaged_leaves_the_others_alone(url: str) -> None:
    async def use(one: SharedService, other: SharedService) -> None:
        await one.create("whole", ModelSettings(labels=LABELS))
        await one.create("broken", ModelSettings(labels=LABELS))
        await decided(one, "broken", {"hour": 1})
        await learned(one, "broken")
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE banditboost.snapshots SET checksum = checksum + 1")
            connection.execute("DELETE FROM banditboost.published")
        with pytest.raises(ServiceError) as refused:
            await decided(other, "broken", {"hour": 1})
        assert (refused.value.status, refused.value.code) == (503, "store-damaged")
        assert other.health().ready
        await decided(one, "whole", {"hour": 1})

    serve(url, use)


def test_kernels_are_made_ready_where_nobody_waits(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: set[tuple[str, bool]] = set()

    def prepare(kind: type) -> None:
        made.add((kind.__name__, threading.current_thread() is threading.main_thread()))

    async def use(one: SharedService) -> None:
        monkeypatch.setattr(making, "prepare", prepare)
        await one.create("m", ModelSettings(labels=LABELS, seed=1))
        await decided(one, "m", {"hour": 1})
        assert made == {("GapBoost", False)}

    serve(url, use, n=1)


def test_names_and_numbers_of_models_are_limited(url: str) -> None:
    async def use(one: SharedService) -> None:
        for name in ("a\0b", "", "x" * 129):
            with pytest.raises(ServiceError, match="name has"):
                await one.create(name, ModelSettings(labels=LABELS))
        with pytest.raises(ServiceError, match="no model"):
            await one.show("a\0b")
        await one.create("a", ModelSettings(labels=LABELS))
        assert await one.names(after="a\0b") == []
        with pytest.raises(ServiceError) as refused:
            await one.create("b", ModelSettings(labels=LABELS))
        assert refused.value.code == "too-many-models"

    serve(url, use, 1, ServiceSettings(limits=Limits(models=1)))


def test_features_of_two_kinds(url: str, tmp_path: Path) -> None:
    """Two branches meet one feature as a number and as a name: one of them is not learned, and the rest is."""

    async def use(*services: SharedService) -> bytes:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3))
        answers = [
            await decided(services[i], "shop", {"odd": value}) for i, value in enumerate((1.5, "name"))
        ]
        for answer in answers:
            assert await judged(services[0], "shop", answer.id, correct=True) == "learned"
        await learned(services[0], "shop")
        await play(services, "shop", 10)
        return await learned(services[0], "shop")

    file = serve(url, use)
    assert_same(one_learner(url, "shop", tmp_path), file, tmp_path)


def test_many_models(url: str, tmp_path: Path) -> None:
    """Each has one learner, and those that are idle are put away and come back."""
    settings = ServiceSettings(limits=Limits(memory=1))
    names = [f"m{i}" for i in range(20)]

    async def use(*services: SharedService) -> dict[str, bytes]:
        for name in names:
            await services[0].create(name, ModelSettings(labels=LABELS, seed=3))
        for _ in range(2):
            for i, name in enumerate(names):
                answer = await decided(services[i % 2], name, {"x": i})
                await judged(services[(i // 2) % 2], name, answer.id, correct=answer.label == "red")
        return {name: await learned(services[0], name) for name in names}

    files = serve(url, use, settings=settings)
    for name in names:
        assert_same(one_learner(url, name, tmp_path), files[name], tmp_path)


def test_statistics_count_all(url: str) -> None:
    async def use(*services: SharedService) -> Any:
        await services[0].create("shop", ModelSettings(labels=LABELS, seed=3))
        empty = await services[1].statistics("shop")
        await play(services, "shop", 50)
        await learned(services[1], "shop")
        return empty, await services[0].statistics("shop"), await services[1].statistics("shop")

    empty, one, other = serve(url, use)
    assert empty["counts"].get("decisions", 0) == 0
    assert one["counts"] == other["counts"]
    assert (one["counts"]["decisions"], one["counts"]["learned"]) == (50, 50)


def test_the_log_is_told_in_pages(url: str) -> None:
    async def use(one: SharedService, other: SharedService) -> list[int]:
        await one.create("shop", ModelSettings(labels=LABELS, seed=3))
        await play((one, other), "shop", 20)
        return [event.n async for page in other.log("shop", after=3) for event in page]

    assert serve(url, use) == list(range(4, 42))
    assert sum(isinstance(event, Judged) for event in log_of(url, "shop")) == 20


def test_an_error_of_ours_with_one_model_leaves_the_learner_alive(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told, the others are learned, and the model is tried again."""
    apply, failed = replay.apply, list[str]()

    def fails_twice(store: Any, served: Any, event: Any) -> None:
        if served.stored.name == "strange" and len(failed) < 2:
            failed.append(served.stored.name)
            raise RuntimeError("an error of ours")
        apply(store, served, event)

    async def use(one: SharedService) -> None:
        monkeypatch.setattr(replay, "apply", fails_twice)
        monkeypatch.setattr(learner, "_PAUSE", 0.2)
        for name in ("strange", "plain"):
            await one.create(name, ModelSettings(labels=LABELS))
            await decided(one, name, {"hour": 1})
        await learned(one, "plain")
        await learned(one, "strange")
        assert one.health().parts["learner"].ok

    serve(url, use, n=1)
    assert failed == ["strange", "strange"]
    assert "model 'strange' cannot be learned" in caplog.text
