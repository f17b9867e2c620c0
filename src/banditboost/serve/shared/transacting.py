"""What many requests do to logs that other processes write, too, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from banditboost.serve import kept
from banditboost.serve.course import Course
from banditboost.serve.events import Decided, Replaced, Settled, decode
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.store.base import Append, Snapshot, StoredEvent
from banditboost.serve.store.postgres import Head, PostgresStore, Transaction

Do = Callable[[Course, float], Any]
"""What a request does to the course of a log at a time: it returns the answer, or raises a ServiceError."""


class Ask(NamedTuple):
    """A request that waits to be written."""

    model: int
    ids: Sequence[str]  # of decisions whose past it has to know
    do: Do


class FencedError(Exception):
    """Another process learns the model by now."""


class Transactor:
    """Carries out requests, whichever process writes beside it.

    The rows of the models are locked, so that what is read of the past is true until the commit, and the time
    is that of the database: it is the same for all processes.
    """

    def __init__(self, store: PostgresStore, limits: Limits) -> None:
        self._store, self._limits = store, limits
        self._settings: dict[int, tuple[int, ModelSettings]] = {}  # by model, and the event that tells them

    def run(self, asks: Sequence[Ask], lease: tuple[int, int] | None = None) -> list[Any]:
        """An answer or a ServiceError for each, when all are on disk. Raises StoreError.

        Args:
            asks: in the order in which they are carried out.
            lease: model and epoch of the learner who asks; a FencedError if it is the learner no more.
        """
        with self._store.begin() as transaction:
            keys = {(ask.model, id_) for ask in asks for id_ in ask.ids}
            now, heads, pasts = transaction.look({ask.model for ask in asks}, sorted(keys))
            if lease is not None:
                check_lease(transaction, *lease)
            courses = {model: self._course(transaction, model, head, pasts) for model, head in heads.items()}
            answers = [_answer(ask, courses.get(ask.model), now) for ask in asks]
            _write(transaction, [Append(model, course.take()[0]) for model, course in courses.items()])
        return answers

    def replace(
        self, model: int, why: str, make: Callable[[ModelSettings], tuple[ModelSettings, bytes]]
    ) -> int:
        """Let another model take the place of this one. Returns the number of the event.

        Args:
            make: from the settings in force to those of the new model, and its file.
        """
        with self._store.begin() as transaction:
            now, heads = transaction.lock([model])
            if model not in heads:
                raise _gone()
            course = self._course(transaction, model, heads[model], {})
            settings, file = make(course.settings)
            course.replaced(why, settings, now)
            state = kept.begun(settings, course.at, course.chain)
            snapshot = Snapshot(course.n, file, state, kept.written_by())
            _write(transaction, [Append(model, course.take()[0], snapshot)])
            return course.n

    def _course(
        self,
        transaction: Transaction,
        model: int,
        head: Head,
        pasts: dict[tuple[int, str], list[StoredEvent]],
    ) -> Course:
        course = Course(self._settings_of(transaction, model, head), self._limits, lambda _: ())
        for (of, id_), past in pasts.items():
            if of == model:
                _live_through(course, id_, past, head)
        course.n, course.chain, course.at = head.n, head.chain, head.at
        return course

    def _settings_of(self, transaction: Transaction, model: int, head: Head) -> ModelSettings:
        known = self._settings.get(model)
        if known is not None and known[0] == head.settled:
            return known[1]
        event = decode(transaction.event(model, head.settled))
        assert isinstance(event, (Settled, Replaced))
        settings = msgspec.convert(event.settings, ModelSettings)
        self._settings[model] = head.settled, settings
        return settings


def _write(transaction: Transaction, appends: Sequence[Append]) -> None:
    written = [one for one in appends if one.events]
    if not written:
        return
    transaction.write(written)
    for one in written:
        for stored in one.events:
            if not stored.key:  # of no decision: it tells settings
                replaced = isinstance(decode(stored.body), Replaced)
                transaction.settle(one.model, stored.n, replaced=replaced)


def check_lease(transaction: Transaction, model: int, epoch: int) -> None:
    """A FencedError if this is not the model's epoch; it stays so until the end of the transaction."""
    row = transaction.ask("SELECT epoch FROM banditboost.leases WHERE model = %s FOR UPDATE", [model])
    if row is None or row[0] != epoch:
        raise FencedError(f"model {model} is learned elsewhere since epoch {epoch}")


def _live_through(course: Course, id_: str, past: Sequence[StoredEvent], head: Head) -> None:
    """What is known of a decision from the events about it."""
    outdated = False
    for stored in past:
        event = decode(stored.body)
        course.at = stored.at
        if isinstance(event, Decided):
            course.decided_again(event)
            outdated = stored.n < head.replaced
        elif not isinstance(event, (Settled, Replaced)):
            course.hear_again(event)
    if outdated:
        course.outdate(id_)


def _answer(ask: Ask, course: Course | None, now: float) -> Any:
    try:
        if course is None:
            raise _gone()
        return ask.do(course, now)
    except ServiceError as error:
        return error


def _gone() -> ServiceError:
    return ServiceError(404, "unknown-model", "the model was deleted; see the list of models", field="name")
