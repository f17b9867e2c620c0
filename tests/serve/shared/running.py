"""Several processes of a service, as several services in one event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from banditboost.serve.settings import ServiceSettings
from banditboost.serve.shared.service import SharedService
from banditboost.serve.store.postgres import PostgresStore

LABELS = ["red", "green", "blue"]
Use = Callable[..., Awaitable[Any]]


def serve(url: str, use: Use, n: int = 2, settings: ServiceSettings | None = None) -> Any:
    """Start so many services on a database, use them, stop them."""

    async def run() -> Any:
        services = [SharedService(settings or ServiceSettings(), PostgresStore(url)) for _ in range(n)]
        try:
            for service in services:
                await service.start()
            return await use(*services)
        finally:
            await asyncio.gather(*(service.stop() for service in services))

    return asyncio.run(run())


async def learned(service: SharedService, name: str, n: int | None = None) -> bytes:
    """The model's file, when all events up to this one, or up to the last one, were learned."""
    stored = await service._stored(name)
    until = time.monotonic() + 60
    if n is None:
        n, _ = service._store.head(stored.number)
    while (await service.show(name)).events < n:
        assert time.monotonic() < until, "nobody learns"
        await asyncio.sleep(0.05)
    return await service.download(name)
