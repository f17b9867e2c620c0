"""Refusals as problem details (RFC 9457), with the field to blame and the remedy."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from banditboost.errors import BanditBoostError
from banditboost.serve.problems import ServiceError
from banditboost.text import visible_lines

PROBLEM = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    401: "A key is needed",
    403: "This is not allowed",
    404: "Not found",
    405: "This method is not offered here",
    409: "It contradicts what is there",
    413: "Too much at once",
    415: "This kind of content is not read",
    422: "A value is refused",
    429: "Too many requests",
    500: "The service failed",
    501: "This is not installed",
    503: "The service cannot do this now",
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What was refused, and what helps."""

    type: str
    title: str
    status: int
    code: str
    """A short name that programs can compare."""
    detail: str
    """What is wrong."""
    field: str = ""
    """Where in the request, such as [3].features; empty if it is no field."""
    remedy: str = ""
    """What helps."""


def problem_of(error: ServiceError, within: str = "") -> Problem:
    """A refusal as plain data; `within` names the item of a batch."""
    wrong, _, remedy = error.detail.rpartition("; ")
    dot = "." if within and error.field and not error.field.startswith("[") else ""
    return Problem(
        type=f"urn:banditboost:{error.code}",
        title=_TITLES.get(error.status, "Refused"),
        status=error.status,
        code=error.code,
        detail=visible_lines(wrong or remedy),
        field=f"{within}{dot}{error.field}",
        remedy=visible_lines(remedy) if wrong else "",
    )


def answer(error: ServiceError) -> Response:
    """The response that tells a refusal."""
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="banditboost"'
    body = msgspec.json.encode(problem_of(error))
    return Response(body, error.status, headers, media_type=PROBLEM)


def of_library(error: BanditBoostError) -> ServiceError:
    """What the library refuses, as the service tells it."""
    return ServiceError(422, "refused", str(error))


async def _service(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return answer(error)


async def _library(_: Request, error: Exception) -> Response:
    assert isinstance(error, BanditBoostError)
    return answer(of_library(error))


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        offered = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        told = answer(ServiceError(405, "method", f"the method is not offered here; use {offered}"))
        told.headers["Allow"] = offered
        return told
    return answer(
        ServiceError(error.status_code, "no-such-path", "there is nothing at this path; see /openapi.json")
    )


async def _failed(_: Request, __: Exception) -> Response:
    return failed()


def failed() -> Response:
    """The response to a request at which the service failed."""
    return answer(
        ServiceError(500, "failed", "the service failed at this request; its log on the server tells why")
    )


HANDLERS: dict[Any, Any] = {
    ServiceError: _service,
    BanditBoostError: _library,
    HTTPException: _http,
    Exception: _failed,
}
