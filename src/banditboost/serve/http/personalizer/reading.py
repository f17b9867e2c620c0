"""Bodies of requests: JSON with the names that Personalizer gives its fields."""

from __future__ import annotations

import msgspec

from banditboost.serve.problems import ServiceError

MOST_CHARACTERS = 256
"""Of an event's, an action's and an evaluation's id, and of a name."""
SHAPE = "see the documentation of Personalizer for its shape"


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An object that clients send or get; other fields are refused."""


def check_id(id_: str, field: str) -> str:
    """An id of 1 to 256 characters."""
    if not 1 <= len(id_) <= MOST_CHARACTERS:
        raise refused(field, f"has {len(id_)} characters; give 1 to {MOST_CHARACTERS}")
    return id_


def check_reward(value: float, field: str) -> float:
    """A reward from -1 to 1."""
    if not -1.0 <= value <= 1.0:
        raise refused(field, f"is {value:g}; give a number from -1 to 1")
    return value


def refused(field: str, why: str, code: str = "refused") -> ServiceError:
    """The refusal of a field's value, with its remedy."""
    return ServiceError(422, code, f"{field} {why}", field=field)
