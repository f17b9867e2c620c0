"""The tables of a service in PostgreSQL, made and migrated when a process starts."""

from __future__ import annotations

from typing import Any

from banditboost.serve.store.base import StoreError

_LOCK = 7_093_141_226_054_114_304  # of an advisory lock: one process migrates at a time
_FIRST = """
CREATE TABLE banditboost.models (
    model bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    created double precision NOT NULL
);
-- The last event of each log. Whoever appends holds the lock of this row: so a log has no gap, and what is
-- looked up in it is true until the commit.
CREATE TABLE banditboost.heads (
    model bigint PRIMARY KEY REFERENCES banditboost.models ON DELETE CASCADE,
    n bigint NOT NULL,
    chain bigint NOT NULL,
    at double precision NOT NULL,
    settled bigint NOT NULL,  -- the event that tells the settings in force
    replaced bigint NOT NULL DEFAULT 0  -- the event since which the model is another one
) WITH (fillfactor = 50);
CREATE TABLE banditboost.events (
    model bigint REFERENCES banditboost.models ON DELETE CASCADE,
    n bigint,
    key bytea NOT NULL,  -- bytes, since a text here cannot hold every id
    at double precision NOT NULL,
    chain bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (model, n)
);
CREATE INDEX events_by_key ON banditboost.events (model, key) WHERE key <> '';
-- Bodies are arrays of MessagePack that begin with their tag. One decision for each id, whoever asks where.
CREATE UNIQUE INDEX one_decision ON banditboost.events (model, key)
    WHERE substring(body FROM 2 FOR 8) = '\\xa764656369646564'::bytea;
CREATE TABLE banditboost.snapshots (
    model bigint REFERENCES banditboost.models ON DELETE CASCADE,
    n bigint,
    file bytea NOT NULL,
    state bytea NOT NULL,
    version text NOT NULL,
    checksum bigint NOT NULL,
    kept boolean NOT NULL,  -- whether the next one leaves it
    PRIMARY KEY (model, n)
);
ALTER TABLE banditboost.snapshots ALTER COLUMN file SET STORAGE EXTERNAL;
-- The latest that processes decide with. What a learner goes on from is a snapshot, which has open decisions.
CREATE TABLE banditboost.published (
    model bigint PRIMARY KEY REFERENCES banditboost.models ON DELETE CASCADE,
    n bigint NOT NULL,
    file bytea NOT NULL,
    about bytea NOT NULL  -- what is shown of the model
);
ALTER TABLE banditboost.published ALTER COLUMN file SET STORAGE EXTERNAL;
-- Who learns a model, until when by the clock of the database, and what has been learned and published.
CREATE TABLE banditboost.leases (
    model bigint PRIMARY KEY REFERENCES banditboost.models ON DELETE CASCADE,
    holder text NOT NULL DEFAULT '',
    epoch bigint NOT NULL DEFAULT 0,
    expires timestamptz NOT NULL DEFAULT '-infinity',
    learned bigint NOT NULL DEFAULT 0,
    due double precision NOT NULL DEFAULT 'infinity'  -- when the next window ends
) WITH (fillfactor = 50);
"""
MIGRATIONS = (_FIRST,)
"""What leads from each version to the next. A newer version may only add to what an older one uses, since
both run beside each other while a service is upgraded."""


def migrate(connection: Any) -> None:
    """Bring the tables to this version, in one transaction; a StoreError if they are of a newer one."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        version = _version(connection)
        if version > len(MIGRATIONS):
            raise StoreError(
                "newer",
                f"the database holds tables of version {version}, and this banditboost knows versions up to "
                f"{len(MIGRATIONS)}; upgrade banditboost on this machine",
            )
        for step in MIGRATIONS[version:]:
            connection.execute(step)
        if version < len(MIGRATIONS):
            connection.execute("UPDATE banditboost.version SET version = %s", [len(MIGRATIONS)])


def _version(connection: Any) -> int:
    connection.execute("CREATE SCHEMA IF NOT EXISTS banditboost")
    connection.execute("CREATE TABLE IF NOT EXISTS banditboost.version (version int NOT NULL)")
    row = connection.execute("SELECT version FROM banditboost.version").fetchone()
    if row is None:
        connection.execute("INSERT INTO banditboost.version VALUES (0)")
        return 0
    return int(row[0])
