"""Bodies of requests: JSON of a stated shape, or a refusal that names the place."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from banditboost.serve.problems import ServiceError

MOST_CHARACTERS = 256
"""Of an event's, an action's and an evaluation's id, and of a name."""
_PLACE = re.compile(r" - at `\$\.?(.*)`$")
_NAMED = re.compile(r"field `(\w+)`")

Shape = TypeVar("Shape")


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A JSON object with the names that Personalizer gives its fields."""


def read_body(body: bytes, shape: type[Shape], code: str) -> Shape:
    """What a body tells; a refusal with this code if it is not of the shape."""
    try:
        return msgspec.json.decode(body, type=shape)
    except RecursionError:
        raise ServiceError(400, code, "the body has objects within objects, too deep; give flat ones") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        told = str(error)
        place, named = _PLACE.search(told), _NAMED.search(told)
        field = ".".join(found[1] for found in (place, named) if found)
        raise ServiceError(400, code, f"the body cannot be taken: {told}", field=field) from None


def check_id(id_: str, field: str, code: str) -> str:
    """An id of 1 to 256 characters."""
    if not 1 <= len(id_) <= MOST_CHARACTERS:
        raise ServiceError(
            400, code, f"{field} has {len(id_)} characters; give 1 to {MOST_CHARACTERS}", field=field
        )
    return id_
