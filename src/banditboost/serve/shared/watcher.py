"""Hears what learners publish, and keeps the leases of this process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import psycopg

from banditboost.serve.shared.leases import CHANNEL
from banditboost.serve.store.base import StoreError
from banditboost.serve.store.postgres import PostgresStore
from banditboost.serve.store.postgres_connections import told

BEAT = 0.5
"""Seconds between two renewals of leases."""
_LOOK = 4
"""Beats between two looks at what was published: a message may be lost with its connection."""


class Watcher:
    """Listens in a thread of its own.

    Args:
        store: the database.
        heard: called with the number of a model that was published.
        look: called now and then, to look for what was not heard.
        keep: renews leases; called in each beat.
    """

    def __init__(
        self,
        store: PostgresStore,
        heard: Callable[[int], None],
        look: Callable[[], None],
        keep: Callable[[], None],
    ) -> None:
        self._store, self._heard, self._look, self._keep = store, heard, look, keep
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Listen no more."""
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.is_set():
            try:
                with told(), contextlib.closing(self._store.connections.open()) as connection:
                    self._listen(connection)
            except StoreError:
                self._ends.wait(BEAT)

    def _listen(self, connection: psycopg.Connection[object]) -> None:
        awaited = self._store.connections.awaited
        with awaited(connection):
            connection.execute(f"LISTEN {CHANNEL}")
        beats = 0
        while not self._ends.is_set():
            if beats % _LOOK == 0:
                with awaited(connection):
                    connection.execute("SELECT 1")  # whether anybody is still there
                self._look()
            self._keep()
            for notify in connection.notifies(timeout=BEAT):
                self._heard(int(notify.payload))
            beats += 1
