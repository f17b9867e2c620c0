"""The asynchronous client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from banditboost.client import calls
from banditboost.client.calls import Call
from banditboost.client.retrying import Answer, Retries, headers_for, is_final, read

P = ParamSpec("P")
T = TypeVar("T")


def _method(
    make: Callable[Concatenate[str, P], Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """The method that sends a call about the client's model."""

    @wraps(make)
    async def method(self: AsyncClient, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await self.send(make(self.model, *arguments, **named))

    return method


class AsyncClient:
    """Calls a service; its methods are those of `Client`, with await.

    Args:
        address: of the service, as `banditboost serve` prints it.
        key: if the service has keys.
        model: the model that the calls are about.
        timeout: seconds that an answer is waited for.
        retries: how often a call is sent again if no answer comes, or one that says "later".
        transport: of httpx, for proxies and tests.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8730",
        *,
        key: str | None = None,
        model: str = "default",
        timeout: float = 10.0,
        retries: Retries = Retries(),  # noqa: B008 (it cannot be changed)
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.address, self.model, self._retries = address.rstrip("/"), model, retries
        self._http = httpx.AsyncClient(
            base_url=self.address, headers=headers_for(key), timeout=timeout, transport=transport
        )

    decide = _method(calls.decide)
    decide_many = _method(calls.decide_many)
    learn = _method(calls.learn)
    learn_many = _method(calls.learn_many)
    activate = _method(calls.activate)

    create = _method(calls.create)
    models = _method(calls.models)
    show = _method(calls.show)
    change = _method(calls.change)
    delete = _method(calls.delete)
    reset = _method(calls.reset)
    download = _method(calls.download)
    upload = _method(calls.upload)
    statistics = _method(calls.statistics)
    report = _method(calls.report)
    log = _method(calls.log)

    async def send(self, call: Call[T]) -> T:
        """Send a call until there is an answer that will not change."""
        for attempt in range(self._retries.attempts - 1):
            answer = await self._ask(call)
            if is_final(answer):
                return read(call, answer, attempt)
            await asyncio.sleep(self._retries.pause(attempt, answer))
        return read(call, await self._ask(call), self._retries.attempts - 1)

    async def _ask(self, call: Call[T]) -> Answer:
        try:
            return await self._http.request(call.method, call.path, content=call.content, params=call.query)
        except httpx.TransportError as error:
            return error

    async def close(self) -> None:
        """Close the connections; `async with` does it, too."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
