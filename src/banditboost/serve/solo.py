"""The service in one process: models in memory, their logs in one store."""

from __future__ import annotations

import asyncio
import bisect
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from banditboost.log import LOGGER
from banditboost.serve import kept, making, replay
from banditboost.serve.clock import Clock
from banditboost.serve.committer import Committer
from banditboost.serve.following import Following
from banditboost.serve.health import Health, Numbers, Part, of_queue, of_store
from banditboost.serve.logs import log_following, log_trouble
from banditboost.serve.memory import give_back
from banditboost.serve.messages import (
    DecisionAnswer,
    DecisionRequest,
    ModelInfo,
    VerdictAnswer,
    VerdictRequest,
)
from banditboost.serve.problems import ServiceError, unavailable, unknown_model
from banditboost.serve.residents import Residents
from banditboost.serve.served import DiffersError, Served
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.statistics import show
from banditboost.serve.store.base import Snapshot, SoloStore, StoredEvent, StoredModel, StoreError
from banditboost.text import counted

_Answer = TypeVar("_Answer")
_TICK = 0.25  # seconds
_LOADS = 2  # at once: who comes in a crowd does not fill the memory before anybody has weighed
_FULL = 1.125  # times the ceiling: from there on a model waits until others are put away
_FEW = 50  # events that are rather learned again than written in a snapshot


class SoloService:
    """The service as `service.Service` tells it, for one process.

    Args:
        settings: of the service.
        store: of this process alone.
        clock: the time of day.
        tick: seconds between two looks at windows and memory.
    """

    def __init__(
        self, settings: ServiceSettings, store: SoloStore, clock: Clock | None = None, tick: float = _TICK
    ) -> None:
        self.settings, self._store = settings, store
        self._clock = Clock() if clock is None else clock
        self._tick_seconds = tick
        self._known: dict[str, StoredModel] = {}
        self._names: list[str] = []
        self._residents: Residents[Served] = Residents()
        self._written: dict[int, int] = {}  # by number: the last event on disk of a model in memory
        self._snapshots: dict[int, int] = {}  # and that of its latest snapshot
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._broken: dict[str, ServiceError] = {}
        self._cut: dict[str, int] = {}  # events that were cut off damaged logs
        self._trouble: StoreError | None = None
        self._epoch = 0  # how many times everything in memory was dropped
        self._ready = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._snapshotting: set[int] = set()
        self._few_loads = asyncio.Semaphore(_LOADS)
        self._making_room: asyncio.Task[None] | None = None
        self._left = False  # models have left memory since it was given back

    # Begin and end

    async def start(self) -> None:
        """Find the models there are, and make those that the settings name."""
        self._committer = Committer(self._store, self._fail, self.settings.wait)
        for stored in await asyncio.to_thread(self._store.models):
            self._know(stored)
        self._ready = True
        for name, settings in self.settings.models.items():
            if name not in self._known:
                await self.create(name, settings)
        self._ticking = asyncio.create_task(self._tick_for_ever())

    async def stop(self) -> None:
        """Answer what is under way, write snapshots, close the store."""
        self._ready = False
        self._ticking.cancel()
        await asyncio.gather(self._ticking, *self._loading.values(), *self._tasks, return_exceptions=True)
        await self._committer.stop()
        if self._trouble is None:
            for served in self._residents:
                await self._put_snapshot(served)
        await asyncio.to_thread(self._store.close)

    # Models

    async def create(self, name: str, settings: ModelSettings) -> ModelInfo:
        """Make a model; it begins with snapshot 0, and its settings as event 1."""
        self._refuse_unready()
        limits = self.settings.limits
        making.check_name(name, limits)
        making.check_number(len(self._known), limits)
        settings = making.checked(settings, limits)
        model = making.make(settings)
        now = self._clock.now()
        first, event = kept.first(settings, model, name, now)
        try:
            stored = await self._in_store(lambda: self._store.create(name, now, first, event))
        except KeyError:
            raise ServiceError(
                409, "name-taken", f"there is a model {name!r}; give another name", field="name"
            ) from None
        self._know(stored)
        return await self.show(name)

    async def names(self, after: str = "", limit: int = 100) -> list[str]:
        """Names of models in their order."""
        start = bisect.bisect_right(self._names, after) if after else 0
        return self._names[start : start + limit]

    async def show(self, name: str) -> ModelInfo:
        """What the service shows of a model."""
        return (await self._served(name)).info()

    async def change(self, name: str, changes: dict[str, Any]) -> ModelInfo:
        """Change settings by name."""
        self._refuse_unready()
        served = await self._served(name)
        try:
            served.change(changes, self._clock.now())
        except ServiceError:
            raise
        except Exception as error:
            self._residents.drop(name)
            raise ServiceError(422, "bad-setting", str(error)) from error
        await self._committed(served)
        return served.info()

    async def delete(self, name: str) -> None:
        """Delete a model, its log and its snapshots."""
        self._refuse_unready()
        stored = self._stored(name)
        del self._known[name]
        self._names.remove(name)
        self._residents.drop(name)
        await self._committer.settled()
        try:
            await self._in_store(lambda: self._store.delete(stored.number))
        except ServiceError:
            self._know(stored)
            raise
        self._broken.pop(name, None)

    async def download(self, name: str) -> bytes:
        """The model's file, as it is now."""
        served = await self._served(name)
        taken = kept.Taken(served)
        return (await asyncio.to_thread(taken.snapshot)).file

    async def upload(self, name: str, file: bytes) -> ModelInfo:
        """Go on with the model of a file; what was decided before is forgotten."""
        self._refuse_unready()
        model = await asyncio.to_thread(making.uploaded, file, name, self.settings.limits)
        return await self._replace(name, "upload", model)

    async def reset(self, name: str) -> ModelInfo:
        """Forget what was learned; settings and the log stay."""
        self._refuse_unready()
        served = await self._served(name)
        return await self._replace(name, "reset", making.make(served.settings))

    async def _replace(self, name: str, why: str, model: Any) -> ModelInfo:
        served = await self._served(name)
        settings = making.settings_for(model, served.settings) if why == "upload" else served.settings
        served.replace(why, settings, model, self._clock.now())
        await self._committed(served, kept.Taken(served).snapshot())
        return served.info()

    # Decisions

    async def decide(
        self, name: str, requests: Sequence[DecisionRequest]
    ) -> list[DecisionAnswer | ServiceError]:
        """An answer or a refusal for each, when all are on disk."""
        served = self._residents.get(name) or await self._served(name)
        return await self._each(served, served.decide, requests)

    async def judge(
        self, name: str, requests: Sequence[VerdictRequest]
    ) -> list[VerdictAnswer | ServiceError]:
        """What was done with each."""
        served = self._residents.get(name) or await self._served(name)
        return await self._each(served, served.judge, requests)

    async def activate(self, name: str, ids: Sequence[str]) -> list[VerdictAnswer | ServiceError]:
        """Deferred decisions were shown."""
        served = self._residents.get(name) or await self._served(name)
        return await self._each(served, served.activate, ids)

    async def _each(
        self, served: Served, do: Callable[[Any, float], _Answer], requests: Sequence[Any]
    ) -> list[_Answer | ServiceError]:
        self._refuse_unready()
        if len(requests) > self.settings.limits.batch:
            raise ServiceError(
                413,
                "large-batch",
                f"there are {len(requests)} requests; give {self.settings.limits.batch} at most",
            )
        now = self._clock.now()
        answers: list[_Answer | ServiceError] = []
        try:
            for request in requests:
                try:
                    answers.append(do(request, now))
                except ServiceError as error:
                    answers.append(error)
        except BaseException:
            self._residents.drop(served.stored.name)  # its log makes it again
            raise
        await self._committed(served)
        return answers

    async def _committed(self, served: Served, snapshot: Snapshot | None = None) -> None:
        """Return when all that the model knows now is on disk."""
        if not served.fresh:
            await self._committer.settled()
            return
        events, finished = served.take()
        n = served.n

        def after() -> None:
            served.forget(finished)
            self._note_written(served, n, snapshot)

        await self._committer.add(served.stored.number, events, after, snapshot)

    def _note_written(self, served: Served, n: int, snapshot: Snapshot | None) -> None:
        number = served.stored.number
        self._written[number] = n
        if snapshot is not None:
            self._snapshots[number] = snapshot.n
        if n - self._snapshots.get(number, 0) >= self.settings.snapshot_every:
            self._in_background(self._put_snapshot(served))

    # Looks

    async def log(self, name: str, after: int = 0) -> AsyncIterator[Sequence[StoredEvent]]:
        """The events of a model after this number, page by page, up to the last one on disk.

        A log that was changed is told up to there, and refused.
        """
        stored = self._stored(name)
        chain = await self._in_store(partial(replay.chain_after, self._store, stored, after))
        while events := await self._in_store(partial(replay.page, self._store, stored, after, chain)):
            yield events
            after, chain = events[-1].n, events[-1].chain

    async def statistics(self, name: str, span: str = "hour") -> dict[str, Any]:
        """What the page shows of a model."""
        look = (await self._served(name)).statistics.look(span)
        return await asyncio.to_thread(show, look, span)

    def health(self) -> Health:
        """How the service is now."""
        return Health(
            ready=self._ready and self._trouble is None,
            parts={
                "store": of_store(self._trouble, self._committer.since),
                "clock": self._clock_health(),
                "queue": of_queue(self._committer.waiting, self.settings.limits.queue, "disk"),
                "models": self._models_health(),
            },
            numbers=Numbers(
                models=len(self._known),
                loaded=len(self._residents),
                memory=self._residents.memory,
                open=sum(len(served.open) for served in self._residents),
                waiting=self._committer.waiting,
                **msgspec.structs.asdict(self._committer.counts),
            ),
        )

    def _clock_health(self) -> Part:
        behind = self._clock.behind
        return (
            Part() if not behind else Part(False, f"the clock was set back by {behind:.1f} s; set it right")
        )

    def _models_health(self) -> Part:
        if self._cut and not self._broken:
            many = counted(sum(self._cut.values()), "event")
            return Part(False, f"{many} at the ends of logs were damaged and cut; they are kept apart")
        if not self._broken:
            return Part()
        many = counted(len(self._broken), "model")
        return Part(
            False,
            f"{many} cannot be loaded; ask for one to see why, and restore it from a backup, or delete it",
        )

    # Models in memory

    def _know(self, stored: StoredModel) -> None:
        self._known[stored.name] = stored
        bisect.insort(self._names, stored.name)
        self._clock.at_least(stored.created)

    def _stored(self, name: str) -> StoredModel:
        stored = self._known.get(name)
        if stored is None:
            raise unknown_model(name)
        return stored

    async def _served(self, name: str) -> Served:
        while (served := self._residents.get(name)) is None:
            stored = self._stored(name)
            task = self._loading.get(name)
            if task is None:
                task = self._loading[name] = asyncio.create_task(self._load(stored))
                task.add_done_callback(lambda _: self._loading.pop(name, None))
            await asyncio.shield(task)
        return served

    async def _load(self, stored: StoredModel) -> None:
        """Bring a model to memory; a ServiceError if that cannot be done."""
        async with self._few_loads:
            if self._is_full(_FULL):
                await asyncio.wait([self._make_room()])
            await self._load_now(stored)

    async def _load_now(self, stored: StoredModel) -> None:
        epoch = self._epoch
        await self._committer.settled()
        try:
            served = await asyncio.to_thread(self._made_again, stored)
        except StoreError as error:
            raise self._note_broken(stored, unavailable(error)) from error
        except DiffersError as error:
            raise self._note_broken(stored, ServiceError(503, "differs", str(error))) from error
        self._broken.pop(stored.name, None)
        if epoch == self._epoch and self._known.get(stored.name) == stored:
            self._written[stored.number], self._snapshots[stored.number] = served.n, served.snapshot_n
            self._clock.at_least(served.at)
            self._residents.put(served)
            if isinstance(served, Following) and served.differing:
                log_following(stored.name, served.differing)
                self._in_background(self._put_snapshot(served))
            if self._is_full():
                self._make_room()

    def _made_again(self, stored: StoredModel) -> Served:
        """The model of its log; what was damaged of the log's end is cut off. Called in a thread."""
        limits = self.settings.limits
        try:
            served = replay.load(self._store, stored, limits)
        except replay.DamagedEndError as error:
            LOGGER.error(
                "%s; %s cut, and kept apart in the table 'cut'", error.detail, counted(error.n_bad, "event")
            )
            self._store.cut(stored.number, error.n)
            self._cut[stored.name] = error.n_bad
            served = replay.load(self._store, stored, limits)
        making.prepare(type(served.model))
        return served

    def _note_broken(self, stored: StoredModel, error: ServiceError) -> ServiceError:
        self._broken[stored.name] = error
        return error

    def _is_idle(self, served: Served) -> bool:
        """Whether all that it knows is on disk."""
        return not served.fresh and self._written.get(served.stored.number) == served.n

    def _make_room(self) -> asyncio.Task[None]:
        """Put models away until the others are below the ceiling; whoever waits for it, it is done once."""
        if self._making_room is None or self._making_room.done():
            self._making_room = self._in_background(self._put_some_away())
        return self._making_room

    async def _put_some_away(self) -> None:
        for name in self._residents.names():
            if not self._is_full() or len(self._residents) <= 1:
                return
            served = self._residents.look(name)
            if served is not None and self._is_idle(served):
                await self._put_away(served)

    def _is_full(self, more: float = 1.0) -> bool:
        """Whether models weigh more than so many times the ceiling."""
        return self._residents.memory > more * self.settings.limits.memory

    async def _put_away(self, served: Served) -> None:
        if served.n - self._snapshots.get(served.stored.number, 0) > _FEW:
            await self._put_snapshot(served)
        if self._is_idle(served):
            self._residents.drop(served.stored.name)
            self._written.pop(served.stored.number, None)
            self._left = True

    async def _put_snapshot(self, served: Served) -> None:
        """Write a snapshot of the model as it is now, when the events before it are on disk."""
        number = served.stored.number
        if number in self._snapshotting or self._snapshots.get(number) == served.n:
            return
        self._snapshotting.add(number)
        epoch, taken = self._epoch, kept.Taken(served)
        try:
            await self._committer.settled()
            if epoch == self._epoch:
                await asyncio.to_thread(lambda: self._store.put_snapshot(number, taken.snapshot()))
                self._snapshots[number] = taken.n
                self._committer.counts.snapshots += 1
        except (StoreError, ServiceError):
            pass  # the log has all; the next one may succeed
        finally:
            self._snapshotting.discard(number)

    # Time, memory, trouble

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._tick_seconds)
            if self._trouble is None:
                await self.tick()

    async def tick(self) -> None:
        """End windows, and put models away that there is no room for."""
        now = self._clock.now()
        for served in self._residents:
            if served.end_windows(now) or served.fresh:
                self._in_background(self._committed(served))
        await self._committer.settled()
        self._residents.weigh()
        if self._is_full():
            await asyncio.wait([self._make_room()])
        if self._left:
            self._left = False
            await asyncio.to_thread(give_back)

    def _in_background(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._background_done)
        return task

    def _background_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def _fail(self, error: Exception) -> Exception:
        """A commit has failed: what is in memory may be ahead of the log, and is thrown away."""
        trouble = error if isinstance(error, StoreError) else StoreError("io", str(error))
        self._trouble = trouble
        log_trouble(trouble)
        self._epoch += 1
        self._residents.clear()
        self._written.clear()
        self._in_background(self._recover())
        return unavailable(trouble)

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
        if self._committer.waiting >= self.settings.limits.queue:
            raise ServiceError(
                503, "overloaded", "too many requests wait for the disk; try again later", retry_after=1.0
            )

    async def _in_store(self, call: Callable[[], _Answer]) -> _Answer:
        try:
            return await asyncio.to_thread(call)
        except StoreError as error:
            raise unavailable(error) from error
