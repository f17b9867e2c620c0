"""Learns models for all processes: what their logs tell after what was learned before, each event once."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

from banditboost.log import LOGGER
from banditboost.serve import kept, making, replay
from banditboost.serve.course import Course
from banditboost.serve.served import DiffersError, Served
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.shared.about import about
from banditboost.serve.shared.leases import Lease, Leases
from banditboost.serve.shared.transacting import Ask, FencedError, Transactor
from banditboost.serve.store.base import StoredModel, StoreError
from banditboost.serve.store.postgres import PostgresStore

BEAT = 0.2  # seconds between two looks at logs
_REFRESH = 0.5  # seconds between two publications at least
_SNAPSHOT = 30.0  # and between two snapshots
_SHARE = 20  # nor do they take more than one part in so many of the time
_IDLE = 30.0  # seconds after which a model is put away
_TAKEN = 8  # models whose learning is begun in one beat
_ENDED = 1_000  # windows that are ended in one transaction
_PAUSE = 10.0  # seconds after which a model that cannot be learned is tried again


class Learning:
    """A model that this process learns."""

    def __init__(self, lease: Lease, served: Served, told: int) -> None:
        now = time.monotonic()
        self.lease, self.served = lease, served
        self.published: Any = None  # what had been learned when it was published
        self.publish_at, self.snapshot_at = now, now + _SNAPSHOT
        self.told = told  # the last event when it was published, maybe by the learner before
        self.kept = served.n  # and when the latest snapshot was written
        self.active = now

    def learned(self) -> Any:
        """What differs whenever there is something new to decide with."""
        model = self.served.model
        return model.model_id, model.verdicts, self.served.settings


class Learner:
    """Learns in a thread of its own.

    Args:
        store: where logs are.
        transactor: ends windows.
        leases: of this process.
        settings: of the service.
    """

    def __init__(
        self, store: PostgresStore, transactor: Transactor, leases: Leases, settings: ServiceSettings
    ) -> None:
        self._store, self._transactor, self._leases, self._settings = store, transactor, leases, settings
        self._held: dict[int, Learning] = {}
        self.broken: dict[str, str] = {}
        """Models that cannot be learned, and why."""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="learner", daemon=True)

    def start(self) -> None:
        """Begin to learn."""
        self._thread.start()

    def stop(self) -> None:
        """Write snapshots, and give all leases back."""
        self._ends.set()
        self._thread.join()

    @property
    def leases(self) -> list[Lease]:
        """What is learned here. Any thread may ask."""
        return [one.lease for one in list(self._held.values())]

    def keep_leases(self) -> None:
        """Renew them; what was lost is not learned on. Any thread may call it."""
        held = self.leases
        for lease in set(held) - self._leases.renew(held):
            self._drop(lease)

    def _drop(self, lease: Lease) -> None:
        one = self._held.get(lease.model)
        if one is not None and one.lease == lease:
            self._held.pop(lease.model, None)

    # In the thread

    def _run(self) -> None:
        while not self._ends.wait(BEAT):
            try:
                self._beat()
            except StoreError:
                continue  # the next beat may find the database again
            except Exception:
                LOGGER.exception("the learner goes on after an error")  # or its leases would be kept idle
        for one in list(self._held.values()):
            self._attempt(one, self._put_away)

    def _beat(self) -> None:
        for lease, name, created in self._leases.take(_TAKEN):
            self._begin(lease, StoredModel(lease.model, name, created))
        if not self._held:
            return
        now, heads = self._store.heads(list(self._held))
        for one in list(self._held.values()):
            self._attempt(one, partial(self._go_on, now=now, head=heads.get(one.lease.model)))
        self._make_room()

    def _begin(self, lease: Lease, stored: StoredModel) -> None:
        try:
            snapshot = replay.on_log(self._store, stored, self._store.learned(lease.model))
            served = replay.from_snapshot(self._store, stored, snapshot, self._settings.limits)
            published = self._store.about(lease.model)
        except StoreError as error:
            self._give_up(lease, stored.name, error)
        except Exception as error:
            self._give_up_strange(lease, stored.name, error)
        else:
            told = -1 if published is None else published[0]
            self._held[lease.model] = Learning(lease, served, told)

    def _attempt(self, one: Learning, do: Any) -> None:
        """Do something with a model; what goes wrong with it is no matter of the others."""
        try:
            do(one)
            self.broken.pop(one.served.stored.name, None)
        except FencedError:
            self._drop(one.lease)
        except DiffersError as error:
            self._give_up(one.lease, one.served.stored.name, error)
        except StoreError as error:
            if error.why != "damaged":
                raise
            self._give_up(one.lease, one.served.stored.name, error)
        except Exception as error:
            self._give_up_strange(one.lease, one.served.stored.name, error)

    def _give_up_strange(self, lease: Lease, name: str, error: Exception) -> None:
        """An error of ours must not end the thread: nobody else would learn what it holds."""
        LOGGER.exception("model %r cannot be learned", name)
        self._give_up(lease, name, error)

    def _give_up(self, lease: Lease, name: str, error: Exception) -> None:
        self._drop(lease)
        self.broken[name] = str(error)
        self._leases.give_up(lease, _PAUSE)

    def _go_on(self, one: Learning, now: float, head: int | None) -> None:
        """Learn what is new, end windows, and tell the others."""
        if head is None:  # it was deleted
            self._drop(one.lease)
            return
        if one.served.n < head:
            one.active = time.monotonic()
            self._learn(one)
        self._end_windows(one, now)
        if one.served.n > one.told and time.monotonic() >= one.publish_at:
            self._publish(one)
        behind = one.served.n - one.kept
        if behind >= self._settings.snapshot_every or (behind and time.monotonic() >= one.snapshot_at):
            self._put_snapshot(one)
        if time.monotonic() - one.active > _IDLE and one.served.n == one.told:
            self._put_away(one)

    def _learn(self, one: Learning) -> None:
        served = one.served
        for event in replay.read_on(self._store, served.stored, served.n, served.chain):
            replay.apply(self._store, served, event)
            if time.monotonic() >= one.publish_at and served.n > one.told:
                self._publish(one)
            if self._ends.is_set() or one.lease.model not in self._held:
                return

    def _end_windows(self, one: Learning, now: float) -> None:
        """Whatever was written since is looked at again: a verdict may have come first."""
        ended = one.served.open.ended(now, _ENDED)
        if not ended:
            return
        asks = [Ask(one.lease.model, (it.answer.id,), partial(_end_window, it.answer.id)) for it in ended]
        self._transactor.run(asks, one.lease)

    def _publish(self, one: Learning) -> None:
        begun, served = time.monotonic(), one.served
        learned = one.learned()
        changed = learned != one.published
        file = making.packed(served.model, served.stored.name) if changed else None
        self._leases.publish(one.lease, served.n, about(served), file)
        one.published, one.told = learned, served.n
        one.publish_at = _next(begun, _REFRESH)

    def _put_snapshot(self, one: Learning) -> None:
        begun = time.monotonic()
        snapshot = kept.Taken(one.served).snapshot()
        self._leases.put_snapshot(one.lease, snapshot)
        one.kept, one.snapshot_at = snapshot.n, _next(begun, _SNAPSHOT)

    def _put_away(self, one: Learning) -> None:
        """Let whoever has time go on with it, when something happens or a window ends."""
        if one.served.n > one.told:
            self._publish(one)
        if one.served.n != one.kept:
            self._put_snapshot(one)
        due = min((it.answer.expires for it in one.served.open), default=float("inf"))
        self._drop(one.lease)
        self._leases.give_back(one.lease, due)

    def _make_room(self) -> None:
        """Put models away, those first in which nothing has happened the longest, until the others are below
        the ceiling.
        """
        held = sorted(self._held.values(), key=lambda one: one.active)
        memory = sum(one.served.memory_usage for one in held)
        for one in held[:-1]:
            if memory <= self._settings.limits.memory:
                return
            memory -= one.served.memory_usage
            self._attempt(one, self._put_away)


def _next(begun: float, least: float) -> float:
    """When to do again what was begun then and has just been done."""
    now = time.monotonic()
    return begun + max(least, _SHARE * (now - begun))


def _end_window(id_: str, course: Course, now: float) -> None:
    course.end_window(id_, now)
