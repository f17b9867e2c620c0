"""The control group, apprentices, models that only log, labels that join and go, files that take a model's place."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from banditboost import AdaBandit, GapBoost, OptFull, OptionBoost
from banditboost.compiled import announcing, store
from banditboost.models.saving import to_bytes
from banditboost.serve import making
from banditboost.serve.messages import DecisionRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, decided, judged, serve

SHOP = {"tea": {"price": 4.0}, "milk": {"price": 1.0}, "juice": {"price": 3.0}}


async def again(service: SoloService, name: str) -> None:
    """The model that its log makes is the one that was in memory."""
    file = await service.download(name)
    service._residents.clear()
    assert differing(await service.download(name), file) == []


async def some(service: SoloService, name: str, n: int, **more: Any) -> list[Any]:
    answers = []
    for hour in range(n):
        answer = await decided(service, name, {"hour": hour % 24}, id=f"some {hour}", **more)
        await judged(service, name, answer.id, correct=answer.label == "green")
        answers.append(answer)
    return answers


@pytest.mark.parametrize("baseline", ["uniform", "first"])
def test_the_control_group_gets_its_share_and_the_model_learns_from_it(tmp_path: Path, baseline: str) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, seed=1, control=0.5, baseline=baseline))  # type: ignore[arg-type]
        answers = await some(service, "m", 60)
        control = [answer for answer in answers if answer.arm == "control"]
        assert 15 < len(control) < 45
        shown = {answer.label for answer in control}
        assert shown == ({"red"} if baseline == "first" else set(LABELS))
        assert {answer.probability for answer in control} == {1.0 if baseline == "first" else 1 / 3}
        assert (await service.show("m")).verdicts == 60 - len(control)
        await again(service, "m")

    serve(tmp_path, use)


def test_an_apprentice_shows_what_the_caller_names_and_learns(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, seed=1, mode="apprentice", baseline="first"))
        answers = await some(service, "m", 40, baseline="green")
        assert {(answer.label, answer.arm, answer.probability) for answer in answers} == {
            ("green", "baseline", 1.0)
        }
        assert not answers[-1].explored  # by now the model thinks the same
        with pytest.raises(ServiceError, match="baseline is not one"):
            await decided(service, "m", {"hour": 1}, baseline="black")
        await service.change("m", {"mode": "online"})
        assert (await decided(service, "m", {"hour": 1})).label == "green"
        await again(service, "m")

    serve(tmp_path, use)


def test_options_have_arms_too(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(learner="OptionBoost", seed=1, control=0.4))
        arms = set()
        for hour in range(40):
            answer = await decided(
                service,
                "m",
                {"hour": hour},
                id=f"{hour}",
                options=json.dumps(SHOP).encode(),
                ranking=-1,
            )
            assert {place.label for place in answer.ranking} == set(SHOP)
            assert await judged(service, "m", answer.id, correct=answer.label == "tea") == "learned"
            arms.add(answer.arm)
        assert arms == {"model", "control"}
        waiting = await decided(service, "m", {"hour": 3}, options=json.dumps(SHOP).encode())
        await again(service, "m")
        assert await judged(service, "m", waiting.id, reward=0.5) == "learned"
        await again(service, "m")

    serve(tmp_path, use)


def test_a_model_that_only_logs_learns_nothing(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        info = await service.create("m", ModelSettings(labels=LABELS, seed=1, mode="logging"))
        before = await service.download("m")
        answer = await decided(service, "m", {"hour": 1})
        assert (answer.arm, await judged(service, "m", answer.id, correct=True)) == ("baseline", "logged")
        assert await judged(service, "m", answer.id, correct=True) == "duplicate"
        assert differing(await service.download("m"), before) == []
        assert (await service.show("m")).events == info.events + 3

    serve(tmp_path, use)


def test_labels_join_and_go_while_decisions_are_open(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, seed=1, control=0.3))
        waiting = [await decided(service, "m", {"hour": hour}, id=f"{hour}") for hour in range(24)]
        info = await service.change("m", {"labels": ["blue", "black", "red"]})
        assert info.labels == ["blue", "black", "red"]
        assert "green" not in {(await decided(service, "m", {"hour": hour})).label for hour in range(30)}
        gone = [one for one in waiting if one.arm == "control" and one.label == "green"]
        outcomes = {one.id: await judged(service, "m", one.id, correct=True) for one in waiting}
        assert gone
        assert {outcomes[one.id] for one in gone} == {"logged"}  # a log tells of no label that was removed
        assert all(outcomes[one.id] == "learned" for one in waiting if one.arm == "model")
        await again(service, "m")
        await service.change("m", {"labels": [*LABELS, "black"]})
        await some(service, "m", 10)
        await again(service, "m")

    serve(tmp_path, use)


def test_a_file_takes_the_model_s_place(tmp_path: Path) -> None:
    model = AdaBandit(["left", "right"], n_learners=4, seed=3)
    for age in range(30):
        model.learn(model.decide({"age": age}), correct=age % 2 == 0)

    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, seed=1))
        old = await decided(service, "m", {"hour": 1})
        info = await service.upload("m", to_bytes(model, "m"))
        assert (info.labels, info.rounds, info.id) == (["left", "right"], 30, model.model_id)
        assert info.settings["learner"] == "AdaBandit"
        assert await judged(service, "m", old.id, correct=True) == "late"
        answer = await decided(service, "m", {"age": 31})
        assert await judged(service, "m", answer.id, correct=True) == "learned"
        await again(service, "m")
        await service.reset("m")
        await some(service, "m", 3)
        await again(service, "m")
        for file in (b"", b"no model", to_bytes(OptFull(["a", "b"]), "m"), to_bytes(model.branch(), "m")):
            with pytest.raises(ServiceError) as refused:
                await service.upload("m", file)
            assert (refused.value.status, refused.value.field) == (422, "file")

    serve(tmp_path, use)


def test_kernels_are_made_ready_where_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile them takes ten seconds: the event loop answers others meanwhile."""
    made: set[tuple[str, bool]] = set()

    def prepare(kind: type) -> None:
        made.add((kind.__name__, threading.current_thread() is threading.main_thread()))

    monkeypatch.setattr(making, "prepare", prepare)

    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, learner="OptBandit", seed=1))
        assert made == {("OptBandit", False)}
        await service.upload("m", to_bytes(AdaBandit(LABELS, seed=1), "m"))
        assert made == {("OptBandit", False), ("AdaBandit", False)}

    serve(tmp_path, use)


@pytest.mark.parametrize("kind", [AdaBandit, OptionBoost])
def test_what_is_ready_compiles_no_more(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    making.prepare(kind)
    monkeypatch.setattr(announcing, "announce", lambda *_: pytest.fail("compiles"))
    monkeypatch.setattr(store, "announce", lambda *_: pytest.fail("compiles"))
    x = {"hour": 3}
    model, given = (kind(), (x, SHOP)) if kind is OptionBoost else (kind(LABELS), (x,))
    model.learn(model.decide(*given), reward=1.0)
    model.rank(*given, n=2)


@pytest.mark.parametrize("labels", [["a", "b" * 300], [1, 2**63], [1.5, 2.5], [str(i) for i in range(21)]])
def test_a_file_with_labels_that_cannot_be_served_is_refused(tmp_path: Path, labels: list[Any]) -> None:
    GapBoost(labels, seed=1).save(tmp_path / "model.bb")

    async def use(service: SoloService) -> None:
        info = await service.create("m", ModelSettings(labels=LABELS, seed=1))
        with pytest.raises(ServiceError, match="its labels are") as refused:
            await service.upload("m", (tmp_path / "model.bb").read_bytes())
        assert (refused.value.status, refused.value.code) == (422, "bad-file")
        assert await service.show("m") == info

    serve(tmp_path / "store", use, ServiceSettings(limits=Limits(labels=20)))


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"labels": ["a"]}, "labels"),
        ({"labels": ["a", "b"], "learner": "OptFull"}, "learner"),
        ({"labels": ["a", "b"], "learner": "../../etc"}, "learner"),
        ({"labels": ["a", "b"], "learner": "OptionBoost"}, "labels"),
        ({"labels": ["a", "b"], "rewards": (1.0, 0.0)}, "rewards"),
        ({"labels": ["a", "b"], "parameters": {"seed": 3}}, "parameters"),
        ({"labels": ["a", "b"], "parameters": {"colour": 3}}, "parameters"),
        ({"labels": ["a", "b" * 300]}, "labels"),
        ({"labels": [1, 2**63]}, "labels"),
        ({"labels": [1, -(2**80)]}, "labels"),
        ({"labels": ["a", "b"], "rewards": (0.0, float("inf"))}, "rewards"),
        ({"labels": ["a", "b"], "seed": -1}, "seed"),
    ],
)
def test_models_that_cannot_be_made_are_refused(tmp_path: Path, settings: dict[str, Any], field: str) -> None:
    async def use(service: SoloService) -> None:
        with pytest.raises(ServiceError) as refused:
            await service.create("m", ModelSettings(**settings))
        assert (refused.value.status, refused.value.field) == (422, field)
        assert await service.names() == []

    serve(tmp_path, use)


@pytest.mark.parametrize(
    ("changes", "field", "remedy"),
    [
        ({"colour": 3}, "colour", "give some of learner, labels"),
        ({"window": "soon"}, "window", "see /openapi.json"),
        ({"labels": ["a", None]}, "labels[1]", "see /openapi.json"),
        ({"control": 3.0}, "control", "<= 1.0; see"),
        ({"rewards": [0.0, 2.0]}, "rewards", "make another model"),
        ({"learner": "AdaBandit"}, "learner", "make another model"),
        ({"labels": ["red"]}, "labels", "give at least two"),
        ({"labels": ["red", "red"]}, "labels", "each once"),
        ({"window": -1.0}, "window", "> 0.0; see"),
        ({"silence": "reward"}, "silence_reward", "give a number from"),
    ],
)
def test_changes_that_cannot_be_are_refused_by_field_and_with_a_remedy(
    tmp_path: Path, changes: dict[str, Any], field: str, remedy: str
) -> None:
    async def use(service: SoloService) -> None:
        info = await service.create("m", ModelSettings(labels=LABELS, seed=1))
        with pytest.raises(ServiceError) as refused:
            await service.change("m", changes)
        assert (refused.value.status, refused.value.field) == (422, field)
        assert remedy in refused.value.detail
        assert await service.show("m") == info

    serve(tmp_path, use)


@pytest.mark.parametrize(
    ("features", "status"),
    [
        (b"{", 400),
        (b"3", 422),
        (b'["a"]', 422),
        (b'{"a": ["b", 3]}', 422),
        (b'{"a":' * 9 + b"1" + b"}" * 9, 422),
        (b"[" * 5000, 400),
        (msgspec.json.encode({f"f{i}": i for i in range(10_001)}), 422),
        (b'{"a": 1e999}', 400),
        (b'{"a": "\xff"}', 400),
        (b'{"\xc3": 1}', 400),
    ],
)
def test_features_that_cannot_be_read_are_refused_and_change_nothing(
    tmp_path: Path, features: bytes, status: int
) -> None:
    async def use(service: SoloService) -> None:
        info = await service.create("m", ModelSettings(labels=LABELS, seed=1))
        [answer] = await service.decide("m", [DecisionRequest(features=features)])
        assert isinstance(answer, ServiceError)
        assert (answer.status, answer.field.split(".")[0]) == (status, "features")
        assert await service.show("m") == info

    serve(tmp_path, use)
