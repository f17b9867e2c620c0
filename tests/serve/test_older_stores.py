"""Stores of every version before are read, tell the same, and go on."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from numba import config

from banditboost.serve import kept, replay
from banditboost.serve.audit import audit
from banditboost.serve.clock import Clock
from banditboost.serve.messages import DecisionAnswer, VerdictAnswer, VerdictRequest
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.older_stores import DAY, FOLDER, MODELS, NOW, asked

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="compiles the service's learners")
STORES = sorted(path.name.removesuffix(".json") for path in FOLDER.glob("*.json"))


def unpacked(store: str, folder: Path) -> dict[str, Any]:
    """Put a store into a folder; what is known of it."""
    packed = (FOLDER / f"{store}.sqlite.gz").read_bytes()
    (folder / "banditboost.sqlite").write_bytes(gzip.decompress(packed))
    told: dict[str, Any] = json.loads((FOLDER / f"{store}.json").read_text(encoding="utf-8"))
    return told


def test_there_is_one_of_the_first_version() -> None:
    assert STORES[0] == "store_1"


@pytest.mark.parametrize("store", STORES)
def test_a_service_goes_on_with_it(tmp_path: Path, store: str) -> None:
    told = unpacked(store, tmp_path)
    times = iter([NOW + 60.0] * 1_000)

    async def use() -> None:
        clock = Clock(lambda: next(times))
        service = SoloService(ServiceSettings(), SQLiteStore(tmp_path), clock, tick=1e9)
        await service.start()
        assert await service.names() == list(MODELS)
        for name in MODELS:
            info = json.loads(msgspec.json.encode(await service.show(name)))
            there = told["models"][name]
            same = ("id", "events", "rounds", "open", "labels")
            assert {key: info[key] for key in same} == {key: there[key] for key in same}
            assert info["settings"] | there["settings"] == info["settings"]
            for i, answer in enumerate(told["answers"][name]):
                (again,) = await service.decide(name, [asked(name, i)])
                assert msgspec.to_builtins(again) == answer | {"repeated": True}
            (late,) = await service.judge(name, [VerdictRequest(id=f"{name} 0", reward=1.0)])
            assert isinstance(late, VerdictAnswer)
            assert late.outcome == ("learned" if name == "news" else "added"), "its window is open"
            (fresh,) = await service.decide(name, [asked(name, 99)])
            assert isinstance(fresh, DecisionAnswer)
            assert not fresh.repeated
        await service.stop()

    asyncio.run(use())


@pytest.mark.parametrize("store", STORES)
def test_its_windows_end(tmp_path: Path, store: str) -> None:
    told = unpacked(store, tmp_path)

    async def use() -> None:
        clock = Clock(lambda: NOW + 2 * DAY)
        service = SoloService(ServiceSettings(), SQLiteStore(tmp_path), clock, tick=1e9)
        await service.start()
        for name in MODELS:
            before = await service.show(name)
            assert before.open == told["models"][name]["open"] > 0
            await service.tick()
            assert (await service.show(name)).open == 0
        await service.stop()

    asyncio.run(use())


@pytest.mark.parametrize("store", STORES)
def test_its_log_is_read_from_the_beginning(tmp_path: Path, store: str) -> None:
    """Where it was written decisions come out the same; elsewhere they may not, and nothing else differs."""
    told = unpacked(store, tmp_path)
    opened = SQLiteStore(tmp_path)
    for stored in opened.models():
        report, _ = audit(opened, stored)
        assert report.events == told["models"][stored.name]["events"]
        assert report.elsewhere or report.found == 0, report.findings
        strange = [
            one for one in report.findings if "comes out as" not in one.what and "snapshot" not in one.what
        ]
        assert strange == []
        assert replay.latest(opened, stored).version != ""
        assert kept.settings_of(kept.state_of(opened.snapshot(stored.number, 0))) is not None
    opened.close()
