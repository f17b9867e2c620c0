"""Whatever byte is changed: a damaged end is cut and told, anything else is refused, nothing is passed over."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from banditboost.serve import kept, replay
from banditboost.serve.clock import Clock
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.base import StoreError
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, decided, judged, serve

FLIPS = {
    "place": "place + 1000",
    "key": "'x' || substr(key, 2)",
    "at": "at + 1",
    "chain": "chain + 1",
    "body": "CAST(substr(body, 1, length(body) - 1) || char(1) AS BLOB)",
}


async def fill(service: SoloService, n: int) -> None:
    await service.create("m", ModelSettings(labels=LABELS, seed=1))
    for hour in range(n):
        answer = await decided(service, "m", {"hour": hour})
        await judged(service, "m", answer.id, correct=answer.label == "red")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a service leaves it that was killed: a log without a later snapshot."""
    folder = tmp_path_factory.mktemp("killed") / "store"

    async def use(service: SoloService) -> None:
        await fill(service, 10)
        shutil.copytree(service._store._folder, folder)  # type: ignore[attr-defined]

    serve(tmp_path_factory.mktemp("alive"), use)
    return folder


def changed(folder: Path, tmp_path: Path, sql: str) -> Path:
    """A copy in which something was changed behind the service's back."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with sqlite3.connect(copy / "banditboost.sqlite") as database:
        assert database.execute(sql).rowcount == 1
    database.close()
    return copy


async def look(service: SoloService) -> tuple[Any, Any]:
    return await service.show("m"), service.health().parts["models"]


@pytest.mark.parametrize("column", FLIPS)
def test_a_change_in_the_middle_is_refused_and_other_models_go_on(
    killed: Path, tmp_path: Path, column: str
) -> None:
    folder = changed(
        killed, tmp_path, f"UPDATE events SET {column} = {FLIPS[column]} WHERE place & 0xffff = 8"
    )

    async def use(service: SoloService) -> None:
        with pytest.raises(ServiceError, match=r"event 8 .*; restore it from a backup") as refused:
            await service.show("m")
        assert (refused.value.status, refused.value.code) == (503, "store-damaged")
        assert not service.health().parts["models"].ok
        await service.create("other", ModelSettings(labels=LABELS))
        assert (await decided(service, "other", {"hour": 1})).label in LABELS
        if column != "key":
            with pytest.raises(ServiceError):
                _ = [page async for page in service.log("m")]

    serve(folder, use)


@pytest.mark.parametrize("column", ["at", "chain", "body"])
def test_a_changed_end_is_cut_at_the_last_good_event_and_told(
    killed: Path, tmp_path: Path, column: str
) -> None:
    folder = changed(
        killed, tmp_path, f"UPDATE events SET {column} = {FLIPS[column]} WHERE place & 0xffff = 21"
    )

    async def use(service: SoloService) -> None:
        info, part = await look(service)
        assert (info.events, info.verdicts, info.open) == (20, 9, 1)
        assert not part.ok
        assert "1 event" in part.why
        assert service.health().ready
        answer = await decided(service, "m", {"hour": 3})
        assert await judged(service, "m", answer.id, correct=True) == "learned"

    serve(folder, use)
    with sqlite3.connect(folder / "banditboost.sqlite") as database:
        assert database.execute("SELECT count(*) FROM cut").fetchone() == (1,)
    database.close()
    assert serve(folder, look)[0].events == 22


@pytest.mark.parametrize(
    "what", ["DELETE FROM events WHERE place & 0xffff = 8", "DELETE FROM events WHERE place & 0xffff = 1"]
)
def test_a_missing_event_is_refused(killed: Path, tmp_path: Path, what: str) -> None:
    folder = changed(killed, tmp_path, what)

    async def use(service: SoloService) -> None:
        with pytest.raises(ServiceError, match="was changed or is missing"):
            await service.show("m")

    serve(folder, use)


def test_a_damaged_snapshot_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    async def use(service: SoloService) -> bytes:
        await fill(service, 10)
        return await service.download("m")

    before = serve(tmp_path, use)
    with sqlite3.connect(tmp_path / "banditboost.sqlite") as database:
        assert database.execute("UPDATE pieces SET body = zeroblob(length(body)) WHERE n > 0").rowcount == 1
    database.close()

    assert differing(serve(tmp_path, lambda service: service.download("m")), before) == []


def test_a_log_that_lost_what_a_snapshot_has_is_refused(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await fill(service, 10)

    serve(tmp_path, use)
    with sqlite3.connect(tmp_path / "banditboost.sqlite") as database:
        assert database.execute("DELETE FROM events WHERE place & 0xffff = 21").rowcount == 1
    database.close()

    async def again(service: SoloService) -> None:
        with pytest.raises(ServiceError, match="does not lie on its log"):
            await service.show("m")

    serve(tmp_path, again)


def frames(folder: Path) -> tuple[Path, int, int]:
    """The write-ahead log, the size of its frames, and how many there are."""
    log = folder / "banditboost.sqlite-wal"
    size = 24 + 4096
    return log, size, (log.stat().st_size - 32) // size


def test_a_write_ahead_log_that_is_damaged_in_its_middle_is_refused(killed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(killed, folder)
    log, size, n = frames(folder)
    content = bytearray(log.read_bytes())
    content[32 + (n // 2) * size + 500] ^= 1
    log.write_bytes(content)
    with pytest.raises(StoreError, match="damaged in its middle") as refused:
        SQLiteStore(folder)
    assert refused.value.why == "damaged"
    assert log.read_bytes() == content
    SQLiteStore(folder, "normal").close()  # promises less


def test_a_write_that_was_never_finished_is_no_damage(killed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(killed, folder)
    log, size, _ = frames(folder)
    log.write_bytes(log.read_bytes()[: -size // 2])
    info, part = serve(folder, look)
    assert info.events == 20
    assert part.ok


@pytest.mark.parametrize("seed", range(12))
def test_any_byte_of_the_file_may_change(tmp_path: Path, seed: int) -> None:
    """The same model comes back, or it is told that something is wrong."""

    async def use(service: SoloService) -> bytes:
        await fill(service, 12)
        return await service.download("m")

    before = serve(tmp_path, use)
    path, draw = tmp_path / "banditboost.sqlite", random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(40):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)
    assert_same_or_told(tmp_path, before)


def assert_same_or_told(folder: Path, before: bytes) -> None:
    try:
        store = SQLiteStore(folder)
    except StoreError:
        return
    try:
        stored = {stored.name: stored for stored in store.models()}.get("m")
        if stored is None:
            return  # nobody is told of it, and the model is asked for in vain
        served = replay.load(store, stored, Limits())
        assert differing(kept.Taken(served).snapshot().file, before) == []
    except StoreError:
        return
    finally:
        store.close()


def test_two_processes_cannot_use_one_folder(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    with pytest.raises(StoreError, match="another process uses this folder") as refused:
        SQLiteStore(tmp_path)
    assert refused.value.why == "locked"
    store.close()
    SQLiteStore(tmp_path).close()


def test_a_clock_that_is_set_back_is_held_and_told(tmp_path: Path) -> None:
    times = [5_000.0]

    async def use(service: SoloService) -> None:
        await service.create("m", ModelSettings(labels=LABELS, seed=1, window=10.0))
        first = await decided(service, "m", {"hour": 1})
        times[0] = 4_000.0
        second = await decided(service, "m", {"hour": 1})
        assert second.expires == first.expires
        assert not service.health().parts["clock"].ok
        assert service.health().ready
        times[0] = 5_004.0
        assert await judged(service, "m", first.id, correct=True) == "learned"
        assert service.health().parts["clock"].ok
        times[0] = 5_011.0
        assert await judged(service, "m", second.id, correct=True) == "late"

    serve(tmp_path, use, ServiceSettings(), Clock(lambda: times[0]))
    times[0] = 100.0  # the next process stands before its log

    async def again(service: SoloService) -> float:
        await service.show("m")
        return (await decided(service, "m", {"hour": 1})).expires

    assert serve(tmp_path, again, ServiceSettings(), Clock(lambda: times[0])) == 5_021.0
