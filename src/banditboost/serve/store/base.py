"""What a store can do, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec


class StoredEvent(msgspec.Struct, frozen=True):
    """A line of a model's log."""

    n: int
    key: str
    at: float  # seconds since 1970
    chain: int
    body: bytes


class StoredModel(msgspec.Struct, frozen=True):
    """A model that the store knows."""

    number: int  # the store's own; what is on disk is named by it, never by the name
    name: str
    created: float


class Snapshot(msgspec.Struct, frozen=True):
    """A model after an event, and what the service keeps beside it (open decisions, statistics)."""

    n: int
    file: bytes  # what model.save writes
    state: bytes
    version: str  # of what wrote it: `kept.written_by`


class Append(msgspec.Struct, frozen=True):
    """Events to be written for one model; they follow the last one of its log."""

    model: int
    events: Sequence[StoredEvent]
    snapshot: Snapshot | None = None  # of the model after one of them, written in the same transaction


class StoreError(Exception):
    """The store cannot be read or written now; nothing of what was asked for has happened.

    Args:
        why: "full", "read-only", "io", "gone", "locked", "newer" or "damaged".
    """

    def __init__(self, why: str, detail: str) -> None:
        super().__init__(detail)
        self.why, self.detail = why, detail


class Store(Protocol):
    """Calls block; all may come from any thread. What a call has written is durable when it returns."""

    def models(self) -> list[StoredModel]: ...

    def create(self, name: str, at: float, first: Snapshot, event: StoredEvent) -> StoredModel:
        """Make a model with the snapshot of event 0 and the first event of its log, in one transaction; a
        KeyError if the name is taken.
        """
        ...

    def delete(self, model: int) -> None: ...

    def append(self, batch: Sequence[Append]) -> None:
        """Write all, in one transaction."""
        ...

    def head(self, model: int) -> tuple[int, int]:
        """The number of the last event of a model's log, and the chain after it."""
        ...

    def read(self, model: int, after: int = 0, limit: int = 10_000) -> Sequence[StoredEvent]: ...

    def history(self, model: int, key: str) -> Sequence[StoredEvent]:
        """The events about a decision, in their order."""
        ...

    def put_snapshot(self, model: int, snapshot: Snapshot) -> None: ...

    def snapshot(self, model: int, at_most: int | None = None) -> Snapshot:
        """The latest intact snapshot; that of event 0 is kept for ever."""
        ...

    def snapshots(self, model: int) -> Iterator[int]: ...

    def probe(self) -> None:
        """Open anew what has broken, and write something; a StoreError if that does not last, either."""
        ...

    def close(self) -> None: ...


class SoloStore(Store, Protocol):
    """A store that belongs to one process, which can also mend it."""

    def cut(self, model: int, after: int) -> None:
        """Take the events above `after`, which cannot be read, out of the log; they are kept apart."""
        ...
