"""A store of open decisions from plain data, after a look at all of it.

The checksum finds what was changed by accident. It is no secret: keep the store where you keep the model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from banditboost.decision import Decision
from banditboost.errors import DecisionError
from banditboost.io.values import UnreadableError, decode_hashable, json_digest
from banditboost.pending.waiting import COUNTERS, Model, Outcome, Waiting
from banditboost.text import quoted
from banditboost.validation import check_count, check_number

FORMAT = 2
_READABLE = (1, FORMAT)  # 1 has no checksum
RULE = ("capacity", "max_rounds", "max_seconds", "expired")


class Told(NamedTuple):
    """What plain data tells of a store."""

    open: dict[Hashable, Waiting]
    closed: dict[Hashable, Outcome]
    counters: dict[str, int]


def check_whose(data: Any, model: Model) -> None:
    """Refuse what is no store at all, or another model's."""
    number = data.get("format") if isinstance(data, Mapping) else None
    if type(number) is not int or number not in _READABLE:
        raise DecisionError(
            f"this is no store of pending decisions in format 1 or {FORMAT}; give the whole dict that "
            "to_dict returned"
        )
    told = data.get("model")
    if not isinstance(told, str) or told != model.model_id:
        raise DecisionError(
            f"the store belongs to model {quoted(told)}, this is {model.model_id!r}; load that one"
        )


def checksum(data: Mapping[str, Any]) -> str:
    """Of all that a store's dict tells; of its decisions by their own checksums."""
    waiting = [[*item[:3], item[3]["checksum"]] for item in data["open"]]
    return json_digest([data["model"], data["rule"], waiting, data["closed"], data["counters"]])


def read_store(data: Mapping[str, Any], model_id: str) -> Told:
    """What the dict of a store tells, if all of it can be; the errors of Python and of all checks if not."""
    if data.get("checksum") != (checksum(data) if data["format"] == FORMAT else None):
        raise UnreadableError("the checksum is not that of the contents")
    told = Told({}, {}, {name: check_count(name, data["counters"][name], 0) for name in COUNTERS})
    for key, round_, seconds, stored in data["open"]:
        decision = Decision.from_dict(stored)
        if decision.model_id != model_id:
            raise UnreadableError(
                f"the decision of round {decision.round} belongs to model {decision.model_id!r}"
            )
        told.open[_new_id(key, told)] = Waiting(
            decision,
            check_count("round", round_, 0),
            check_number("seconds", seconds, -math.inf, math.inf),
        )
    for key, outcome in data["closed"]:
        told.closed[_new_id(key, told)] = Outcome(outcome)
    return told


def _new_id(stored: Any, told: Told) -> Hashable:
    key: Hashable = decode_hashable(stored)
    if key in told.open or key in told.closed:
        raise UnreadableError(f"id {quoted(key)} is there twice")
    return key
