"""How a service is: ready or not and why, and the numbers behind it."""

from __future__ import annotations

import time
from typing import Literal

import msgspec

from banditboost.serve.store.base import StoreError

SLOW = 2.0  # seconds of one commit
PartName = Literal["store", "disk", "clock", "queue", "models", "learner"]


class Part(msgspec.Struct, frozen=True):
    """A part of the service."""

    ok: bool = True
    why: str = ""  # what is wrong, and what helps: for people, without names of files


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What a service counts of itself, besides requests."""

    models: int = 0  # that the store knows
    loaded: int = 0  # that are in memory
    memory: int = 0  # bytes of those, estimated
    open: int = 0  # decisions of those that wait for a verdict
    waiting: int = 0  # requests that wait for the disk
    commits: int = 0  # since the start, as are those that follow
    committed: int = 0  # events
    commit_seconds: float = 0.0
    failed_commits: int = 0
    snapshots: int = 0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether requests are answered now. A part that is not ok need not keep the service from answering: a
    clock that was set back is told, and decisions are still made.
    """

    ready: bool = True
    parts: dict[PartName, Part] = {}
    numbers: Numbers = Numbers()


def of_store(trouble: StoreError | None, since: float | None) -> Part:
    """How the store is, of which a commit may be under way since a moment of the monotonic clock."""
    if trouble is not None:
        return Part(False, f"{trouble.why}: {trouble.detail}")
    lasting = 0.0 if since is None else time.monotonic() - since
    return Part() if lasting < SLOW else Part(False, f"slow: a commit has taken {lasting:.1f} s so far")


def of_queue(waiting: int, most: int, store: str) -> Part:
    """How many requests wait for a disk or a database."""
    if waiting < most:
        return Part()
    return Part(False, f"{waiting} requests wait for the {store}; ask less, or a faster {store}")
