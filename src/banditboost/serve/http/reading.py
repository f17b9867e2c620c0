"""Bodies of requests, read within the limits and before anything is parsed."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from banditboost.serve.problems import ServiceError, shape_of

T = TypeVar("T")


async def read_body(request: Request, most: int) -> bytes:
    """The whole body; refused as soon as it is known to be too long."""
    told = request.headers.get("content-length", "0")
    if not told.isdigit() or int(told) > most:
        raise too_long(most)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise ServiceError(415, "encoding", "the body is compressed; send it as it is", field="body")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_long(most)
        parts.append(part)
    return b"".join(parts)


def too_long(most: int) -> ServiceError:
    """The refusal of a body beyond the limit."""
    return ServiceError(
        413, "too-long", f"the body has more than {most} bytes; send less at once", field="body"
    )


def decoded(
    decoder: msgspec.json.Decoder[T],
    body: bytes | msgspec.Raw,
    within: str = "",
    remedy: str = "see /openapi.json for its shape",
) -> T:
    """JSON of the shape that the decoder knows; else a refusal that names the field, and the remedy."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _of_shape(str(error), within, remedy) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ServiceError(
            400, "not-json", f"the body is no JSON ({told}); send JSON", field=within or "body"
        ) from None


def _of_shape(message: str, within: str, remedy: str) -> ServiceError:
    wrong, inner = shape_of(message)
    dot = "." if within and inner and not inner.startswith("[") else ""
    where = f"{within}{dot}{inner}"
    return ServiceError(400, "malformed", f"{where or 'the body'}: {wrong}; {remedy}", field=where)


def json_object(body: bytes) -> dict[str, Any]:
    """A JSON object."""
    return decoded(_OBJECT, body)


_OBJECT = msgspec.json.Decoder(dict[str, Any])
