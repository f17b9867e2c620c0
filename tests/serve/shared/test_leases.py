"""One process learns a model, by a lease that ends by the clock of the database; its epoch fences it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from banditboost.serve import kept, making, replay
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.shared.about import about
from banditboost.serve.shared.learner import Learner
from banditboost.serve.shared.leases import Lease, Leases
from banditboost.serve.shared.transacting import Ask, FencedError, Transactor
from banditboost.serve.store.base import StoredModel
from banditboost.serve.store.postgres import PostgresStore
from tests.serve.postgresql import Database, running


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with running() as made:
        yield made


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    made = PostgresStore(database.fresh())
    yield made
    made.close()


def new(store: PostgresStore, name: str = "a") -> int:
    """A model in whose log one event waits to be learned."""
    settings = making.checked(ModelSettings(labels=["x", "y"], seed=1), Limits())
    first, event = kept.first(settings, making.make(settings), name, 1.0)
    return store.create(name, 1.0, first, event).number


def taken(leases: Leases, most: int = 8) -> list[Lease]:
    return [lease for lease, _, _ in leases.take(most)]


def test_one_has_it_until_it_ends(store: PostgresStore) -> None:
    one, other = Leases(store, "one", 0.4), Leases(store, "other", 60.0)
    model = new(store)
    assert one.take(8) == [(Lease(model, 1), "a", 1.0)]
    assert taken(other) == taken(one) == []
    time.sleep(0.25)
    assert one.renew([Lease(model, 1)]) == {Lease(model, 1)}
    time.sleep(0.25)
    assert taken(other) == []
    time.sleep(0.3)
    assert taken(other) == [Lease(model, 2)]
    assert one.renew([Lease(model, 1)]) == set()


def test_whoever_has_lost_it_writes_nothing(store: PostgresStore) -> None:
    model = new(store)
    one, other = Leases(store, "one", 0.0), Leases(store, "other")
    (old,), (lease,) = taken(one), taken(other)
    transactor = Transactor(store, Limits())
    snapshot = store.snapshot(model)
    ask = [Ask(model, ("d",), lambda course, now: course.end_window("d", now))]
    for write in (
        lambda: one.publish(old, 1, b"about", b"file"),
        lambda: one.put_snapshot(old, snapshot),
        lambda: transactor.run(ask, old),
    ):
        with pytest.raises(FencedError):
            write()
    one.give_back(old, math.inf)
    one.give_up(old, 0.0)
    assert store.published(model) is None
    assert taken(one) == [], "what the old one gives back is not the new one's"
    other.publish(lease, 1, b"about", b"file")
    other.put_snapshot(lease, snapshot)
    transactor.run(ask, lease)
    assert store.published(model) == (1, b"file", b"about")


def test_what_is_learned_is_left_alone_until_something_happens(store: PostgresStore) -> None:
    model = new(store)
    leases = Leases(store, "one")
    (lease,) = taken(leases)
    leases.publish(lease, 1, b"about", b"file")
    leases.give_back(lease, time.time() + 0.5)
    assert taken(leases) == []
    time.sleep(0.6)
    (lease,) = taken(leases)
    leases.give_back(lease, math.inf)
    assert taken(leases) == []
    transactor = Transactor(store, Limits())
    transactor.run([Ask(model, (), lambda course, now: course.settle(course.settings, now))])
    assert taken(leases) == [Lease(model, 3)]


def test_a_learner_that_died_is_followed_even_if_all_is_learned(store: PostgresStore) -> None:
    """Windows of what it had open are to be ended."""
    model = new(store)
    one, other = Leases(store, "one", 0.1), Leases(store, "other")
    (lease,) = taken(one)
    one.publish(lease, 1, b"about", b"file")
    time.sleep(0.2)
    assert taken(other) == [Lease(model, 2)]


def test_many_take_each_model_once(store: PostgresStore) -> None:
    models = [new(store, str(i)) for i in range(30)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda i: taken(Leases(store, str(i)), 10), range(6)))
    assert sorted(lease for some in found for lease in some) == [Lease(model, 1) for model in models]


def test_one_that_cannot_be_learned_is_tried_again_later(store: PostgresStore) -> None:
    model = new(store)
    leases = Leases(store, "one")
    (lease,) = taken(leases)
    leases.give_up(lease, 0.3)
    assert taken(leases) == []
    time.sleep(0.4)
    assert taken(leases) == [Lease(model, 2)]


def test_whoever_learns_a_log_anew_publishes_nothing_older_than_there_is(store: PostgresStore) -> None:
    """The learner before had learned more than its last snapshot, and died."""
    limits, model = Limits(), new(store)
    transactor = Transactor(store, limits)
    for _ in range(20):
        transactor.run([Ask(model, (), lambda course, now: course.settle(course.settings, now))])
    stored = StoredModel(model, "a", 1.0)
    dead = Leases(store, "dead", 0.0)
    (lease,) = taken(dead)
    served = replay.load(store, stored, limits)
    dead.publish(lease, served.n, about(served), making.packed(served.model, "a"))
    learner = Learner(store, transactor, Leases(store, "new"), ServiceSettings())
    learner._beat()
    assert [one.epoch for one in learner.leases] == [2], "it has begun"
    assert learner._held[model].served.n == 21, "and has learned all"
    assert store.latest([model]) == {model: 21}
