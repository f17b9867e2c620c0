"""What is shown of a model by processes that do not learn it."""

from __future__ import annotations

from typing import Any

import msgspec

from banditboost.serve.messages import ModelInfo
from banditboost.serve.served import Served


class About(msgspec.Struct, array_like=True, frozen=True):
    """A model after the event up to which it was published."""

    info: ModelInfo
    statistics: dict[str, Any]


def about(served: Served) -> bytes:
    """As it is published: the model itself has made no decisions, so those of its branches are counted."""
    statistics = served.statistics.to_plain()
    rounds = served.statistics.counts.get("decisions", 0)
    return msgspec.msgpack.encode(About(msgspec.structs.replace(served.info(), rounds=rounds), statistics))
