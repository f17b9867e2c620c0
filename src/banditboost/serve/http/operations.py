"""What an operation is: one table of them makes the routes, the checks of keys and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.problems import ServiceError

Role = Literal["decide", "learn", "read", "admin"]
Handler = Callable[[Request], Awaitable[Response]]
JSON = "application/json"


class _Text(Convertor[str]):
    """An id in a path: slashes and line breaks belong to it, too."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("text", _Text())


class Operation(NamedTuple):
    """A method of a path, who may call it, and what it takes and answers."""

    method: str
    path: str  # as Starlette writes it: {name}, {id:text}
    handler: Handler
    role: Role | None  # None: everybody may, without a key
    summary: str
    body: Any = None  # a type that msgspec knows
    answer: Any = None
    status: int = 200
    takes: str = JSON
    gives: str = JSON
    model: str | None = None  # the model that it is about, if the path does not name one
    queries: tuple[tuple[str, type, str], ...] = ()  # name, type, what it says


def query_number(request: Request, name: str, default: int, most: int | None = None) -> int:
    """A whole number of the query, 0 or more."""
    text = request.query_params.get(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else -1
    if number < 0 or (most is not None and number > most):
        upto = "" if most is None else f" to {most}"
        raise ServiceError(
            400, "malformed", f"{name} is no whole number from 0{upto or ' on'}; give one", field=name
        )
    return number
