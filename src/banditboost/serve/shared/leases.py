"""Who learns which model: one process at a time, until its lease ends by the clock of the database.

The epoch counts the learners of a model. What a learner writes, it writes with its epoch: whoever was stopped
for longer than its lease finds that it has ended.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from banditboost.serve.shared.transacting import check_lease
from banditboost.serve.store.base import Snapshot
from banditboost.serve.store.postgres import PostgresStore

LASTS = 4.0
"""Seconds. It is renewed in less than a quarter of them."""
CHANNEL = "banditboost"
"""Where processes hear which model was published, by its number."""


class Lease(NamedTuple):
    """The right to learn a model."""

    model: int
    epoch: int


class Leases:
    """Leases of one process.

    Args:
        store: where they are.
        holder: the name of the process.
        lasts: seconds.
    """

    def __init__(self, store: PostgresStore, holder: str, lasts: float = LASTS) -> None:
        self._store, self._holder, self._lasts = store, holder, lasts

    def take(self, most: int) -> list[tuple[Lease, str, float]]:
        """Leases of models that nobody learns and in which something is to be done, with name and time of
        the model's making.
        """
        with self._store.connections.use() as connection:
            rows = connection.execute(
                """
                UPDATE banditboost.leases AS l SET holder = %(holder)s, epoch = epoch + 1,
                    expires = clock_timestamp() + make_interval(secs => %(lasts)s)
                FROM banditboost.models AS m WHERE m.model = l.model AND l.model IN (
                    SELECT model FROM banditboost.leases JOIN banditboost.heads AS h USING (model)
                    WHERE expires < clock_timestamp() AND (
                        holder <> '' OR h.n > learned OR due < extract(epoch FROM clock_timestamp())
                    ) ORDER BY expires LIMIT %(most)s FOR UPDATE OF leases SKIP LOCKED
                ) RETURNING l.model, l.epoch, m.name, m.created
                """,
                {"holder": self._holder, "lasts": self._lasts, "most": most},
            ).fetchall()
        return [(Lease(model, epoch), name, created) for model, epoch, name, created in rows]

    def renew(self, leases: Collection[Lease]) -> set[Lease]:
        """Those of them that go on."""
        if not leases:
            return set()
        with self._store.connections.use() as connection:
            rows = connection.execute(
                """
                UPDATE banditboost.leases AS l
                SET expires = clock_timestamp() + make_interval(secs => %(lasts)s)
                FROM unnest(%(models)b::int8[], %(epochs)b::int8[]) AS held (model, epoch)
                WHERE l.model = held.model AND l.epoch = held.epoch AND l.holder = %(holder)s
                RETURNING l.model, l.epoch
                """,
                {
                    "holder": self._holder,
                    "lasts": self._lasts,
                    "models": [lease.model for lease in leases],
                    "epochs": [lease.epoch for lease in leases],
                },
            ).fetchall()
        return {Lease(model, epoch) for model, epoch in rows}

    def give_back(self, lease: Lease, due: float) -> None:
        """Another process may learn the model, when something is to be done; its next window ends then."""
        self._end(lease, "holder = '', expires = '-infinity', due = %(due)s", {"due": due})

    def give_up(self, lease: Lease, pause: float) -> None:
        """It cannot be learned here; somebody is to try it after this many seconds."""
        self._end(lease, "expires = clock_timestamp() + make_interval(secs => %(pause)s)", {"pause": pause})

    def _end(self, lease: Lease, change: str, values: dict[str, float]) -> None:
        with self._store.connections.use() as connection:
            connection.execute(
                f"UPDATE banditboost.leases SET {change} WHERE model = %(model)s AND epoch = %(epoch)s",
                {**values, "model": lease.model, "epoch": lease.epoch},
            )

    # What a learner writes, fenced by its epoch

    def publish(self, lease: Lease, n: int, about: bytes, file: bytes | None) -> None:
        """All events up to this one were learned: tell it, and what processes decide with from now on, if
        that has changed.
        """
        with self._store.begin() as transaction:
            check_lease(transaction, *lease)
            if file is None:
                transaction.execute(
                    "UPDATE banditboost.published SET n = %s, about = %b WHERE model = %s",
                    [n, about, lease.model],
                )
            else:
                transaction.execute(
                    "INSERT INTO banditboost.published VALUES (%s, %s, %b, %b) ON CONFLICT (model) DO UPDATE "
                    "SET n = excluded.n, file = excluded.file, about = excluded.about",
                    [lease.model, n, file, about],
                )
                transaction.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{lease.model}"])
            transaction.execute(
                "UPDATE banditboost.leases SET learned = %s WHERE model = %s", [n, lease.model]
            )

    def put_snapshot(self, lease: Lease, snapshot: Snapshot) -> None:
        """Where another learner goes on."""
        with self._store.begin() as transaction:
            check_lease(transaction, *lease)
            transaction.put_snapshot(lease.model, snapshot, kept=False)
