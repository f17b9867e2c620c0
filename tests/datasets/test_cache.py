"""The cache of decoded arrays: made once, whole or absent, never in the way."""

from pathlib import Path

import numpy as np
import pytest

from banditboost.datasets import cache


class Maker:
    """Makes the same arrays each time and counts how often it had to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> cache.Arrays:
        self.calls += 1
        return {"X": np.arange(6.0).reshape(2, 3), "names": np.array(["a", "b"])}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path))
    return tmp_path / "datasets"


def test_second_time_from_the_cache(place: Path) -> None:
    make = Maker()
    first, second = cache.fetch("key", make), cache.fetch("key", make)
    assert make.calls == 1
    assert (first["X"] == second["X"]).all()
    assert second["names"].tolist() == ["a", "b"]
    assert [path.name for path in place.iterdir()] == ["key.npz"]


def test_keys_are_apart(place: Path) -> None:
    make = Maker()
    cache.fetch("one", make)
    cache.fetch("two", make)
    assert make.calls == 2
    assert len(list(place.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"not an archive", None])
def test_a_damaged_entry_is_made_again(place: Path, damage: bytes | None) -> None:
    make = Maker()
    cache.fetch("key", make)
    entry = place / "key.npz"
    entry.write_bytes(entry.read_bytes()[:-40] if damage is None else damage)
    assert cache.fetch("key", make)["X"].shape == (2, 3)
    assert make.calls == 2
    cache.fetch("key", make)
    assert make.calls == 2


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("BANDITBOOST_CACHE", str(in_the_way))
    assert cache.fetch("key", Maker())["X"].shape == (2, 3)


def test_a_failed_write_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full_disk)
    cache.fetch("key", Maker())
    assert list(place.iterdir()) == []


def test_a_failed_maker_leaves_nothing(place: Path) -> None:
    def fail() -> cache.Arrays:
        raise ValueError("bad file")

    with pytest.raises(ValueError, match="bad file"):
        cache.fetch("key", fail)
    assert not place.exists()


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANDITBOOST_CACHE", "/own")
    assert cache.directory() == Path("/own/datasets")
    monkeypatch.delenv("BANDITBOOST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache.directory() == Path("/xdg/banditboost/datasets")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/her")
    assert cache.directory() == Path("/home/her/.cache/banditboost/datasets")
