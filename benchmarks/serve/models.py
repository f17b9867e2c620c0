"""Many models in one service: how long one takes to come back, and what is in memory meanwhile."""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banditboost.serve.launch import prepare
from banditboost.serve.messages import DecisionRequest
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from benchmarks import machine
from benchmarks.serve import logged

CEILING = 128 << 20
_ROUNDS = 50  # that each model has learned
_ASKED = 3_000
_MIB = 1 << 20
_WANTED = 5.0  # milliseconds


def measure(folder: Path, n: int) -> dict[str, Any]:
    """So many models under one ceiling; those that are asked are drawn by lot.

    Models that this folder has are not made again.
    """
    settings = logged.settings_for(CEILING)
    prepare(settings)
    before = machine.memory()
    store = SQLiteStore(folder / "models", "normal")
    found = asyncio.run(_measure(SoloService(settings, store), n))
    grown = round((found["resident"] - before) / _MIB)
    return {**found, "grown": grown, "resident": round(found["resident"] / _MIB), "wanted": _WANTED}


async def _measure(service: SoloService, n: int) -> dict[str, Any]:
    await service.start()
    await _make(service, n)
    back, there, resident = await _ask(service, n)
    health = service.health().numbers
    await service.stop()
    return {
        "models": n,
        "rounds": _ROUNDS,
        "ceiling": CEILING // _MIB,
        "loaded": health.loaded,
        "weighed": round(health.memory / _MIB),
        "resident": max(resident),
        "asked": _ASKED,
        "came_back": len(back),
        "back": _told(back),
        "there": _told(there),
    }


async def _make(service: SoloService, n: int) -> None:
    for number in range(len(service._known), n):
        await service.create(_name(number), logged.model_settings(number))
        await logged.play(service, _name(number), _ROUNDS)
        if number % 1_000 == 0:
            print(f"{number} models, {machine.memory() / _MIB:.0f} MiB", file=sys.stderr, flush=True)


async def _ask(service: SoloService, n: int) -> tuple[list[float], list[float], list[int]]:
    """Seconds until a model is there, for those that had to come back and for those that were there."""
    draw, back, there, resident = random.Random(1), list[float](), list[float](), list[int]()
    for _ in range(_ASKED):
        name, row = _name(draw.randrange(n)), draw.choice(logged.ROWS)
        was_there = service._residents.get(name) is not None
        begun = time.perf_counter()
        await service.show(name)
        (there if was_there else back).append(time.perf_counter() - begun)
        await service.decide(name, [DecisionRequest(features=row.features)])
        resident.append(machine.memory())
    return back, there, resident


def _name(number: int) -> str:
    return f"customer {number}"


def _told(seconds: Sequence[float]) -> dict[str, float]:
    """Milliseconds."""
    if len(seconds) < 2:
        return {}
    cuts = statistics.quantiles(seconds, n=100)
    return {"p50": round(1000 * cuts[49], 2), "p99": round(1000 * cuts[98], 2)}
