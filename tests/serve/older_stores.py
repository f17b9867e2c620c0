"""`python -m tests.serve.older_stores`: a store as this version writes it, for later versions to read.

Make it once, when the form of what is stored has changed; those of before stay.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from banditboost import __version__
from banditboost.serve.clock import Clock
from banditboost.serve.messages import DecisionRequest, VerdictRequest
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore

FOLDER = Path(__file__).parents[1] / "data/serve"
NOW = 1_800_000_000.0
DAY = 86_400.0
SHOP = {"tea": {"price": 4.0}, "milk": {"price": 1.0}}
MODELS = {
    "news": ModelSettings(
        labels=["red", "green", 3], seed=1, window=DAY, control=0.2, parameters={"n_learners": 3}
    ),
    "shop": ModelSettings(
        learner="OptionBoost",
        seed=2,
        window=DAY,
        rewards=(-1.0, 1.0),
        counting="sum",
        silence="reward",
        silence_reward=0.0,
        parameters={"n_learners": 3},
    ),
}
"""`news` ends with a snapshot, `shop` with events behind its last one."""


def asked(name: str, i: int) -> DecisionRequest:
    """The request for a decision."""
    options = msgspec.json.encode(SHOP) if name == "shop" else None
    features = msgspec.json.encode({"hour": i % 24, "device": ["phone", "desk"][i % 2]})
    return DecisionRequest(features=features, options=options, id=f"{name} {i}", deferred=i % 5 == 4)


async def fill(service: SoloService, name: str, rounds: range) -> list[dict[str, Any]]:
    """Decisions, verdicts, activations; what was answered."""
    told = []
    for i in rounds:
        (answer,) = await service.decide(name, [asked(name, i)])
        await service.judge(name, [VerdictRequest(id=f"{name} {i}", reward=i % 2)] if i % 7 else [])
        await service.activate(name, [f"{name} {i}"] if i % 2 else [])
        told.append(msgspec.to_builtins(answer))
    return told


async def write(folder: Path) -> dict[str, Any]:
    """Fill a store in two lives, of which the second ends without a farewell; what is known of it."""
    told: dict[str, Any] = {"version": __version__, "answers": {}, "models": {}}
    settings = ServiceSettings(models=MODELS)
    for rounds in (range(12), range(12, 24)):
        service = SoloService(settings, SQLiteStore(folder), Clock(lambda: NOW), tick=1e9)
        await service.start()
        for name in MODELS:
            told["answers"].setdefault(name, []).extend(await fill(service, name, rounds))
            if rounds.start:
                told["models"][name] = msgspec.to_builtins(await service.show(name))
        if rounds.start == 0:
            await service.stop()
    await service._put_snapshot(await service._served("news"))
    with sqlite3.connect(folder / "banditboost.sqlite") as store:
        store.execute("VACUUM INTO ?", (str(folder / "copy"),))
    store.close()
    await service.stop()
    return told


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    number = len(list(FOLDER.glob("*.json"))) + 1
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(write(Path(folder)))
        store = (Path(folder) / "copy").read_bytes()
    (FOLDER / f"store_{number}.sqlite.gz").write_bytes(gzip.compress(store, mtime=0))
    (FOLDER / f"store_{number}.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
