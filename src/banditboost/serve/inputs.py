"""What callers send, read once and within limits."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from banditboost.serve.messages import DecisionRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def content_of(request: DecisionRequest) -> int:
    """A checksum of what is decided: a request that comes again has the same."""
    content = zlib.crc32(request.features)
    if request.options is not None:
        content = zlib.crc32(request.options, content)
    if request.allowed is not None:
        content = zlib.crc32(_encode(request.allowed), content)
    return content


def read_features(raw: bytes, limits: Limits, field: str = "features") -> Any:
    """A dict, or a list of numbers."""
    try:
        row = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ServiceError(400, "not-json", f"{field}: {error}; give JSON", field=field) from None
    if type(row) is dict:
        # A feature takes six bytes at least, and a level one bracket: most rows need no closer look.
        if len(raw) > 4 * limits.features or raw.count(b"{") + raw.count(b"[") > limits.depth:
            _check_size(row, limits, field)
    elif type(row) is not list or not {int, float}.issuperset(map(type, row)):
        raise ServiceError(
            422,
            "bad-features",
            f"{field} is no object and no array of numbers; give one of them",
            field=field,
        )
    elif len(row) > limits.features:
        _refuse_size(len(row), limits, field)
    return row


def read_options(raw: bytes, limits: Limits) -> dict[str, Any]:
    """A dict {id: features}."""
    try:
        options = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ServiceError(400, "not-json", f"options: {error}; give JSON", field="options") from None
    if type(options) is not dict or not options:
        raise ServiceError(
            422,
            "bad-options",
            "options is no object {id: features}; give at least one option",
            field="options",
        )
    if len(options) > limits.options:
        raise ServiceError(
            422,
            "too-many-options",
            f"there are {len(options)} options; give {limits.options} at most",
            field="options",
        )
    if len(raw) > 4 * limits.features or raw.count(b"{") + raw.count(b"[") > limits.depth:
        for id_, features in options.items():
            _check_size(features, limits, f"options.{id_[:80]}")
    for id_ in options:
        if len(id_) > limits.id:
            raise ServiceError(
                422,
                "long-id",
                f"the id of an option has {len(id_)} characters; give {limits.id} at most",
                field="options",
            )
    return options


def _check_size(row: Any, limits: Limits, field: str) -> None:
    n, level = 0, [row]
    for _ in range(limits.depth):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, (dict, list)):
                n += len(part)
                inner += part.values() if isinstance(part, dict) else part
        if n > limits.features:
            _refuse_size(n, limits, field)
        level = [part for part in inner if isinstance(part, (dict, list))]
        if not level:
            return
    raise ServiceError(
        422,
        "too-deep",
        f"{field} has objects in objects, more than {limits.depth} deep; give dotted names, such as user.age",
        field=field,
    )


def _refuse_size(n: int, limits: Limits, field: str) -> None:
    raise ServiceError(
        422,
        "too-many-features",
        f"{field} has {n} values or more; give {limits.features} at most",
        field=field,
    )
