"""Many requests, one transaction: they gather while the database is busy with those before them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

from banditboost.serve.committer import Counts
from banditboost.serve.shared.transacting import Ask, Transactor

_MOST = 2_000
"""Requests of one transaction, so that nobody waits long for its locks."""


class Writer:
    """Carries out requests in a thread of its own.

    Args:
        transactor: how.
        failed: what those get whose transaction has failed, by its error; called in the event loop.
        wait: seconds that a transaction waits for more.
    """

    def __init__(self, transactor: Transactor, failed: Any, wait: float = 0.0) -> None:
        self._transactor, self._failed, self._wait = transactor, failed, wait
        self._loop = asyncio.get_running_loop()
        self._asked: list[tuple[list[Ask], asyncio.Future[list[Any]]]] = []
        self._some = threading.Condition()
        self._ends = False
        self.waiting = 0
        """How many requests wait for the database."""
        self.since: float | None = None
        """When the transaction that is under way began, by the monotonic clock."""
        self.counts = Counts()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    # In the event loop

    async def carry_out(self, asks: Sequence[Ask]) -> list[Any]:
        """An answer or a ServiceError for each, when all are on disk."""
        future: asyncio.Future[list[Any]] = self._loop.create_future()
        self.waiting += len(asks)
        with self._some:
            self._asked.append((list(asks), future))
            self._some.notify()
        try:
            return await asyncio.shield(future)
        finally:
            self.waiting -= len(asks)

    async def stop(self) -> None:
        """Carry out what there is, and end the thread."""
        with self._some:
            self._ends = True
            self._some.notify()
        await asyncio.to_thread(self._thread.join)

    def _tell(
        self, batch: list[tuple[list[Ask], asyncio.Future[list[Any]]]], answers: list[Any] | Exception
    ) -> None:
        at = 0
        for asks, future in batch:
            if isinstance(answers, Exception):
                future.set_exception(self._failed(answers))
                future.exception()  # whoever waited may have gone
            else:
                future.set_result(answers[at : at + len(asks)])
                at += len(asks)

    # In the thread

    def _run(self) -> None:
        while batch := self._next():
            answers: list[Any] | Exception
            begun = self.since = time.monotonic()
            try:
                answers = self._transactor.run([ask for asks, _ in batch for ask in asks])
            except Exception as error:
                answers = error
                self.counts.failed_commits += 1
            else:
                self.counts.commits += 1
                self.counts.committed += len(answers)
            self.since = None
            self.counts.commit_seconds += time.monotonic() - begun
            self._loop.call_soon_threadsafe(self._tell, batch, answers)

    def _next(self) -> list[tuple[list[Ask], asyncio.Future[list[Any]]]]:
        """What is to be carried out together; nothing at the end."""
        with self._some:
            while not self._asked and not self._ends:
                self._some.wait()
            if self._wait and not self._ends:
                self._some.wait(self._wait)
            n, taken = 0, 0
            while taken < len(self._asked) and n < _MOST:
                n += len(self._asked[taken][0])
                taken += 1
            batch, self._asked = self._asked[:taken], self._asked[taken:]
            return batch
