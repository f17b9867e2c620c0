"""Logs that a service has written, without a door before it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictRequest
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from benchmarks.serve.bodies import LABELS, Body, bodies

AT_ONCE = 50
NEVER = 1_000_000_000  # events after which a snapshot is written
ROWS = bodies()


def settings_for(memory: int = Limits().memory, snapshot_every: int = NEVER) -> ServiceSettings:
    """Of a service that writes few snapshots by itself."""
    return ServiceSettings(limits=Limits(memory=memory), snapshot_every=snapshot_every)


def model_settings(seed: int = 7) -> ModelSettings:
    """As all that are measured."""
    return ModelSettings(labels=LABELS, seed=seed)


async def play(service: SoloService, name: str, rounds: int) -> None:
    """Decisions and their verdicts."""
    for start in range(0, rounds, AT_ONCE):
        await _some(service, name, [ROWS[n % len(ROWS)] for n in range(start, min(start + AT_ONCE, rounds))])


async def _some(service: SoloService, name: str, rows: Sequence[Body]) -> None:
    answers = await service.decide(name, [DecisionRequest(features=row.features) for row in rows])
    verdicts = []
    for answer, row in zip(answers, rows, strict=True):
        assert isinstance(answer, DecisionAnswer), answer
        verdicts.append(VerdictRequest(id=answer.id, correct=answer.label == row.right_label))
    await service.judge(name, verdicts)


def write(folder: Path, rounds: int, *, snapshot: bool) -> None:
    """A model with a log of so many rounds, and a snapshot of its end or of its beginning alone."""

    async def fill() -> None:
        service = SoloService(settings_for(), SQLiteStore(folder))
        await service.start()
        await service.create("default", model_settings())
        await play(service, "default", rounds)
        if snapshot:
            await service.stop()

    asyncio.run(fill())
