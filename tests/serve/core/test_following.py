"""Logs that were written by another version, or on another processor, where decisions come out otherwise."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from banditboost.models.saving import to_bytes
from banditboost.serve import kept, making
from banditboost.serve.events import Decided, Judged, chained, decode, encode
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.solo import SoloService
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, decided, judged, serve

SHOP = {"tea": {"price": 4.0}, "milk": {"price": 1.0}, "juice": {"price": 3.0}}
OTHERS = {f"d{i}" for i in range(3, 30, 4)}
"""Decisions that come out otherwise here."""
NUDGED = {f"d{i}" for i in range(1, 30, 4)}
"""And those of which only the last bit of the probability does."""
KINDS = {
    "labels": ModelSettings(labels=LABELS, seed=5),
    "options": ModelSettings(learner="OptionBoost", seed=5),
}
_PLACES = 1 << 40


def row(i: int) -> dict[str, Any]:
    return {"hour": i % 24, "device": ["phone", "desk"][i % 2]}


def written(folder: Path, settings: ModelSettings) -> Path:
    """A folder of a service that was killed: nothing but the first snapshot and the log."""
    left = folder / "left"
    left.mkdir(parents=True)
    more = {"options": SHOP} if settings.learner == "OptionBoost" else {}

    async def use(service: SoloService) -> None:
        await service.create("m", settings)
        for i in range(30):
            options = {name: msgspec.json.encode(value) for name, value in more.items()}
            answer = await decided(service, "m", row(i), id=f"d{i}", **options)
            await judged(service, "m", answer.id, correct=answer.label in ("green", "milk"))
        with sqlite3.connect(folder / "store/banditboost.sqlite") as source:
            source.execute("VACUUM INTO ?", (str(left / "banditboost.sqlite"),))
        source.close()

    serve(folder / "store", use)
    return left


def elsewhere(folder: Path, *, told: bool) -> list[tuple[Decided, float]]:
    """Have some decisions of a log tell something else, with a chain that fits; what it tells then, and what they
    have earned.
    """
    made, chain, found = sqlite3.connect(folder / "banditboost.sqlite"), 0, list[Any]()
    with made:
        for place, at, body in made.execute("SELECT place, at, body FROM events ORDER BY place").fetchall():
            event = decode(body)
            if isinstance(event, Decided):
                event = _otherwise(event)
                found.append(event)
            elif isinstance(event, Judged):
                found[-1] = found[-1], event.reward
            body = encode(event)
            chain = chained(chain, place % _PLACES, at, body)
            made.execute("UPDATE events SET body = ?, chain = ? WHERE place = ?", (body, chain, place))
        if told:
            made.execute("UPDATE snapshots SET version = '0.0 elsewhere'")
    made.close()
    return found


def _otherwise(event: Decided) -> Decided:
    if event.id in OTHERS:
        offered = LABELS if event.options is None else list(SHOP)
        other = next(label for label in offered if label != event.label)
        return msgspec.structs.replace(event, label=other, probability=0.25)
    if event.id in NUDGED:
        return msgspec.structs.replace(event, probability=event.probability * (1 - 2**-50))
    return event


def truth(settings: ModelSettings, decisions: list[tuple[Decided, float]]) -> Any:
    """The model that learns what was shown."""
    model = making.make(making.checked(settings, Limits()))
    offered = (SHOP,) if settings.learner == "OptionBoost" else ()
    for i, (event, reward) in enumerate(decisions):
        decision = model.decide(row(i), *offered)
        if event.label == decision.label:
            model.learn(decision, reward=reward)
        else:
            more = {"options": SHOP} if offered else {}
            model.learn_logged(row(i), event.label, reward, event.probability, **more)
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_answered_stands_and_is_learned(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = KINDS[kind]
    folder = written(tmp_path, settings)
    decisions = elsewhere(folder, told=True)

    async def use(service: SoloService) -> None:
        with caplog.at_level(logging.WARNING, "banditboost"):
            info = await service.show("m")
        model = truth(settings, decisions)
        assert (info.rounds, info.verdicts, info.events) == (30, model.verdicts, 61)
        assert len(OTHERS) <= model.logged == 30 - model.verdicts
        assert differing(await service.download("m"), to_bytes(model, "m")) == []
        more = {} if kind == "labels" else {"options": msgspec.json.encode(SHOP)}
        again = await decided(service, "m", row(3), id="d3", **more)
        assert (again.label, again.probability, again.repeated) == (decisions[3][0].label, 0.25, True)
        assert await judged(service, "m", "d3", correct=True) == "duplicate"

    serve(folder, use)
    (line,) = (record.message for record in caplog.records)
    assert len(OTHERS) + len(NUDGED) <= int(line.split()[0]) <= 30


def test_from_then_on_it_goes_on_from_a_snapshot_of_its_own(tmp_path: Path) -> None:
    folder = written(tmp_path, KINDS["labels"])
    elsewhere(folder, told=True)

    async def use(service: SoloService) -> bytes:
        await service.show("m")
        return await service.download("m")

    first = serve(folder, use)
    with sqlite3.connect(folder / "banditboost.sqlite") as made:
        rows = dict(made.execute("SELECT n, version FROM snapshots").fetchall())
    made.close()
    assert rows == {0: "0.0 elsewhere", 61: kept.written_by()}
    assert differing(serve(folder, use), first) == []


def test_where_nothing_else_can_come_out_a_difference_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, KINDS["labels"])
    elsewhere(folder, told=False)

    async def use(service: SoloService) -> None:
        with pytest.raises(ServiceError, match="banditboost audit") as refused:
            await service.show("m")
        assert (refused.value.status, refused.value.code) == (503, "differs")

    serve(folder, use)
