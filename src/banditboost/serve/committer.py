"""Many requests, one commit: events gather while the disk is busy with those before them."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from banditboost.serve.store.base import Append, Snapshot, Store, StoredEvent


class Counts(msgspec.Struct):
    """What was done since the start."""

    commits: int = 0
    committed: int = 0  # events; where processes share a store, requests
    commit_seconds: float = 0.0
    failed_commits: int = 0
    snapshots: int = 0


class Batch:
    """What is written in one transaction, and who waits for it."""

    def __init__(self) -> None:
        self.events: dict[int, list[StoredEvent]] = {}
        self.snapshots: list[tuple[int, Snapshot]] = []
        self.waiting: list[asyncio.Future[None]] = []
        self.after: list[Callable[[], None]] = []

    def appends(self) -> list[Append]:
        """For the store."""
        return [
            *(Append(model, events) for model, events in self.events.items()),
            *(Append(model, (), snapshot) for model, snapshot in self.snapshots),
        ]


class Committer:
    """Writes batches in a thread of its own, one after the other.

    Args:
        store: where to.
        failed: called in the event loop when a batch could not be written; nothing that was added since is
            written, either, and all who wait get what it returns.
        wait: seconds that a batch waits for more.
    """

    def __init__(self, store: Store, failed: Callable[[Exception], Exception], wait: float = 0.0) -> None:
        self._store, self._failed, self._wait = store, failed, wait
        self._filling, self._writing = Batch(), Batch()
        self._busy = False
        self.since: float | None = None
        """When the write that is under way began, by the monotonic clock."""
        self.waiting = 0
        """How many wait for the disk."""
        self.counts = Counts()
        self._loop = asyncio.get_running_loop()
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="committer", daemon=True)
        self._thread.start()

    # In the event loop

    def add(
        self,
        model: int,
        events: Sequence[StoredEvent],
        after: Callable[[], None],
        snapshot: Snapshot | None = None,
    ) -> asyncio.Future[None]:
        """Have these events written; `after` is called when they are, before anybody is answered."""
        batch = self._filling
        there = batch.events.get(model)
        if there is None:
            batch.events[model] = list(events)
        else:
            there += events
        if snapshot is not None:
            batch.snapshots.append((model, snapshot))  # each: a log is read from there
        batch.after.append(after)
        return self._future(batch)

    def _future(self, batch: Batch) -> asyncio.Future[None]:
        future = self._loop.create_future()
        batch.waiting.append(future)
        self.waiting += 1
        if not self._busy:
            self._busy = True
            if self._wait:
                self._loop.call_later(self._wait, self._hand_over)
            else:
                self._loop.call_soon(self._hand_over)
        return future

    async def settled(self) -> None:
        """All that was added before is written."""
        if self._busy:
            await self._future(self._filling)

    def _hand_over(self) -> None:
        batch = self._writing = self._filling
        self._filling, self.since = Batch(), time.monotonic()
        self._batches.put(batch)

    def _written(self, error: Exception | None) -> None:
        batch, self._writing = self._writing, Batch()
        self._count(batch, error)
        self.since = None
        if error is not None:
            self._drop(batch, error)
            return
        for after in batch.after:
            after()
        self._answer(batch, None)
        self._go_on()

    def _count(self, batch: Batch, error: Exception | None) -> None:
        if error is not None:
            self.counts.failed_commits += 1
        elif batch.events:
            assert self.since is not None
            self.counts.commits += 1
            self.counts.committed += sum(map(len, batch.events.values()))
            self.counts.commit_seconds += time.monotonic() - self.since

    def _go_on(self) -> None:
        if self._filling.waiting:
            self._hand_over()
        else:
            self._busy = False

    def _drop(self, batch: Batch, error: Exception) -> None:
        told = self._failed(error)
        dropped, self._filling = self._filling, Batch()
        self._answer(batch, told)
        self._answer(dropped, told)
        self._busy = False

    def _answer(self, batch: Batch, error: Exception | None) -> None:
        self.waiting -= len(batch.waiting)
        for future in batch.waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                future.exception()  # whoever waited may have gone

    async def stop(self) -> None:
        """Write what there is, and end the thread."""
        await self.settled()
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    # In the thread

    def _write_all(self) -> None:
        while (batch := self._batches.get()) is not None:
            error: Exception | None = None
            try:
                appends = batch.appends()
                if appends:
                    self._store.append(appends)
            except Exception as raised:
                error = raised
            self._loop.call_soon_threadsafe(self._written, error)
