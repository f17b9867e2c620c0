"""Errors as Personalizer's clients read them: `{"error": {"code", "message", "target", ...}}`."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from banditboost.serve.problems import ServiceError
from banditboost.text import visible_lines

KNOWN_SINCE_THE_FIRST = frozenset({"BadRequest", "ResourceNotFound", "InternalServerError"})
"""The codes of v1.0. Later versions know more. All begin with a capital, and ours do not."""
_BY_STATUS = {
    400: "BadRequest",
    401: "401",  # as Azure's gateway said it
    403: "OperationNotAllowed",
    404: "ResourceNotFound",
    405: "OperationNotAllowed",
    413: "PayloadSizeExceeded",
    429: "429",
    503: "OperationNotAllowed",
}


class InnerError(msgspec.Struct, frozen=True):
    code: str


class PersonalizerError(msgspec.Struct, frozen=True, rename="camel"):
    code: str
    message: str
    target: str | None
    details: list[Any]
    inner_error: InnerError


class ErrorResponse(msgspec.Struct, frozen=True):
    """What a client gets instead of an answer."""

    error: PersonalizerError


class Refusal(msgspec.Struct, frozen=True):
    """Status, body and headers of a refusal."""

    status: int
    body: bytes
    headers: dict[str, str]


def refusal(error: ServiceError, code: str, *, first_version: bool) -> Refusal:
    """A refusal of the service in the words of Personalizer.

    Args:
        error: what the service said.
        code: Personalizer's for requests of this kind that cannot be taken.
        first_version: whether the client knows the codes of v1.0 only.
    """
    status = 400 if error.status == 422 else error.status
    told = error.code if error.code[:1].isupper() else _code_of(status, code)
    if first_version and told not in KNOWN_SINCE_THE_FIRST:
        told = _of_the_first(status)
    body = PersonalizerError(
        told, visible_lines(error.detail), error.field or None, [], InnerError(error.code)
    )
    headers = {"x-ms-error-code": told}
    if error.retry_after is not None:
        headers["Retry-After"] = str(math.ceil(error.retry_after))
    return Refusal(status, msgspec.json.encode(ErrorResponse(body)), headers)


def _code_of(status: int, code: str) -> str:
    if status in (400, 409):
        return code
    return _BY_STATUS.get(status, "InternalServerError")


def _of_the_first(status: int) -> str:
    if status == 404:
        return "ResourceNotFound"
    return "BadRequest" if status < 500 else "InternalServerError"
