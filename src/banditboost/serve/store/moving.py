"""What is in SQLite's write-ahead log moves to the file beside the writer, and not in its commits.

A commit that moves pages, too, waits for the disk twice more; so do all who wait for it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from banditboost.serve.store.base import StoreError

_MANY = 16 << 20
"""Bytes that were written since pages moved last."""
_MOST_FRAMES = 16_000
"""Pages in the log. Beyond them the writer waits: without a pause it would never come to begin anew."""


class Mover:
    """Moves pages in a thread of its own, which begins when there is something to move.

    Args:
        connection: of the thread that asks.
        writing: held while nobody else writes.
    """

    def __init__(
        self, connection: Callable[[], sqlite3.Connection], writing: AbstractContextManager[object]
    ) -> None:
        self._connection, self._writing = connection, writing
        self._written = 0
        self._thread: threading.Thread | None = None
        self._some, self._ends = threading.Event(), False
        self.moving = threading.Lock()
        """Held while pages move."""

    def wrote(self, size: int) -> None:
        """So many bytes more are in the log, roughly."""
        self._written += size
        if self._written >= _MANY:
            self._written = 0
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mover", daemon=True)
                self._thread.start()
            self._some.set()

    def stop(self) -> None:
        """What is left moves when the file is closed."""
        self._ends = True
        self._some.set()
        if self._thread is not None:
            self._thread.join()

    # In the thread

    def _run(self) -> None:
        while self._some.wait() and not self._ends:
            self._some.clear()
            try:
                self._move()
            except (sqlite3.Error, StoreError):
                continue  # the log has all; who writes hears of a disk that is full or gone

    def _move(self) -> None:
        with self.moving:
            frames = self._moved()
        if frames > _MOST_FRAMES:
            with self._writing, self.moving:
                self._moved()

    def _moved(self) -> int:
        """Pages in the log, after those were moved that nobody reads there."""
        _, frames, _ = self._connection().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return int(frames)
