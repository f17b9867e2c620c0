"""A disk that is full, read-only or slow, and requests beyond what is allowed: refused, told, and without loss."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from banditboost.serve.messages import VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.base import Append, StoreError
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, asked, decided, judged, raised, serve

SETTINGS = ModelSettings(labels=LABELS, seed=1)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that")


def run(
    store: SQLiteStore, use: Callable[[SoloService], Awaitable[Any]], limits: Limits | None = None
) -> Any:
    async def begin() -> Any:
        service = SoloService(ServiceSettings(limits=limits or Limits()), store)
        await service.start()
        await service.create("m", SETTINGS)
        try:
            return await use(service)
        finally:
            await service.stop()

    return asyncio.run(begin())


async def ask_until_refused(service: SoloService) -> tuple[list[str], ServiceError]:
    """Pairs of decisions and verdicts with large rows, until the disk takes no more."""
    answered = []
    for t in range(100_000):
        try:
            answer = await decided(service, "m", {"hour": t % 24, "text": "word " * 300}, id=f"id {t}")
            answered.append(answer.id)
            await judged(service, "m", answer.id, correct=True)
        except ServiceError as error:
            return answered, error
    raise AssertionError("the disk was never full")


async def all_is_there(service: SoloService, answered: list[str]) -> None:
    """Nothing that was answered is lost, and the model is that of its log."""
    for id_ in answered[-3:] + answered[:3]:
        again = await decided(service, "m", {"hour": int(id_[3:]) % 24, "text": "word " * 300}, id=id_)
        assert again.repeated
    file = await service.download("m")
    service._residents.clear()
    assert differing(await service.download("m"), file) == []


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path, "normal", most_pages=120)

    async def use(service: SoloService) -> None:
        answered, refused = await ask_until_refused(service)
        assert (refused.status, refused.code) == (503, "store-full")
        assert refused.retry_after
        assert not service.health().ready
        assert "full" in service.health().parts["store"].why
        with pytest.raises(ServiceError):
            await decided(service, "m", {"hour": 1})
        store._most_pages = 10_000
        await until(lambda: service.health().ready)
        await all_is_there(service, answered)
        assert (await decided(service, "m", {"hour": 1})).label in LABELS

    run(store, use)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True)
    if made.returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_real_disk_that_is_full(small_disk: Path) -> None:
    store = SQLiteStore(small_disk / "store")

    async def use(service: SoloService) -> None:
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(1 << 20))
        answered, refused = await ask_until_refused(service)
        assert refused.code == "store-full"
        assert not service.health().ready
        ballast.unlink()
        await until(lambda: service.health().ready)
        await all_is_there(service, answered)

    run(store, use)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_disk_that_becomes_read_only(small_disk: Path) -> None:
    store = SQLiteStore(small_disk / "store")

    def mount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", small_disk], check=True, capture_output=True)

    async def use(service: SoloService) -> None:
        answer = await decided(service, "m", {"hour": 1})
        store._close_connections()  # files that are open for writing keep a disk from changing
        store._lock.close()
        await asyncio.to_thread(mount, "ro")
        with pytest.raises(ServiceError) as refused:
            await judged(service, "m", answer.id, correct=True)
        assert refused.value.status == 503
        await until(lambda: "read-only" in service.health().parts["store"].why)
        assert not service.health().ready
        await asyncio.to_thread(mount, "rw")
        await until(lambda: service.health().ready)
        assert await judged(service, "m", answer.id, correct=True) == "learned"

    run(store, use)


class SlowStore(SQLiteStore):
    """Commits wait until they are let."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "normal")
        self.may_write = threading.Event()
        self.may_write.set()

    def append(self, batch: Sequence[Append]) -> None:
        self.may_write.wait()
        super().append(batch)


def test_a_slow_disk_is_told_and_only_so_many_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SlowStore(tmp_path)

    async def use(service: SoloService) -> None:
        store.may_write.clear()
        waiting = [asyncio.create_task(decided(service, "m", {"hour": t}, id=f"{t}")) for t in range(5)]
        await until(lambda: service._committer.waiting == 5)
        with pytest.raises(ServiceError) as refused:
            await decided(service, "m", {"hour": 9})
        assert (refused.value.status, refused.value.code) == (503, "overloaded")
        assert refused.value.retry_after
        assert service.health().ready
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 10.0)
        assert "slow" in service.health().parts["store"].why
        monkeypatch.undo()
        store.may_write.set()
        assert {answer.id for answer in await asyncio.gather(*waiting)} == {f"{t}" for t in range(5)}
        assert service.health().parts["store"].ok

    run(store, use, Limits(queue=5))


class FailingStore(SQLiteStore):
    """Every third commit fails: before it is written, or after it was."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "normal")
        self.n = 0

    def append(self, batch: Sequence[Append]) -> None:
        self.n += 1
        if self.n % 3 == 0 and self.n % 2:
            raise StoreError("io", "it was not written")
        super().append(batch)
        if self.n % 6 == 0:
            raise StoreError("io", "it was written, and nobody was told")


def test_commits_that_fail_lose_nothing_and_clients_may_try_again(tmp_path: Path) -> None:
    store = FailingStore(tmp_path)

    async def pair(service: SoloService, t: int) -> None:
        [answer] = await retried(service, lambda: service.decide("m", [asked({"hour": t % 24}, id=f"{t}")]))
        verdict = VerdictRequest(id=f"{t}", correct=raised(answer).label == "red")
        [told] = await retried(service, lambda: service.judge("m", [verdict]))
        outcome = raised(told).outcome
        assert outcome in ("learned", "duplicate")

    async def retried(service: SoloService, call: Callable[[], Awaitable[Any]]) -> Any:
        while True:
            try:
                return await call()
            except ServiceError:
                await until(lambda: service.health().ready)

    async def use(service: SoloService) -> bytes:
        for start in range(0, 40, 8):
            await asyncio.gather(*(pair(service, t) for t in range(start, start + 8)))
        info = await retried(service, lambda: service.show("m"))
        assert (info.rounds, info.verdicts, info.open) == (40, 40, 0)
        store.n = -10_000_000
        return await service.download("m")

    file = run(store, use)
    assert differing(serve(tmp_path, lambda service: service.download("m")), file) == []


def test_batches_ids_and_open_decisions_have_limits(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", SETTINGS)
        with pytest.raises(ServiceError) as large:
            await service.decide("m", [asked({"hour": 1})] * 4)
        assert large.value.status == 413
        for id_ in ("", "x" * 9):
            with pytest.raises(ServiceError) as refused:
                await decided(service, "m", {"hour": 1}, id=id_)
            assert (refused.value.status, refused.value.field) == (422, "id")
            with pytest.raises(ServiceError):
                await judged(service, "m", id_, correct=True)
        first = await decided(service, "m", {"hour": 1})
        await decided(service, "m", {"hour": 1})
        with pytest.raises(ServiceError) as many:
            await decided(service, "m", {"hour": 1})
        assert (many.value.status, many.value.code, many.value.retry_after) == (503, "too-many-open", 600.0)
        await judged(service, "m", first.id, correct=True)
        await decided(service, "m", {"hour": 1})
        for told in ({"reward": 2.0}, {}, {"correct": True, "reward": 1.0}, {"reward": float("nan")}):
            with pytest.raises(ServiceError) as bad:
                await judged(service, "m", first.id, **told)
            assert bad.value.status == 422
        with pytest.raises(ServiceError) as name:
            await service.create("m" * 6, SETTINGS)
        assert name.value.field == "name"
        with pytest.raises(ServiceError) as taken:
            await service.create("m", SETTINGS)
        assert taken.value.status == 409
        with pytest.raises(ServiceError) as unknown:
            await service.show("nobody")
        assert unknown.value.status == 404
        await service.create("n", SETTINGS)
        with pytest.raises(ServiceError, match="2 models"):
            await service.create("o", SETTINGS)
        await service.delete("m")
        await service.create("o", SETTINGS)
        assert await service.names() == ["n", "o"]
        assert await service.names("n") == ["o"]

    serve(tmp_path, use, ServiceSettings(limits=Limits(batch=3, id=8, open=2, name=5, models=2)))


def test_a_model_that_is_deleted_is_gone_and_its_name_is_free(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", SETTINGS)
        old = await decided(service, "m", {"hour": 1}, id="a")
        await service.delete("m")
        await service.create("m", SETTINGS)
        assert await judged(service, "m", old.id, correct=True) == "unknown"
        assert not (await decided(service, "m", {"hour": 1}, id="a")).repeated
        assert (await service.show("m")).events == 3

    serve(tmp_path, use)


def test_models_that_are_asked_for_all_at_once_stay_below_the_ceiling(tmp_path: Path) -> None:
    """Whoever asks for one more waits until others are put away."""
    names = [f"m{i}" for i in range(30)]

    async def make(service: SoloService) -> int:
        for name in names:
            await service.create(name, SETTINGS)
            await decided(service, name, {"hour": 1}, id=name)
        return service._residents.memory // len(names)

    weight = run(SQLiteStore(tmp_path), make)

    async def ask_all(service: SoloService) -> tuple[int, list[str]]:
        most = 0
        put = service._residents.put

        def watched(served: Any) -> None:
            nonlocal most
            put(served)
            most = max(most, service._residents.memory)

        service._residents.put = watched  # type: ignore[method-assign]
        answers = await asyncio.gather(*(decided(service, name, {"hour": 2}) for name in names))
        again = [await decided(service, name, {"hour": 1}, id=name) for name in names]
        assert all(answer.repeated for answer in again)
        return most, [answer.label for answer in answers]

    async def serve_few() -> tuple[int, list[str]]:
        limits = Limits(memory=6 * weight)
        service = SoloService(ServiceSettings(limits=limits), SQLiteStore(tmp_path))
        await service.start()
        try:
            return await ask_all(service)
        finally:
            await service.stop()

    most, labels = asyncio.run(serve_few())
    assert most < 10 * weight
    assert len(labels) == len(names)


def test_a_snapshot_that_is_there_is_not_written_again_after_a_restart(tmp_path: Path) -> None:
    """Neither when the service stops, nor when the model is put away."""

    async def decide(service: SoloService) -> None:
        await service.create("m", SETTINGS)
        for hour in range(60):
            await decided(service, "m", {"hour": hour})

    async def look(service: SoloService) -> SoloService:
        await service.show("m")
        await service._put_away(next(iter(service._residents)))
        assert not service._residents
        await service.show("m")
        return service

    serve(tmp_path, decide)
    assert serve(tmp_path, look).health().numbers.snapshots == 0


def test_a_model_with_many_events_since_its_snapshot_is_put_away_with_a_new_one(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("m", SETTINGS)
        for hour in range(60):
            await decided(service, "m", {"hour": hour})
        await service._put_away(next(iter(service._residents)))
        assert service.health().numbers.snapshots == 1

    serve(tmp_path, use)
