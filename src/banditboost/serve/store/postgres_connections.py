"""Connections to PostgreSQL: made when they are needed, given back, given up when no answer comes."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, Literal

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from banditboost.serve.store.base import StoreError

PATIENCE = 10.0
"""Seconds after which an answer of the database is waited for no longer."""
# A process that is stopped in the middle of a transaction holds locks: the database ends it. What a user's
# URL says goes before these.
_DEFAULTS: dict[str, str | int] = {
    "application_name": "banditboost",
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "target_session_attrs": "read-write",
}
_SESSION = {
    "client_encoding": "UTF8",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "3s",
    "lock_timeout": "6s",
    "statement_timeout": "60s",
    "default_transaction_isolation": "read committed",
}
_WHY = {
    "25006": "read-only",
    "25P03": "gone",  # it was silent in a transaction
    "25P04": "gone",  # or did not end it
    "53100": "full",
    "58030": "io",
    "XX001": "damaged",
    "XX002": "damaged",
}
_BUSY = {"40001", "40P01", "55P03", "57014"}  # a conflict, a deadlock, a lock or an answer that took too long


class Connections:
    """Connections of one process, for any of its threads.

    Args:
        url: of the database.
        sync: "normal" lets commits return before they are on the database's disk.
    """

    def __init__(self, url: str, sync: Literal["full", "normal"] = "full") -> None:
        self._url, self._sync = url, sync
        self._idle: list[psycopg.Connection[Any]] = []
        self._busy: dict[psycopg.Connection[Any], float] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def use(self, patience: float = PATIENCE) -> Iterator[psycopg.Connection[Any]]:
        """A connection of one's own for a while; what goes wrong with it is a StoreError."""
        with told():
            connection = self._take()
            try:
                with self.awaited(connection, patience):
                    yield connection
            except psycopg.OperationalError:
                connection.close()
                self._drop_idle()  # they are of the same server
                raise
            finally:
                self._give_back(connection)

    @contextlib.contextmanager
    def awaited(self, connection: psycopg.Connection[Any], patience: float = PATIENCE) -> Iterator[None]:
        """Answers on this connection are waited for no longer: a network may swallow all, and say nothing."""
        with self._lock:
            self._busy[connection] = time.monotonic() + patience
        try:
            yield
        finally:
            with self._lock:
                self._busy.pop(connection, None)

    def open(self) -> psycopg.Connection[Any]:
        """A new connection, which the caller closes."""
        given = conninfo_to_dict(self._url)
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
        connection = psycopg.connect(make_conninfo(self._url, **defaults), autocommit=True)
        try:
            with self.awaited(connection):
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        for name, value in _SESSION.items():
            connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        self._set_sync(connection)

    def _set_sync(self, connection: psycopg.Connection[Any]) -> None:
        """A commit waits for the disk, unless the settings say otherwise; stricter settings are left."""
        if self._sync == "normal":
            connection.execute("SET synchronous_commit = off")
        else:
            connection.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') IN ('off', 'local')"
            )

    def _take(self) -> psycopg.Connection[Any]:
        with self._lock:
            if self._closed:
                raise StoreError("gone", "the store was closed")
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
        return self.open()

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            if connection.closed or self._closed or connection.info.transaction_status != 0:
                connection.close()
            else:
                self._idle.append(connection)

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def give_up_overdue(self) -> None:
        """End connections that have answered nothing for too long: whoever waits for them gets an error."""
        now = time.monotonic()
        with self._lock:
            overdue = [one for one, until in self._busy.items() if until < now and not one.closed]
        for connection in overdue:
            cut(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self._drop_idle()


def cut(connection: psycopg.Connection[Any]) -> None:
    """End a connection that another thread may be waiting for."""
    with contextlib.suppress(OSError, psycopg.Error):
        raw = socket.socket(fileno=connection.fileno())
        try:
            raw.shutdown(socket.SHUT_RDWR)
        finally:
            raw.detach()


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What the database refuses as a StoreError that says why."""
    try:
        yield
    except psycopg.Error as error:
        state, text = error.sqlstate or "", " ".join(str(error).split())
        if state in _WHY:
            raise StoreError(_WHY[state], text) from error
        if state in _BUSY:
            raise StoreError("locked", text) from error
        if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
            raise StoreError("gone", f"the database does not answer: {text}") from error
        raise
