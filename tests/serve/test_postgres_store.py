"""The store in PostgreSQL: what it promises to whoever writes and reads, with a real server."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banditboost.serve import events
from banditboost.serve.events import Activated, AnyEvent, Decided, Judged, Settled
from banditboost.serve.shared.transacting import check_lease
from banditboost.serve.shared.watcher import BEAT, Watcher
from banditboost.serve.store.base import Append, Snapshot, StoredEvent, StoreError
from banditboost.serve.store.postgres import PostgresStore
from banditboost.serve.store.postgres_schema import MIGRATIONS
from tests.serve.postgresql import Database, running

FIRST = Snapshot(0, b"file", b"state", "1.0")
_SETTINGS = events.encode(Settled({}))
SETTLED = StoredEvent(1, "", 1.0, events.chained(0, 1, 1.0, _SETTINGS), _SETTINGS)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with running() as made:
        yield made


@pytest.fixture
def url(database: Database) -> str:
    return database.fresh()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(url)
    yield made
    made.close()


def decided(key: str) -> Decided:
    return Decided(key, b"{}", None, None, "model", "a", 0.5, False, False, 100.0, "v")


def new(store: PostgresStore, name: str = "a") -> int:
    """The number of a new model whose log holds its settings."""
    return store.create(name, 1.0, FIRST, SETTLED).number


def stored(happened: list[AnyEvent], after: int = 1, chain: int | None = None) -> list[StoredEvent]:
    """As a log holds it behind the settings, or behind another event."""
    chain, written = SETTLED.chain if chain is None else chain, []
    for n, event in enumerate(happened, after + 1):
        body = events.encode(event)
        chain = events.chained(chain, n, float(n), body)
        written.append(StoredEvent(n, events.key_of(event), float(n), chain, body))
    return written


def test_a_log_is_read_as_it_was_written(store: PostgresStore) -> None:
    model, other = new(store), new(store, "b")
    log = stored([decided("x"), Judged("x", 1.0, "learned"), decided("y"), Activated("x", "activated")])
    store.append([Append(model, log[:3]), Append(other, log[:1])])
    store.append([Append(model, log[3:])])
    assert store.read(model) == [SETTLED, *log]
    assert store.read(model, after=2, limit=2) == log[1:3]
    assert store.read(other, after=1) == log[:1]
    assert store.head(model) == (5, log[-1].chain)
    assert store.history(model, "x") == [log[0], log[1], log[3]]
    assert store.history(model, "z") == []
    assert store.history(other, "y") == []


KEYS = st.text(st.characters(codec=None), min_size=1, max_size=20) | st.sampled_from(
    ["\0", "\ud800", "'; --"]
)


@given(key=KEYS, body=st.binary(max_size=50), at=st.floats(0, 1e12), chain=st.integers(0, 2**32 - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_event_comes_back(store: PostgresStore, key: str, body: bytes, at: float, chain: int) -> None:
    found = store.named("any")
    model = new(store, "any") if found is None else found.number
    n = store.head(model)[0] + 1
    event = StoredEvent(n, key, at, chain, body)
    store.append([Append(model, [event])])
    assert store.read(model, after=n - 1) == [event]
    assert store.history(model, key)[-1] == event


def test_names(store: PostgresStore) -> None:
    names = ["b", "B", "ä", "a/../c", "a"]
    for name in names:
        new(store, name)
    assert [model.name for model in store.models()] == sorted(names)
    assert store.names("B", 2) == ["a", "a/../c"]
    with pytest.raises(KeyError):
        new(store)
    known = store.named("a")
    assert known is not None
    store.append([Append(known.number, stored([decided("x")]))])
    store.delete(known.number)
    assert store.named("a") is None
    assert new(store) > known.number, "a number is never used again"


def test_an_append_that_does_not_follow_changes_nothing(store: PostgresStore) -> None:
    model, other = new(store), new(store, "b")
    log = stored([decided("x"), decided("y")])
    for wrong in (log[1:], [log[0], log[0]], [log[0], stored([decided("x")], after=2)[0]]):
        with pytest.raises((StoreError, psycopg.errors.UniqueViolation)):
            store.append([Append(other, log), Append(model, wrong)])
        assert store.head(model) == store.head(other) == (1, SETTLED.chain)
        assert store.read(model) == store.read(other) == [SETTLED]
    with pytest.raises(StoreError, match="gone on elsewhere"):
        store.append([Append(12345, log)])


def test_the_database_knows_one_decision_for_each_id(store: PostgresStore) -> None:
    """Whoever writes without looking: the unique key refuses the second one, and other events of the id not."""
    model = new(store)
    log = stored([decided("x"), Judged("x", 1.0, "learned"), Judged("x", 0.0, "duplicate"), decided("x")])
    store.append([Append(model, log[:3])])
    with pytest.raises(psycopg.errors.UniqueViolation, match="one_decision"):
        store.append([Append(model, log[3:])])
    assert store.read(model, after=1) == log[:3]


def test_many_writers_leave_no_gap(url: str) -> None:
    """Eight threads with two stores append to two logs: each event is there once, numbered without a gap."""
    stores = [PostgresStore(url), PostgresStore(url)]
    models = [new(stores[0], name) for name in "ab"]

    def write(writer: int) -> None:
        for i in range(20):
            order = models if (writer + i) % 2 else models[::-1]
            with stores[writer % 2].begin() as transaction:
                _, heads = transaction.lock(order)
                transaction.write(
                    [
                        Append(model, stored([decided(f"{writer}-{i}")], heads[model].n, heads[model].chain))
                        for model in order
                    ]
                )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    for model in models:
        log = stores[1].read(model, after=1)
        assert sorted(event.key for event in log) == sorted(f"{w}-{i}" for w in range(8) for i in range(20))
        assert log == stored([events.decode(event.body) for event in log]), "numbers and chain"
    for one in stores:
        one.close()


def test_snapshots(store: PostgresStore, url: str) -> None:
    model = new(store)
    for n in range(1, 8):
        with store.begin() as transaction:
            transaction.put_snapshot(model, Snapshot(n, b"%d" % n, b"", "1.0"), kept=n == 3)
    assert list(store.snapshots(model)) == [0, 3, 6, 7]
    assert store.snapshot(model).file == b"7"
    assert store.snapshot(model, at_most=5).file == b"3"
    assert store.snapshot(model, at_most=0) == FIRST
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE banditboost.snapshots SET file = 'damaged' WHERE n IN (6, 7)")
    assert store.snapshot(model).n == 3, "one that is not intact is passed over"
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE banditboost.snapshots SET state = 'damaged'")
    with pytest.raises(StoreError, match="intact") as error:
        store.snapshot(model)
    assert error.value.why == "damaged"


def test_tables_are_made_once_by_many(database: Database) -> None:
    url = database.fresh()
    with ThreadPoolExecutor(6) as pool:
        for store in pool.map(lambda _: PostgresStore(url), range(6)):
            store.close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version FROM banditboost.version").fetchall() == [
            (len(MIGRATIONS),)
        ]


def test_tables_of_a_newer_version_are_refused(url: str) -> None:
    PostgresStore(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE banditboost.version SET version = version + 1")
    with pytest.raises(StoreError, match="upgrade banditboost") as error:
        PostgresStore(url)
    assert error.value.why == "newer"


@pytest.mark.parametrize(("sync", "told"), [("full", "on"), ("normal", "off")])
def test_commits_wait_for_the_disk(url: str, sync: str, told: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    store = PostgresStore(url, sync)  # type: ignore[arg-type]
    with store.connections.use() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (told,)
    store.close()


@pytest.mark.parametrize("held", ["heads", "leases"])
def test_who_holds_a_lock_and_is_silent_is_put_out(url: str, held: str) -> None:
    """A process that is stopped in the middle of a transaction does not stop the others for ever."""
    holding, waiting = PostgresStore(url), PostgresStore(url)
    model = new(holding)

    def hold() -> None:
        with holding.begin() as transaction:
            if held == "heads":
                transaction.lock([model])
                waiting.append([Append(model, stored([decided("x")]))])
            else:
                check_lease(transaction, model, 0)
                with waiting.begin() as other:
                    check_lease(other, model, 0)
            transaction.write([Append(model, stored([decided("y")]))])

    with pytest.raises(StoreError) as error:
        hold()
    assert error.value.why == "gone"
    assert "y" not in [event.key for event in waiting.read(model)]
    holding.close()
    waiting.close()


def test_a_transaction_that_falls_silent_before_it_asks_for_answers_is_ended(url: str) -> None:
    """As when the network is cut in the middle of what goes to the database together."""
    holding, waiting = PostgresStore(url), PostgresStore(url)
    model = new(holding)
    held = threading.Event()

    def hold() -> None:
        with holding.begin() as transaction:
            transaction.execute("UPDATE banditboost.heads SET n = n WHERE model = %s", [model])
            held.set()
            time.sleep(8.0)

    with ThreadPoolExecutor(1) as pool:
        holds = pool.submit(hold)
        assert held.wait(10)
        time.sleep(1.0)
        waiting.append([Append(model, stored([decided("y")]))])
        with pytest.raises(StoreError) as error:
            holds.result()
    assert error.value.why == "gone"
    holding.close()
    waiting.close()


def test_a_server_that_answers_nothing_is_given_up(database: Database, url: str) -> None:
    store = PostgresStore(url)
    store.models()
    database.signal(signal.SIGSTOP)
    try:
        threading.Timer(0.3, store.connections.give_up_overdue).start()
        with pytest.raises(StoreError) as error, store.connections.use(patience=0.1) as connection:
            connection.execute("SELECT 1")
        assert error.value.why == "gone"
    finally:
        database.signal(signal.SIGCONT)
    assert store.models() == []
    store.close()


def test_who_listens_can_be_stopped_though_the_server_answers_nothing(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that was cut for a while may leave connections that are silent for ever."""
    store, looked = PostgresStore(url), threading.Event()
    connections = store.connections
    monkeypatch.setattr(connections, "awaited", partial(connections.awaited, patience=0.1))
    watcher = Watcher(store, heard=lambda _: None, look=looked.set, keep=looked.set)
    watcher.start()
    assert looked.wait(20)
    database.signal(signal.SIGSTOP)
    try:
        time.sleep(5 * BEAT)  # now it asks whether anybody is there
        stopping = threading.Thread(target=watcher.stop, daemon=True)
        stopping.start()
        for _ in range(200):
            connections.give_up_overdue()
            stopping.join(0.1)
            if not stopping.is_alive():
                break
        assert not stopping.is_alive()
    finally:
        database.signal(signal.SIGCONT)
    store.close()


def test_a_server_that_was_killed_comes_back(database: Database, url: str) -> None:
    store = PostgresStore(url)
    model = new(store)
    log = stored([decided(str(i)) for i in range(200)])
    store.append([Append(model, log)])
    database.kill()
    with pytest.raises(StoreError) as error:
        store.head(model)
    assert error.value.why == "gone"
    database.start()
    assert store.read(model, after=1) == log
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.models()
