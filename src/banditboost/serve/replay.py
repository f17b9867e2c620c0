"""A served model made again from its latest snapshot and the events after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from banditboost.errors import BanditBoostError
from banditboost.serve import kept, making
from banditboost.serve.events import AnyEvent, Replaced, chained, decode, key_of
from banditboost.serve.following import Following
from banditboost.serve.served import DiffersError, Served
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.store.base import Snapshot, Store, StoredEvent, StoredModel, StoreError

_EVENTS_A_READ = 1_000
_MOST_OF_AN_END = 1_000  # events


class DamagedEndError(StoreError):
    """The last events of a log were changed; all before them are as they were written.

    Args:
        stored: whose log it is.
        n: the last good event.
        n_bad: how many come behind it.
    """

    def __init__(self, stored: StoredModel, n: int, n_bad: int) -> None:
        super().__init__(
            "damaged", f"model {stored.name!r}: of its log all that comes after event {n} was changed"
        )
        self.n, self.n_bad = n, n_bad


def load(store: Store, stored: StoredModel, limits: Limits) -> Served:
    """The model after the last event of its log. Raises StoreError and DiffersError.

    If the snapshot was written elsewhere, where decisions may come out otherwise, the log is followed.
    """
    snapshot = latest(store, stored)
    kind = Served if snapshot.version == kept.written_by() else Following
    served = from_snapshot(store, stored, snapshot, limits, kind)
    for event in read_on(store, stored, served.n, served.chain):
        apply(store, served, event)
    return served


def from_snapshot(
    store: Store, stored: StoredModel, snapshot: Snapshot, limits: Limits, kind: type[Served] = Served
) -> Served:
    """The model as a snapshot tells it."""
    try:
        state = kept.state_of(snapshot)
        model = making.unpacked(snapshot.file, f"snapshot {snapshot.n} of {stored.name!r}")
    except (msgspec.DecodeError, BanditBoostError) as error:
        raise _damaged(stored, f"snapshot {snapshot.n} cannot be read ({error})") from error
    served = kind(stored, kept.settings_of(state), model, limits, history(store, stored))
    kept.restore(served, snapshot, state)
    return served


def latest(store: Store, stored: StoredModel) -> Snapshot:
    """The latest snapshot, which has to lie on the log."""
    return on_log(store, stored, store.snapshot(stored.number))


def on_log(store: Store, stored: StoredModel, snapshot: Snapshot) -> Snapshot:
    """A snapshot, after a look at whether it lies on the log."""
    if snapshot.n == 0:
        return snapshot
    events = store.read(stored.number, snapshot.n - 1, 1)
    if not events or events[0].n != snapshot.n or events[0].chain != kept.state_of(snapshot).chain:
        raise _damaged(stored, f"snapshot {snapshot.n} does not lie on its log")
    return snapshot


def history(store: Store, stored: StoredModel) -> Callable[[str], Sequence[AnyEvent]]:
    """What finds the events about a decision."""
    return lambda key: [decode(event.body) for event in store.history(stored.number, key)]


def read_on(store: Store, stored: StoredModel, n: int, chain: int) -> Iterator[StoredEvent]:
    """The events after number n, each after a look at the chain."""
    while events := page(store, stored, n, chain):
        yield from events
        n, chain = events[-1].n, events[-1].chain


def page(store: Store, stored: StoredModel, n: int, chain: int) -> Sequence[StoredEvent]:
    """Some events after number n, which chain they follow; none if there are no more."""
    events = store.read(stored.number, n, _EVENTS_A_READ)
    for event in events:
        if not follows(event, n, chain):
            raise _broken(store, stored, n)
        n, chain = event.n, event.chain
    return events


def chain_after(store: Store, stored: StoredModel, n: int) -> int:
    """The chain after event n, as its log tells it."""
    events = store.read(stored.number, n - 1, 1) if n > 0 else []
    return events[0].chain if events else 0


def follows(event: StoredEvent, n: int, chain: int) -> bool:
    """Whether an event is as it was written behind the one with this number and chain."""
    return event.n == n + 1 and chained(chain, event.n, event.at, event.body) == event.chain


def _broken(store: Store, stored: StoredModel, n: int) -> StoreError:
    """What is wrong with a log whose events up to number n are good."""
    rest = store.read(stored.number, n, _MOST_OF_AN_END)
    goes_on = any(follows(after, before.n, before.chain) for before, after in pairwise(rest))
    if rest[0].n == n + 1 and len(rest) < _MOST_OF_AN_END and not goes_on:
        return DamagedEndError(stored, n, len(rest))
    return _damaged(
        stored, f"event {n + 1} of its log was changed or is missing, and the log goes on behind it"
    )


def apply(store: Store, served: Served, stored: StoredEvent) -> None:
    """Do again what an event tells."""
    try:
        event = decode(stored.body)
    except msgspec.DecodeError as error:
        raise _damaged(
            served.stored,
            f"event {stored.n} of its log is of a kind that this version does not know ({error})",
        ) from error
    if key_of(event) != stored.key:
        raise _damaged(served.stored, f"event {stored.n} of its log lies under a wrong key")
    if isinstance(event, Replaced):
        snapshot = store.snapshot(served.stored.number, stored.n)
        if snapshot.n != stored.n:
            raise _damaged(served.stored, f"the file that event {stored.n} brought is missing")
        settings = msgspec.convert(event.settings, ModelSettings)
        served._take_model(settings, making.unpacked(snapshot.file, f"snapshot {snapshot.n}"))
    try:
        served.apply(stored, event)
    except DiffersError as error:
        raise DiffersError(
            f"event {stored.n} of the log of {served.stored.name!r}: {error}; look at all of it with: "
            "banditboost audit"
        ) from error


def _damaged(stored: StoredModel, what: str) -> StoreError:
    return StoreError(
        "damaged", f"model {stored.name!r}: {what}; restore it from a backup, or delete the model"
    )
