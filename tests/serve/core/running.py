"""A service on a folder, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from banditboost.serve.clock import Clock
from banditboost.serve.messages import DecisionRequest, VerdictRequest
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore

LABELS = ["red", "green", "blue"]


def asked(x: Any, **more: Any) -> DecisionRequest:
    """A request for a decision on a row."""
    return DecisionRequest(features=msgspec.json.encode(x), **more)


async def decided(service: SoloService, name: str, x: Any, **more: Any) -> Any:
    """The answer to one request; a refusal is raised."""
    return raised((await service.decide(name, [asked(x, **more)]))[0])


async def judged(service: SoloService, name: str, id_: str, **told: Any) -> Any:
    """What became of one verdict; a refusal is raised."""
    return raised((await service.judge(name, [VerdictRequest(id=id_, **told)]))[0]).outcome


def raised(answer: Any) -> Any:
    """An answer, unless it is a refusal."""
    if isinstance(answer, Exception):
        raise answer
    return answer


def serve(
    folder: Path,
    use: Callable[[SoloService], Awaitable[Any]],
    settings: ServiceSettings | None = None,
    clock: Clock | None = None,
) -> Any:
    """Start a service on a folder, use it, stop it."""

    async def run() -> Any:
        service = SoloService(settings or ServiceSettings(), SQLiteStore(folder), clock)
        await service.start()
        try:
            return await use(service)
        finally:
            await service.stop()

    return asyncio.run(run())
