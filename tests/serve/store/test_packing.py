"""Snapshots as they are kept: whole again, also those that are large, old or damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from banditboost.serve.store import packing
from banditboost.serve.store.base import Snapshot, StoredEvent
from banditboost.serve.store.sqlite import SQLiteStore


@pytest.mark.parametrize("most", [packing._MOST, 10])
def test_what_was_packed_comes_back(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(packing, "_MOST", most)
    snapshot = Snapshot(3, bytes(100_000) + os.urandom(50), b"state", "1")
    stored = packing.packed(snapshot)
    assert packing.unpacked(stored) == snapshot.file + snapshot.state
    assert (len(stored) < 1_000) == (most > 10)


def test_what_an_earlier_version_kept_is_read() -> None:
    assert packing.unpacked(b"as it is") == b"as it is"


def test_damage_is_seen() -> None:
    stored = bytearray(packing.packed(Snapshot(1, os.urandom(1_000), b"", "1")))
    stored[500] ^= 1
    assert packing.unpacked(bytes(stored)) is None


@pytest.mark.parametrize("size", [0, 1, 3 << 20])
def test_one_that_is_shorter_takes_the_place_of_a_longer_one(tmp_path: Path, size: int) -> None:
    """It was written for the same event; pieces of the longer one are gone."""
    store, event = SQLiteStore(tmp_path), StoredEvent(1, "", 1.0, 0, b"")
    model = store.create("m", 1.0, Snapshot(0, b"f", b"s", "1"), event).number
    for file in (os.urandom(5 << 20), os.urandom(size)):
        store.put_snapshot(model, Snapshot(1, file, b"state", "1"))
        assert store.snapshot(model) == Snapshot(1, file, b"state", "1")
    left = store._reader.execute("SELECT sum(length(body)) FROM pieces WHERE n = 1").fetchone()[0]
    assert left < size + 1_000
    store.close()
