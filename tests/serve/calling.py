"""Applications called without a socket, from tests that are not asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx


class Caller:
    """Calls an application in an event loop of its own."""

    def __init__(self, app: Any, runner: asyncio.Runner, **options: Any) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)  # as a server does it
        self._client = httpx.AsyncClient(transport=transport, **{"base_url": "http://localhost"} | options)
        self.run = runner.run

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.run(self._client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> httpx.Response:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)


@contextmanager
def calling(app: Any, **options: Any) -> Iterator[Caller]:
    """A caller of an application that has been started, and is stopped at the end."""
    with asyncio.Runner() as runner:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        told: asyncio.Queue[Any] = asyncio.Queue()

        async def begin() -> asyncio.Task[None]:
            task = asyncio.create_task(app({"type": "lifespan"}, heard.get, told.put))
            await heard.put({"type": "lifespan.startup"})
            assert (await told.get())["type"] == "lifespan.startup.complete"
            return task

        async def end(task: asyncio.Task[None]) -> None:
            await heard.put({"type": "lifespan.shutdown"})
            assert (await told.get())["type"] == "lifespan.shutdown.complete"
            await task

        task = runner.run(begin())
        try:
            yield Caller(app, runner, **options)
        finally:
            runner.run(end(task))
