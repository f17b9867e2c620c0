"""The events of a model's log, and how they are written.

Each event has a number, counted from 1 without a gap, a time that never goes back, and a chain: a checksum
of itself and of all before it. What was changed, cut out or put in between is found by reading.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec


class Settled(msgspec.Struct, frozen=True, array_like=True, tag="settled"):
    """Settings of the model, all of them, from now on; the first event of every log."""

    settings: dict[str, Any]


class Decided(msgspec.Struct, frozen=True, array_like=True, tag="decided"):
    """A decision was made and answered."""

    id: str
    features: bytes  # JSON as it came
    options: bytes | None
    allowed: list[str | int] | None
    arm: str
    label: str | int
    probability: float
    explored: bool
    deferred: bool
    expires: float
    version: str
    ranking: list[tuple[str | int, float]] = []
    made: bytes | None = None
    """In another process than the one that learns: the branch's decision as `Decision.to_dict` tells it, in
    JSON; empty if a baseline chose."""


class Judged(msgspec.Struct, frozen=True, array_like=True, tag="judged"):
    """A verdict or reward came, and what was done with it."""

    id: str
    reward: float  # within the model's range; a verdict is one of its ends
    outcome: str
    once: str = ""  # the name of the verdict, if it has one: a second one of this name is a duplicate


class Activated(msgspec.Struct, frozen=True, array_like=True, tag="activated"):
    """A deferred decision was shown; what was held for it counts from now on."""

    id: str
    outcome: str  # of what was held: "learned", "added" or "logged"; "activated" if nothing was


class Closed(msgspec.Struct, frozen=True, array_like=True, tag="closed"):
    """The window of a decision ended: it is learned with this reward, or forgotten with None."""

    id: str
    reward: float | None


class Replaced(msgspec.Struct, frozen=True, array_like=True, tag="replaced"):
    """The model was replaced by a file, which the snapshot of this event's number holds."""

    why: str  # "upload" or "reset"
    settings: dict[str, Any]  # all of them, from now on


AnyEvent = Settled | Decided | Judged | Activated | Closed | Replaced

_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    """The event as bytes of a log."""
    return _encoder.encode(event)


def decode(body: bytes) -> AnyEvent:
    """The event that these bytes tell; a msgspec.DecodeError if they tell none."""
    event: AnyEvent = _decoder.decode(body)
    return event


def key_of(event: AnyEvent) -> str:
    """The decision it is about; empty if none."""
    key: str = getattr(event, "id", "")
    return key


def chained(chain: int, n: int, at: float, body: bytes) -> int:
    """The chain after an event with this number, time and body."""
    return zlib.crc32(body, zlib.crc32(msgspec.msgpack.encode((n, at)), chain))
