"""The service in one of many processes that share a database."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from banditboost.serve import kept, making
from banditboost.serve.course import Course, new_id
from banditboost.serve.health import Health, Numbers, Part, of_queue, of_store
from banditboost.serve.inputs import content_of
from banditboost.serve.logs import log_trouble
from banditboost.serve.messages import (
    DecisionAnswer,
    DecisionRequest,
    ModelInfo,
    VerdictAnswer,
    VerdictRequest,
)
from banditboost.serve.problems import ServiceError, unavailable, unknown_model
from banditboost.serve.residents import Residents
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.shared.about import About
from banditboost.serve.shared.deciding import Deciding, published
from banditboost.serve.shared.learner import Learner
from banditboost.serve.shared.leases import Leases
from banditboost.serve.shared.transacting import Ask, Transactor
from banditboost.serve.shared.watcher import Watcher
from banditboost.serve.shared.writer import Writer
from banditboost.serve.statistics import ModelStatistics, show
from banditboost.serve.store.base import StoredEvent, StoredModel, StoreError
from banditboost.serve.store.postgres import PostgresStore
from banditboost.text import counted

_Answer = TypeVar("_Answer")
_TICK = 0.5  # seconds
_FOLLOWS = 10.0  # seconds that a change of a model waits for its learner
_EVENTS_A_PAGE = 1_000


class SharedService:
    """The service as `service.Service` tells it. Any number of processes with one database are one service.

    Args:
        settings: of the service.
        store: the database.
    """

    def __init__(self, settings: ServiceSettings, store: PostgresStore) -> None:
        self.settings, self._store = settings, store
        holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        self._transactor = Transactor(store, settings.limits)
        leases = Leases(store, holder)
        self._learner = Learner(store, self._transactor, leases, settings)
        self._watcher = Watcher(store, self._hear, self._look, self._learner.keep_leases)
        self._known: dict[str, StoredModel] = {}
        self._residents: Residents[Deciding] = Residents()
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()  # to be refreshed once more
        self._trouble: StoreError | None = None
        self._ready = False

    # Begin and end

    async def start(self) -> None:
        """Begin to decide and to learn; make the models that the settings name."""
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(self._transactor, self._fail, self.settings.wait)
        self._ready = True
        for name, settings in self.settings.models.items():
            try:
                await self.create(name, settings)
            except ServiceError as error:
                if error.code != "name-taken":
                    raise
        self._learner.start()
        self._watcher.start()
        self._ticking = asyncio.create_task(self._tick_for_ever())

    async def stop(self) -> None:
        """Answer what is under way, write snapshots, give leases back."""
        self._ready = False
        await self._writer.stop()
        await asyncio.to_thread(self._learner.stop)
        await asyncio.to_thread(self._watcher.stop)
        self._ticking.cancel()
        await asyncio.gather(self._ticking, *self._refreshing.values(), return_exceptions=True)
        await asyncio.to_thread(self._store.close)

    # Models

    async def create(self, name: str, settings: ModelSettings) -> ModelInfo:
        """Make a model; it begins with snapshot 0, and its settings as event 1."""
        self._refuse_unready()
        limits = self.settings.limits
        making.check_name(name, limits)
        making.check_number(await self._in_store(self._store.count), limits)
        settings = making.checked(settings, limits)
        model = making.make(settings)
        now = time.time()
        first, event = kept.first(settings, model, name, now)
        try:
            await self._in_store(lambda: self._store.create(name, now, first, event))
        except KeyError:
            raise ServiceError(
                409, "name-taken", f"there is a model {name!r}; give another name", field="name"
            ) from None
        return await self.show(name)

    async def names(self, after: str = "", limit: int = 100) -> list[str]:
        """Names of models in their order."""
        return await self._in_store(lambda: self._store.names(after, limit))

    async def show(self, name: str) -> ModelInfo:
        """What the service shows of a model, as far as it has been learned."""
        stored = await self._looked_up(name)
        about = await self._about(stored)
        if about is not None:
            return about.info
        deciding = await self._deciding(name)
        return ModelInfo(
            name=name,
            id=deciding.model.model_id,
            settings=msgspec.to_builtins(deciding.settings),
            events=1,
            rounds=0,
            verdicts=0,
            open=0,
            created=stored.created,
            changed=stored.created,
            labels=deciding.settings.labels,
        )

    async def change(self, name: str, changes: dict[str, Any]) -> ModelInfo:
        """Change settings by name. Other processes follow when the learner has published it."""

        def do(course: Course, now: float) -> int:
            course.settle(making.changed(course.settings, changes, self.settings.limits), now)
            return course.n

        stored = await self._looked_up(name)
        (answer,) = await self._carry_out([Ask(stored.number, (), do)])
        return await self._followed(stored, _raised(answer))

    async def delete(self, name: str) -> None:
        """Delete a model, its log and its snapshots."""
        stored = await self._looked_up(name)
        await self._in_store(lambda: self._store.delete(stored.number))
        self._forget(name)

    async def download(self, name: str) -> bytes:
        """The model's file, as it was published last."""
        stored = await self._looked_up(name)
        found = await self._in_store(lambda: self._store.published(stored.number))
        if found is not None:
            return found[1]
        return (await self._in_store(lambda: self._store.snapshot(stored.number))).file

    async def upload(self, name: str, file: bytes) -> ModelInfo:
        """Go on with the model of a file; what was decided before is forgotten."""
        model = await asyncio.to_thread(making.uploaded, file, name, self.settings.limits)
        packed = making.packed(model, name)
        return await self._replace(
            name, "upload", lambda settings: (making.settings_for(model, settings), packed)
        )

    async def reset(self, name: str) -> ModelInfo:
        """Forget what was learned; settings and the log stay."""
        return await self._replace(
            name, "reset", lambda settings: (settings, making.packed(making.make(settings), name))
        )

    async def _replace(
        self, name: str, why: str, make: Callable[[ModelSettings], tuple[ModelSettings, bytes]]
    ) -> ModelInfo:
        self._refuse_unready()
        stored = await self._looked_up(name)
        n = await self._in_store(lambda: self._transactor.replace(stored.number, why, make))
        return await self._followed(stored, n)

    async def _followed(self, stored: StoredModel, n: int) -> ModelInfo:
        """Wait until the learner has come to this event, and this process decides with it."""
        until = time.monotonic() + _FOLLOWS
        while (about := await self._about(stored)) is None or about.info.events < n:
            if time.monotonic() > until:
                raise ServiceError(
                    503,
                    "not-followed",
                    "the change is written, but no process has learned it yet; look at the model later",
                    retry_after=_FOLLOWS,
                )
            await asyncio.sleep(0.05)
        if self._residents.get(stored.name) is not None:
            await self._refresh(stored.name)
        return about.info

    # Decisions

    async def decide(
        self, name: str, requests: Sequence[DecisionRequest]
    ) -> list[DecisionAnswer | ServiceError]:
        """An answer or a refusal for each, when all are on disk."""

        async def ask() -> list[Any]:
            deciding = await self._deciding(name)
            return await self._each(deciding.stored, requests, partial(_ask_to_decide, deciding))

        return await self._of_its_successor(name, requests, ask)

    async def judge(
        self, name: str, requests: Sequence[VerdictRequest]
    ) -> list[VerdictAnswer | ServiceError]:
        """What is done with each."""

        async def ask() -> list[Any]:
            stored = await self._stored(name)
            return await self._each(
                stored, requests, lambda one: ((one.id,), lambda course, now: course.judge(one, now))
            )

        return await self._of_its_successor(name, requests, ask)

    async def activate(self, name: str, ids: Sequence[str]) -> list[VerdictAnswer | ServiceError]:
        """Deferred decisions were shown."""

        async def ask() -> list[Any]:
            stored = await self._stored(name)
            return await self._each(
                stored, ids, lambda one: ((one,), lambda course, now: course.activate(one, now))
            )

        return await self._of_its_successor(name, ids, ask)

    async def _of_its_successor(
        self, name: str, requests: Sequence[Any], ask: Callable[[], Awaitable[list[Any]]]
    ) -> list[Any]:
        """What is answered; if another process deleted the model, by the one that bears its name since."""
        self._refuse(requests)
        answers = await ask()
        if any(isinstance(one, ServiceError) and one.code == "unknown-model" for one in answers):
            self._forget(name)
            answers = await ask()
        return answers

    async def _each(
        self, stored: StoredModel, requests: Iterable[Any], asked: Callable[[Any], Any]
    ) -> list[Any]:
        """Carry out what can be; `asked` tells of a request which ids it is about and what it does."""
        answers: list[Any] = []
        asks, places = [], []
        for place, request in enumerate(requests):
            answers.append(None)
            try:
                ids, do = asked(request)
            except ServiceError as error:
                answers[place] = error
                continue
            asks.append(Ask(stored.number, ids, do))
            places.append(place)
        if asks:
            for place, answer in zip(places, await self._carry_out(asks), strict=True):
                answers[place] = answer
        return answers

    async def _carry_out(self, asks: Sequence[Ask]) -> list[Any]:
        self._refuse_unready()
        return await self._writer.carry_out(asks)

    def _refuse(self, requests: Sequence[Any]) -> None:
        self._refuse_unready()
        most = self.settings.limits.batch
        if len(requests) > most:
            raise ServiceError(413, "large-batch", f"there are {len(requests)} requests; give {most} at most")

    # Looks

    async def log(self, name: str, after: int = 0) -> AsyncIterator[Sequence[StoredEvent]]:
        """The events of a model after this number, page by page, up to the last one on disk."""
        stored = await self._looked_up(name)
        while events := await self._in_store(partial(self._store.read, stored.number, after, _EVENTS_A_PAGE)):
            yield events
            after = events[-1].n

    async def statistics(self, name: str, span: str = "hour") -> dict[str, Any]:
        """What the page shows of a model, as far as it has been learned."""
        about = await self._about(await self._looked_up(name))
        found = ModelStatistics() if about is None else ModelStatistics.from_plain(about.statistics)
        return await asyncio.to_thread(lambda: show(found.look(span), span))

    def health(self) -> Health:
        """How this process is now."""
        return Health(
            ready=self._ready and self._trouble is None,
            parts={
                "store": of_store(self._trouble, self._writer.since),
                "queue": of_queue(self._writer.waiting, self.settings.limits.queue, "database"),
                "learner": self._learner_health(),
            },
            numbers=Numbers(
                models=len(self._known),
                loaded=len(self._residents),
                memory=self._residents.memory,
                open=sum(deciding.n_open for deciding in self._residents),
                waiting=self._writer.waiting,
                **msgspec.structs.asdict(self._writer.counts),
            ),
        )

    def _learner_health(self) -> Part:
        broken = self._learner.broken
        if not broken:
            return Part()
        many = counted(len(broken), "model")
        return Part(False, f"{many} cannot be learned here: {next(iter(broken.values()), '')[:200]}")

    async def _about(self, stored: StoredModel) -> About | None:
        found = await self._in_store(lambda: self._store.about(stored.number))
        return None if found is None else msgspec.msgpack.decode(found[1], type=About)

    # Models in memory

    async def _stored(self, name: str) -> StoredModel:
        known = self._known.get(name)
        if known is None:
            known = await self._looked_up(name)
        return known

    async def _looked_up(self, name: str) -> StoredModel:
        """The model that bears this name now, whatever other processes have done."""
        known = await self._in_store(lambda: self._store.named(name))
        if known != self._known.get(name):
            self._forget(name)
        if known is None:
            raise unknown_model(name)
        self._known[name] = known
        return known

    def _forget(self, name: str) -> None:
        self._known.pop(name, None)
        self._residents.drop(name)

    async def _deciding(self, name: str) -> Deciding:
        while (deciding := self._residents.get(name)) is None:
            await self._stored(name)
            await self._refresh(name)
        return deciding

    async def _refresh(self, name: str) -> None:
        """Bring what was published last to memory."""
        task = self._refreshing.get(name)
        if task is None:
            task = self._refreshing[name] = asyncio.create_task(self._load(name))
            task.add_done_callback(lambda _: self._refreshing.pop(name, None))
        else:
            self._again.add(name)
        await asyncio.shield(task)

    async def _load(self, name: str) -> None:
        while True:
            self._again.discard(name)
            stored = await self._stored(name)
            try:
                fresh = await self._in_store(partial(published, self._store, stored, self.settings.limits))
            except KeyError:
                self._forget(name)
                raise unknown_model(name) from None
            there = self._residents.get(name)
            if there is None:
                self._residents.put(fresh)
            else:
                there.take_over(fresh)
            if name not in self._again:
                return

    # What learners publish; called in the watcher's thread

    def _hear(self, model: int) -> None:
        self._loop.call_soon_threadsafe(self._refresh_numbers, {model})

    def _look(self) -> None:
        found = self._store.latest([deciding.stored.number for deciding in self._residents])
        self._loop.call_soon_threadsafe(self._refresh_older, found)

    def _refresh_numbers(self, numbers: set[int]) -> None:
        for deciding in self._residents:
            if deciding.stored.number in numbers:
                asyncio.ensure_future(self._refresh(deciding.stored.name)).add_done_callback(_ignored)

    def _refresh_older(self, found: dict[int, int]) -> None:
        older = {
            deciding.stored.number
            for deciding in self._residents
            if found.get(deciding.stored.number, 0) > deciding.n
        }
        self._refresh_numbers(older)

    # Time, memory, trouble

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._store.connections.give_up_overdue()
            self._residents.weigh()
            for deciding in self._residents:
                if self._residents.memory <= self.settings.limits.memory or len(self._residents) <= 1:
                    break
                self._residents.drop(deciding.stored.name)

    def _fail(self, error: Exception) -> Exception:
        """A transaction has failed; nothing of it has happened, or it cannot be known whether it has."""
        if not isinstance(error, StoreError):
            return error
        if error.why != "locked" and self._trouble is None:
            self._trouble = error
            log_trouble(error)
            asyncio.ensure_future(self._recover()).add_done_callback(_ignored)
        return unavailable(error)

    async def _recover(self) -> None:
        while self._trouble is not None and self._ready:
            await asyncio.sleep(_TICK)
            try:
                await asyncio.to_thread(self._store.probe)
                self._trouble = None
                log_trouble(None)
            except StoreError as error:
                self._trouble = error

    def _refuse_unready(self) -> None:
        if self._trouble is not None:
            raise unavailable(self._trouble)
        if not self._ready:
            raise ServiceError(503, "not-ready", "the service starts or stops; try again", retry_after=1.0)
        if self._writer.waiting >= self.settings.limits.queue:
            raise ServiceError(
                503, "overloaded", "too many requests wait for the disk; try again later", retry_after=1.0
            )

    async def _in_store(self, call: Callable[[], _Answer]) -> _Answer:
        try:
            return await asyncio.to_thread(call)
        except StoreError as error:
            if error.why == "damaged":  # something of one model; the others are served
                raise unavailable(error) from error
            raise self._fail(error) from error


def _ask_to_decide(deciding: Deciding, request: DecisionRequest) -> Any:
    """Decide now, and have the answer written, unless the id was answered before."""
    content = content_of(request)
    given = request.id
    id_ = new_id(time.time()) if given is None else given
    chosen, version = deciding.chosen(id_, request), deciding.version

    def do(course: Course, now: float) -> DecisionAnswer:
        told = None if given is None else course.decided_before(id_, content)
        return course.decided(id_, request, chosen, version, now) if told is None else told

    return (() if given is None else (id_,)), do


def _raised(answer: Any) -> Any:
    if isinstance(answer, ServiceError):
        raise answer
    return answer


def _ignored(task: asyncio.Future[None]) -> None:
    if not task.cancelled():
        task.exception()  # it is tried again, or told to whoever asks next
