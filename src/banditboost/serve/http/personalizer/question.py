"""What an operation is asked: by whom, of which model, in which dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.http.operations import JSON
from banditboost.serve.http.personalizer.configuration import personalizer_settings
from banditboost.serve.http.reading import read_body
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service

T = TypeVar("T")
REQUEST_ID = "x-ms-client-request-id"


class Dialect(NamedTuple):
    """A version of Personalizer's interface."""

    first: bool = False
    """v1.0, which knows three codes of errors."""
    latest: bool = False
    """2022-09-01-preview, which tells evaluations in another form."""


class Question(NamedTuple):
    """A request for an operation on a model."""

    service: Service
    name: str
    request: Request
    dialect: Dialect
    noting: asyncio.Lock
    """Held while the notes of a model are changed."""

    def once(self, value: float) -> str | None:
        """A name for a reward: of the request, which clients keep when they send it again, and of the value,
        for a client may call all requests of a visitor the same.
        """
        told = self.request.headers.get(REQUEST_ID)
        return blake2b(f"{told} {value!r}".encode(), digest_size=16).hexdigest() if told else None

    async def body(self) -> bytes:
        """The body, within the limit."""
        return await read_body(self.request, self.service.settings.limits.body)

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """What the service answers to a call; Personalizer's own model is made if it is not there yet."""
        try:
            return await call()
        except ServiceError as error:
            own = self.service.settings.personalizer
            if error.code != "unknown-model" or own is None or self.name != own.model:
                raise
        try:
            await self.service.create(self.name, personalizer_settings())
        except ServiceError as error:
            if error.status != 409:  # somebody else has made it meanwhile
                raise
        return await call()


def answered(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(msgspec.json.encode(value), status, headers, JSON)


def done() -> Response:
    """The answer that it was done."""
    return Response(status_code=204)


def only(answers: Any) -> Any:
    """The one answer to one request, or the refusal of it."""
    answer = answers[0]
    if isinstance(answer, ServiceError):
        raise answer
    return answer
