"""Logs and snapshots in one SQLite file, for one process: many events in one commit.

A commit is one statement that inserts all events of a batch, and its fsync; between the two the interpreter
is free for the event loop.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from banditboost.serve.store.base import Append, Snapshot, StoredEvent, StoredModel, StoreError
from banditboost.serve.store.moving import Mover
from banditboost.serve.store.packing import packed, unpacked
from banditboost.serve.store.wal import commits_left_out

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    place INTEGER PRIMARY KEY, key TEXT NOT NULL, at REAL NOT NULL, chain INTEGER NOT NULL,
    body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_key ON events (key) WHERE key != '';
CREATE TABLE IF NOT EXISTS cut (
    place INTEGER NOT NULL, key TEXT NOT NULL, at REAL NOT NULL, chain INTEGER NOT NULL,
    body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (
    model INTEGER NOT NULL, n INTEGER NOT NULL, version TEXT NOT NULL, file_size INTEGER NOT NULL,
    checksum INTEGER NOT NULL, kept INTEGER NOT NULL, PRIMARY KEY (model, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pieces (
    model INTEGER NOT NULL, n INTEGER NOT NULL, piece INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (model, n, piece));
CREATE TABLE IF NOT EXISTS probes (number INTEGER PRIMARY KEY, at REAL);
"""
_ROW = "(?,?,?,?,?)"
_VALUES = 5  # of a row
_INSERT = "INSERT INTO events (place, key, at, chain, body) VALUES "
_MOST_ROWS = 250  # of one statement
_PIECE = 1 << 20  # bytes: a snapshot does not keep commits waiting
_EVENT = 1_000  # bytes, with its place in the index; roughly
_FIRST = 1 << 40  # events of a model; a place in the table is model * _FIRST + n
_KEPT = 2  # snapshots of a model, besides those that a log is read from
_DELETED = 10_000  # events in one transaction
_WHY = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_CANTOPEN: "gone",
}
_REMEDIES = {
    "full": "make room on the disk",
    "read-only": "let the service write to the folder, and mount its disk for writing",
    "damaged": "restore the folder from a backup",
    "locked": "end the other process that uses the folder",
    "gone": "bring the folder back",
    "io": "check the disk",
}


class SQLiteStore:
    """A store in a folder that belongs to this process alone.

    Args:
        folder: made if it is not there.
        sync: "full" waits for the disk with each commit; "normal" does not: what was written survives the
            process, and the last moments may not survive a loss of power.
        most_pages: of the file; None for as many as the disk holds.
        read_only: only look, beside the process that the folder belongs to.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        sync: Literal["full", "normal"] = "full",
        most_pages: int | None = None,
        read_only: bool = False,
    ) -> None:
        self._folder, self._sync, self._most_pages = Path(folder), sync, most_pages
        self._read_only = read_only
        self._here = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._generation = 0
        self._lock: Any = None
        self._writing = threading.RLock()
        self._mover = Mover(lambda: self._reader, self._writing)
        if read_only:
            self._begin_to_look()
        else:
            self._begin()

    def _begin(self) -> None:
        with self._told():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._folder)
        try:
            with self._told():
                self._refuse_holes()
                self._open()
            self._finish_deletes()
        except BaseException:
            self._lock.close()
            raise

    def _begin_to_look(self) -> None:
        if not self.path.exists():
            raise StoreError(
                "gone", f"{self._folder}: there is no {self.path.name} here; give the folder of a service"
            )
        with self._told():
            self._writer = self._connect()

    # Connections

    @property
    def path(self) -> Path:
        """The file."""
        return self._folder / "banditboost.sqlite"

    def _open(self) -> None:
        self._writer = self._connect()
        self._writer.executescript(_SCHEMA)

    def _refuse_holes(self) -> None:
        """Refuse a file behind whose damaged place there are commits that were answered.

        It is looked at by a connection that cannot write: one that can would take the file away.
        """
        if not self.path.exists():
            return
        with closing(sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro", uri=True)) as looking:
            looking.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            left_out = commits_left_out(self.path)
        if left_out > 1 and self._sync == "full":
            raise StoreError(
                "damaged",
                f"{self.path}-wal was damaged in its middle: {left_out} commits behind that place cannot be "
                f"read; {_REMEDIES['damaged']}, or move this file away to go on without them",
            )

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={'ro' if self._read_only else 'rwc'}",
            uri=True,
            timeout=10.0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        if self._read_only:
            return made
        made.execute("PRAGMA journal_mode=WAL")
        made.execute(f"PRAGMA synchronous={self._sync.upper()}")
        made.execute("PRAGMA cache_size=-32768")
        made.execute("PRAGMA journal_size_limit=67108864")
        made.execute("PRAGMA wal_autocheckpoint=0")  # the mover does it
        if self._most_pages is not None:
            made.execute(f"PRAGMA max_page_count={self._most_pages}")
        return made

    @property
    def _reader(self) -> sqlite3.Connection:
        """A connection of this thread."""
        if getattr(self._here, "generation", None) != self._generation:
            made = self._connect()
            with self._writing:
                self._readers.append(made)
            self._here.reader, self._here.generation = made, self._generation
        reader: sqlite3.Connection = self._here.reader
        return reader

    def _close_connections(self) -> None:
        with self._mover.moving:
            self._close_all()

    def _close_all(self) -> None:
        self._generation += 1
        for connection in (*self._readers, self._writer):
            connection.close()
        self._readers = []

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong, as a StoreError that says what helps."""
        try:
            yield
        except sqlite3.Error as error:
            why = _WHY.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "io")
            if why == "gone" and self._folder.is_dir() and not os.access(self._folder, os.W_OK):
                why = "read-only"
            raise StoreError(why, f"{self.path}: {error}; {_REMEDIES[why]}") from error
        except OSError as error:
            raise StoreError("gone", f"{self._folder}: {error.strerror}; {_REMEDIES['gone']}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._told():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
        self._mover.wrote(_PIECE)

    def probe(self) -> None:
        """Open anew what has broken, and write something; a StoreError if that does not last, either."""
        with self._writing:
            self._close_connections()
            with self._told():
                self._open()
        with self._transaction() as writer:
            writer.execute("INSERT OR REPLACE INTO probes VALUES (1, julianday())")

    def close(self) -> None:
        """Give the folder back."""
        self._mover.stop()
        with self._writing, self._told():
            self._close_connections()
            if not self._read_only:
                self._lock.close()

    def wrong_pages(self) -> list[str]:
        """What SQLite finds wrong with its file, after a look at all of it."""
        with self._told():
            found = [row[0] for row in self._reader.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    # Models

    def models(self) -> list[StoredModel]:
        """All that there are, by name."""
        with self._told():
            rows = self._reader.execute(
                "SELECT number, name, created FROM models WHERE name IS NOT NULL ORDER BY name"
            )
            return [StoredModel(*row) for row in rows]

    def create(self, name: str, at: float, first: Snapshot, event: StoredEvent) -> StoredModel:
        """Make a model with the snapshot of event 0 and the first event of its log."""
        with self._transaction() as writer:
            if writer.execute("SELECT 1 FROM models WHERE name = ?", (name,)).fetchone():
                raise KeyError(name)
            number = writer.execute("INSERT INTO models (name, created) VALUES (?, ?)", (name, at)).lastrowid
            made = StoredModel(int(number or 0), name, at)
            _put_whole(writer, made.number, first)
            _insert(writer, _rows([Append(made.number, [event])]))
        return made

    def delete(self, model: int) -> None:
        """The name is free at once; what else there was goes in several transactions."""
        with self._transaction() as writer:
            writer.execute("UPDATE models SET name = NULL WHERE number = ?", (model,))
        self._delete_rest(model)

    def _finish_deletes(self) -> None:
        with self._told():
            left = self._reader.execute("SELECT number FROM models WHERE name IS NULL").fetchall()
        for (model,) in left:
            self._delete_rest(model)

    def _delete_rest(self, model: int) -> None:
        first, end = model * _FIRST, (model + 1) * _FIRST
        deleted = _DELETED
        while deleted == _DELETED:
            with self._transaction() as writer:
                deleted = writer.execute(
                    "DELETE FROM events WHERE place IN "
                    "(SELECT place FROM events WHERE place BETWEEN ? AND ? LIMIT ?)",
                    (first, end - 1, _DELETED),
                ).rowcount
        with self._transaction() as writer:
            writer.execute("DELETE FROM cut WHERE place BETWEEN ? AND ?", (first, end - 1))
            for table in ("pieces", "snapshots"):
                writer.execute(f"DELETE FROM {table} WHERE model = ?", (model,))
            writer.execute("DELETE FROM models WHERE number = ?", (model,))

    # The log

    def append(self, batch: Sequence[Append]) -> None:
        """Write all, in one transaction."""
        rows = _rows(batch)
        snapshots = [(append.model, append.snapshot) for append in batch if append.snapshot is not None]
        if not snapshots and len(rows) <= _VALUES * _MOST_ROWS:
            with self._writing, self._told():
                _insert(self._writer, rows)
            self._mover.wrote(len(rows) // _VALUES * _EVENT)
            return
        with self._transaction() as writer:
            _insert(writer, rows)
            for model, snapshot in snapshots:
                _put_whole(writer, model, snapshot)

    def head(self, model: int) -> tuple[int, int]:
        """The number of the last event of a model's log, and the chain after it."""
        with self._told():
            row = self._reader.execute(
                "SELECT place, chain FROM events WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
                (model * _FIRST, (model + 1) * _FIRST - 1),
            ).fetchone()
        return (row[0] - model * _FIRST, row[1]) if row else (0, 0)

    def read(self, model: int, after: int = 0, limit: int = 10_000) -> Sequence[StoredEvent]:
        """Events with numbers above `after`, in their order."""
        with self._told():
            rows = self._reader.execute(
                "SELECT place, key, at, chain, body FROM events WHERE place > ? AND place < ? "
                "ORDER BY place LIMIT ?",
                (model * _FIRST + after, (model + 1) * _FIRST, limit),
            ).fetchall()
        return [StoredEvent(row[0] - model * _FIRST, *row[1:]) for row in rows]

    def history(self, model: int, key: str) -> Sequence[StoredEvent]:
        """The events about a decision, in their order."""
        with self._told():
            rows = self._reader.execute(
                "SELECT place, key, at, chain, body FROM events WHERE key = ? AND key != '' "
                "AND place > ? AND place < ? ORDER BY place",
                (key, model * _FIRST, (model + 1) * _FIRST),
            ).fetchall()
        return [StoredEvent(row[0] - model * _FIRST, *row[1:]) for row in rows]

    def cut(self, model: int, after: int) -> None:
        """Take the events above `after`, which cannot be read, out of the log; they are kept apart."""
        with self._transaction() as writer:
            span = (model * _FIRST + after, (model + 1) * _FIRST)
            writer.execute("INSERT INTO cut SELECT * FROM events WHERE place > ? AND place < ?", span)
            writer.execute("DELETE FROM events WHERE place > ? AND place < ?", span)

    # Snapshots

    def put_snapshot(self, model: int, snapshot: Snapshot) -> None:
        """Write it piece by piece; it counts from the last transaction on."""
        *pieces, last = _pieces(model, snapshot)
        for piece in pieces:
            with self._transaction() as writer:
                _put_piece(writer, piece)
        with self._transaction() as writer:
            _put_piece(writer, last)
            _put_row(writer, last, snapshot, kept=False)
            _prune(writer, model)

    def snapshot(self, model: int, at_most: int | None = None) -> Snapshot:
        """The latest intact snapshot."""
        most = _FIRST if at_most is None else at_most
        with self._told():
            rows = self._reader.execute(
                "SELECT n, version, file_size, checksum FROM snapshots WHERE model = ? AND n <= ? "
                "ORDER BY n DESC",
                (model, most),
            ).fetchall()
        for n, version, file_size, checksum in rows:
            body = unpacked(self._body(model, n))
            if body is not None and zlib.crc32(body) == checksum:
                return Snapshot(n, body[:file_size], body[file_size:], version)
        raise StoreError(
            "damaged", f"{self.path}: model {model} has no intact snapshot; {_REMEDIES['damaged']}"
        )

    def _body(self, model: int, n: int) -> bytes:
        with self._told():
            pieces = self._reader.execute(
                "SELECT body FROM pieces WHERE model = ? AND n = ? ORDER BY piece", (model, n)
            )
            return b"".join(body for (body,) in pieces)

    def snapshots(self, model: int) -> Iterator[int]:
        """The numbers of their events."""
        with self._told():
            rows = self._reader.execute(
                "SELECT n FROM snapshots WHERE model = ? ORDER BY n", (model,)
            ).fetchall()
        return iter([n for (n,) in rows])


def _locked(folder: Path) -> Any:
    """A file that nobody else can lock while this process lives."""
    file = (folder / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StoreError(
            "locked", f"{folder}: another process uses this folder; {_REMEDIES['locked']}, or give another"
        ) from None
    return file


def _rows(batch: Sequence[Append]) -> list[Any]:
    """All values of all rows, one after the other."""
    values: list[Any] = []
    for append in batch:
        first = append.model * _FIRST
        for event in append.events:
            values += (first + event.n, event.key, event.at, event.chain, event.body)
    return values


def _insert(writer: sqlite3.Connection, values: list[Any]) -> None:
    for start in range(0, len(values), _VALUES * _MOST_ROWS):
        some = values[start : start + _VALUES * _MOST_ROWS]
        writer.execute(_INSERT + ",".join([_ROW] * (len(some) // _VALUES)), some)


class _Piece(NamedTuple):
    """Of a snapshot, as it is kept."""

    model: int
    n: int
    number: int
    body: bytes


def _pieces(model: int, snapshot: Snapshot) -> list[_Piece]:
    body = packed(snapshot)
    starts = range(0, len(body), _PIECE)
    return [_Piece(model, snapshot.n, number, body[at : at + _PIECE]) for number, at in enumerate(starts)]


def _put_piece(writer: sqlite3.Connection, piece: _Piece) -> None:
    writer.execute("INSERT OR REPLACE INTO pieces (model, n, piece, body) VALUES (?, ?, ?, ?)", piece)


def _put_whole(writer: sqlite3.Connection, model: int, snapshot: Snapshot) -> None:
    """One that is kept for ever."""
    pieces = _pieces(model, snapshot)
    for piece in pieces:
        _put_piece(writer, piece)
    _put_row(writer, pieces[-1], snapshot, kept=True)


def _put_row(writer: sqlite3.Connection, last: _Piece, snapshot: Snapshot, *, kept: bool) -> None:
    """From now on the snapshot counts; pieces beyond its end are those of one that was never finished.

    Those of a model's beginning and of files that took its place are kept: a log is read from there.
    """
    writer.execute("DELETE FROM pieces WHERE model = ? AND n = ? AND piece > ?", last[:3])
    writer.execute(
        "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (model, n) DO UPDATE SET "
        "version = excluded.version, file_size = excluded.file_size, checksum = excluded.checksum, "
        "kept = kept OR excluded.kept",
        (
            last.model,
            snapshot.n,
            snapshot.version,
            len(snapshot.file),
            zlib.crc32(snapshot.state, zlib.crc32(snapshot.file)),
            kept,
        ),
    )


def _prune(writer: sqlite3.Connection, model: int) -> None:
    """Keep the latest snapshots, and those that a log is read from."""
    writer.execute(
        "DELETE FROM snapshots WHERE model = ?1 AND NOT kept AND n NOT IN "
        "(SELECT n FROM snapshots WHERE model = ?1 ORDER BY n DESC LIMIT ?2)",
        (model, _KEPT),
    )
    writer.execute(
        "DELETE FROM pieces WHERE model = ?1 AND n NOT IN (SELECT n FROM snapshots WHERE model = ?1)",
        (model,),
    )
