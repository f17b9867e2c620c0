"""Logs and snapshots in PostgreSQL: any number of processes share them."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, LiteralString, NamedTuple

import psycopg

from banditboost.serve.store.base import Append, Snapshot, StoredEvent, StoredModel, StoreError
from banditboost.serve.store.postgres_connections import Connections
from banditboost.serve.store.postgres_schema import migrate

_COLUMNS = "n, key, at, chain, body"
_NUL = "\0"  # no text of a database has it
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"  # seconds since 1970


class Head(NamedTuple):
    """Where a log ends, as long as its row is locked."""

    n: int
    chain: int
    at: float
    settled: int  # the event that tells the settings in force
    replaced: int  # the event since which the model is another one, or 0


_ENDS_TRANSACTIONS = 170_000
"""The first version of PostgreSQL that can end a transaction which has sent something, but no end of it: one
whose network was cut in between is not idle, and would keep its locks.
"""
_LASTS = "SET LOCAL transaction_timeout = '6s'"


class PostgresStore:
    """A Store in a database that other processes use, too.

    Args:
        url: `postgresql://user@host/database`.
        sync: "normal" lets `append` return before its events are on the database's disk.
    """

    def __init__(self, url: str, sync: Literal["full", "normal"] = "full") -> None:
        self.connections = Connections(url, sync)
        try:
            with self.connections.use() as connection:
                migrate(connection)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.connections.close()

    def probe(self) -> None:
        """Open anew what has broken, and write something; a StoreError if that does not last, either."""
        with self.connections.use() as connection:
            connection.execute("UPDATE banditboost.version SET version = version")

    @contextlib.contextmanager
    def begin(self) -> Iterator[Transaction]:
        """All or nothing. What need not be waited for goes to the database together."""
        with self.connections.use() as connection, connection.pipeline() as line, connection.transaction():
            if connection.info.server_version >= _ENDS_TRANSACTIONS:
                connection.execute(_LASTS)
            yield Transaction(connection, line)

    # Models

    def models(self) -> list[StoredModel]:
        with self.connections.use() as connection:
            rows = connection.execute("SELECT model, name, created FROM banditboost.models ORDER BY name")
            return [StoredModel(*row) for row in rows]

    def named(self, name: str) -> StoredModel | None:
        """The model of this name."""
        if _NUL in name:
            return None
        with self.connections.use() as connection:
            row = connection.execute(
                "SELECT model, name, created FROM banditboost.models WHERE name = %s", [name]
            ).fetchone()
            return None if row is None else StoredModel(*row)

    def count(self) -> int:
        """How many models there are."""
        with self.connections.use() as connection:
            return int(_only(connection.execute("SELECT count(*) FROM banditboost.models")))

    def names(self, after: str, limit: int) -> list[str]:
        """Names of models, in their order."""
        after = after.partition(_NUL)[0]
        with self.connections.use() as connection:
            rows = connection.execute(
                "SELECT name FROM banditboost.models WHERE name > %s ORDER BY name LIMIT %s", [after, limit]
            )
            return [name for (name,) in rows]

    def create(self, name: str, at: float, first: Snapshot, event: StoredEvent) -> StoredModel:
        with self.begin() as transaction:
            return transaction.create(name, at, first, event)

    def delete(self, model: int) -> None:
        with self.connections.use() as connection:
            connection.execute("DELETE FROM banditboost.models WHERE model = %s", [model])

    # Logs

    def append(self, batch: Sequence[Append]) -> None:
        with self.begin() as transaction:
            transaction.append(batch)

    def head(self, model: int) -> tuple[int, int]:
        with self.connections.use() as connection:
            row = connection.execute(
                "SELECT n, chain FROM banditboost.heads WHERE model = %s", [model]
            ).fetchone()
            n, chain = _demanded(row, model)
            return n, chain

    def heads(self, models: Sequence[int]) -> tuple[float, dict[int, int]]:
        """The time, and the last event of each of these logs that is there."""
        with self.connections.use() as connection:
            rows = connection.execute(
                "SELECT model, n FROM banditboost.heads WHERE model = ANY(%b::int8[])", [list(models)]
            ).fetchall()
            return _only(connection.execute(_NOW)), dict(rows)

    def published(self, model: int) -> tuple[int, bytes, bytes] | None:
        """What was published last: the event, the model's file, and what is shown of it."""
        with self.connections.use() as connection:
            return connection.execute(
                "SELECT n, file, about FROM banditboost.published WHERE model = %s", [model], binary=True
            ).fetchone()

    def about(self, model: int) -> tuple[int, bytes] | None:
        """The same without the file."""
        with self.connections.use() as connection:
            return connection.execute(
                "SELECT n, about FROM banditboost.published WHERE model = %s", [model], binary=True
            ).fetchone()

    def latest(self, models: Sequence[int]) -> dict[int, int]:
        """Of each of these models the event after which it was published last."""
        with self.connections.use() as connection:
            return dict(
                connection.execute(
                    "SELECT model, n FROM banditboost.published WHERE model = ANY(%b::int8[])", [list(models)]
                ).fetchall()
            )

    def settled(self, model: int) -> bytes:
        """The event that tells the settings in force."""
        with self.connections.use() as connection:
            row = connection.execute(
                "SELECT e.body FROM banditboost.heads h JOIN banditboost.events e ON e.model = h.model AND "
                "e.n = h.settled WHERE h.model = %s",
                [model],
            ).fetchone()
            return bytes(_demanded(row, model)[0])

    def read(self, model: int, after: int = 0, limit: int = 10_000) -> Sequence[StoredEvent]:
        with self.connections.use() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM banditboost.events WHERE model = %s AND n > %s ORDER BY n LIMIT %s",
                [model, after, limit],
                binary=True,
            )
            return [_event(*row) for row in rows]

    def history(self, model: int, key: str) -> Sequence[StoredEvent]:
        with self.begin() as transaction:
            return transaction.histories([(model, key)]).get((model, key), [])

    # Snapshots

    def put_snapshot(self, model: int, snapshot: Snapshot) -> None:
        with self.begin() as transaction:
            transaction.put_snapshot(model, snapshot, kept=True)

    def snapshot(self, model: int, at_most: int | None = None) -> Snapshot:
        return self._intact(model, at_most, "true")

    def learned(self, model: int) -> Snapshot:
        """The latest intact snapshot that a learner has written, which knows all that was counted; else that
        of event 0.
        """
        return self._intact(model, None, "(n = 0 OR NOT kept)")

    def _intact(self, model: int, at_most: int | None, which: LiteralString) -> Snapshot:
        with self.connections.use() as connection:
            for n in self._numbers(connection, model, at_most, which):
                row = connection.execute(
                    "SELECT n, file, state, version, checksum FROM banditboost.snapshots "
                    "WHERE model = %s AND n = %s",
                    [model, n],
                    binary=True,
                ).fetchone()
                if row is not None and row[4] == _checksum(row[1], row[2]):
                    return Snapshot(*row[:4])
        raise StoreError("damaged", f"no snapshot of model {model} is intact; restore a backup")

    def snapshots(self, model: int) -> Iterator[int]:
        with self.connections.use() as connection:
            return iter(self._numbers(connection, model, None, "true")[::-1])

    @staticmethod
    def _numbers(
        connection: psycopg.Connection[Any], model: int, at_most: int | None, which: LiteralString
    ) -> list[int]:
        """Events after which there is a snapshot, the latest first."""
        rows = connection.execute(
            "SELECT n FROM banditboost.snapshots WHERE model = %s AND n <= %s AND "
            + which
            + " ORDER BY n DESC",
            [model, 2**62 if at_most is None else at_most],
        )
        return [n for (n,) in rows]


class Transaction:
    """What is done within one transaction."""

    def __init__(self, connection: psycopg.Connection[Any], line: psycopg.Pipeline) -> None:
        self._connection, self._line = connection, line
        self.execute = connection.execute

    def ask(self, query: LiteralString, values: Any) -> tuple[Any, ...] | None:
        """The first row of an answer.

        Whoever waits for an answer says so (`sync`): only then does the database notice if this process is
        silent from here on, and end the transaction with its locks.
        """
        cursor = self._connection.execute(query, values)
        self._line.sync()
        return cursor.fetchone()

    def lock(self, models: Iterable[int]) -> tuple[float, dict[int, Head]]:
        """The time, and the heads of logs, which nobody else changes before the end; those deleted are left
        out.
        """
        now, heads, _ = self.look(models, [])
        return now, heads

    def look(
        self, models: Iterable[int], keys: Sequence[tuple[int, str]]
    ) -> tuple[float, dict[int, Head], dict[tuple[int, str], list[StoredEvent]]]:
        """The same, and the events about some decisions, as nobody else changes them, either.

        Locks are taken in one order, so that nobody waits in a circle.
        """
        rows = self._connection.execute(
            "SELECT model, n, chain, at, settled, replaced FROM banditboost.heads "
            "WHERE model = ANY(%b::int8[]) ORDER BY model FOR NO KEY UPDATE",
            [sorted(models)],
        )
        now = self._connection.execute(_NOW)
        pasts = self._ask_histories(keys) if keys else ()
        self._line.sync()
        heads = {model: Head(*head) for model, *head in rows}
        return _only(now), heads, _by_decision(pasts)

    def histories(self, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], list[StoredEvent]]:
        """The events about each of these decisions, in their order."""
        return _by_decision(self._ask_histories(keys))

    def _ask_histories(self, keys: Sequence[tuple[int, str]]) -> Iterable[Any]:
        return self._connection.execute(
            f"SELECT model, {_COLUMNS} FROM banditboost.events JOIN unnest(%b::int8[], %b::bytea[]) "
            "AS asked (model, key) USING (model, key) WHERE key <> '' ORDER BY model, n",
            [[model for model, _ in keys], [_key(key) for _, key in keys]],
            binary=True,
        )

    def create(self, name: str, at: float, first: Snapshot, event: StoredEvent) -> StoredModel:
        """Make a model with the first event of its log, its settings; a KeyError if the name is taken."""
        row = self.ask(
            "INSERT INTO banditboost.models (name, created) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING "
            "RETURNING model",
            [name, at],
        )
        if row is None:
            raise KeyError(name)
        (model,) = row
        self._connection.execute(
            "INSERT INTO banditboost.heads (model, n, chain, at, settled) VALUES (%s, 0, 0, %s, %s)",
            [model, at, event.n],
        )
        self._connection.execute("INSERT INTO banditboost.leases (model) VALUES (%s)", [model])
        self.put_snapshot(model, first, kept=True)
        self.write([Append(model, [event])])
        return StoredModel(model, name, at)

    def append(self, batch: Sequence[Append]) -> None:
        """Write events that follow the last ones of their logs; a StoreError if others were written."""
        _, heads = self.lock(one.model for one in batch)
        for one in batch:
            head = heads.get(one.model)
            if one.events and (head is None or one.events[0].n != head.n + 1):
                raise StoreError(
                    "locked", f"the log of model {one.model} has gone on elsewhere; read it, and try again"
                )
        self.write(batch)

    def write(self, batch: Sequence[Append]) -> None:
        """Write events, and snapshots of them, to logs whose heads are locked."""
        for one in batch:
            if one.snapshot is not None:
                self.put_snapshot(one.model, one.snapshot, kept=True)
        rows = [(one.model, event) for one in batch for event in one.events]
        self._connection.execute(
            f"INSERT INTO banditboost.events (model, {_COLUMNS}) SELECT * FROM unnest(%b::int8[], "
            "%b::int8[], %b::bytea[], %b::float8[], %b::int8[], %b::bytea[])",
            [
                [model for model, _ in rows],
                [event.n for _, event in rows],
                [_key(event.key) for _, event in rows],
                [event.at for _, event in rows],
                [event.chain for _, event in rows],
                [event.body for _, event in rows],
            ],
        )
        last = [(one.model, one.events[-1]) for one in batch if one.events]
        self._connection.execute(
            "UPDATE banditboost.heads AS h SET n = t.n, chain = t.chain, at = t.at FROM unnest(%b::int8[], "
            "%b::int8[], %b::int8[], %b::float8[]) AS t (model, n, chain, at) WHERE h.model = t.model",
            [
                [model for model, _ in last],
                [event.n for _, event in last],
                [event.chain for _, event in last],
                [event.at for _, event in last],
            ],
        )

    def settle(self, model: int, n: int, *, replaced: bool) -> None:
        """Settings are those of this event from now on, which may have brought another model."""
        self._connection.execute(
            "UPDATE banditboost.heads SET settled = %(n)s, replaced = CASE WHEN %(replaced)s THEN %(n)s ELSE "
            "replaced END WHERE model = %(model)s",
            {"n": n, "replaced": replaced, "model": model},
        )

    def event(self, model: int, n: int) -> bytes:
        """The body of an event."""
        row = self.ask("SELECT body FROM banditboost.events WHERE model = %s AND n = %s", [model, n])
        return bytes(_demanded(row, model)[0])

    def put_snapshot(self, model: int, snapshot: Snapshot, *, kept: bool) -> None:
        """Write a snapshot; of those that are not kept the latest two stay."""
        self._connection.execute(
            "INSERT INTO banditboost.snapshots VALUES (%s, %s, %b, %b, %s, %s, %s) ON CONFLICT (model, n) "
            "DO UPDATE SET file = excluded.file, state = excluded.state, version = excluded.version, "
            "checksum = excluded.checksum, kept = snapshots.kept OR excluded.kept",
            [
                model,
                snapshot.n,
                snapshot.file,
                snapshot.state,
                snapshot.version,
                _checksum(snapshot.file, snapshot.state),
                kept,
            ],
        )
        self._connection.execute(
            "DELETE FROM banditboost.snapshots WHERE model = %(model)s AND NOT kept AND n NOT IN (SELECT n "
            "FROM banditboost.snapshots WHERE model = %(model)s AND NOT kept ORDER BY n DESC LIMIT 2)",
            {"model": model},
        )


def _only(cursor: psycopg.Cursor[Any]) -> float:
    """The number that was asked for."""
    return float(_demanded(cursor.fetchone(), 0)[0])


def _by_decision(rows: Iterable[Any]) -> dict[tuple[int, str], list[StoredEvent]]:
    found: dict[tuple[int, str], list[StoredEvent]] = {}
    for model, *row in rows:
        event = _event(*row)
        found.setdefault((model, event.key), []).append(event)
    return found


def _key(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _event(n: int, key: bytes, at: float, chain: int, body: bytes) -> StoredEvent:
    return StoredEvent(n, key.decode("utf-8", "surrogatepass"), at, chain, body)


def _checksum(file: bytes, state: bytes) -> int:
    return zlib.crc32(state, zlib.crc32(file))


def _demanded(row: Any, model: int) -> Any:
    if row is None:
        raise KeyError(model)
    return row
