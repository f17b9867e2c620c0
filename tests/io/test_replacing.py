"""What is no file is never replaced by one, whoever writes; and what names no file is refused by name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import baselines
from banditboost.errors import BanditBoostError, ParameterError
from banditboost.experiments.results import Results
from banditboost.experiments.writing import write_whole
from banditboost.io import describe
from banditboost.validation import check_path

if os.name == "nt":
    pytest.skip("Windows has neither FIFOs nor sockets among its files", allow_module_level=True)

MODEL = baselines.Majority(["a", "b"], seed=1)
WRITERS: dict[str, Callable[[Any], Any]] = {
    "save": MODEL.save,
    "tables, figures and reports": lambda path: write_whole(path, b"content"),
    "results": lambda path: Results(path).append({"id": "a"}),
    "results that are prepared": lambda path: Results(path).prepare(),
}


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "there")
    return tmp_path / "there"


@pytest.fixture
def bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("there")
        yield tmp_path / "there"


def refused(writer: str, path: Path, kind: str) -> None:
    before = os.stat(path)
    with pytest.raises(
        ParameterError, match=rf"path is .*{path.name}.*this is {kind}, .*: give the name of a"
    ):
        WRITERS[writer](path)
    after = os.stat(path)
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_fifo_stays(writer: str, fifo: Path) -> None:
    refused(writer, fifo, "a FIFO")
    (fifo.parent / "link").symlink_to(fifo)
    refused(writer, fifo.parent / "link", "a FIFO")
    assert sorted(os.listdir(fifo.parent)) == ["link", "there"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_socket_stays(writer: str, bound: Path) -> None:
    refused(writer, bound, "a socket")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_device_stays(writer: str) -> None:
    """That of a terminal: no user may put a file into its directory, should we try to."""
    master, slave = os.openpty()
    try:
        refused(writer, Path(os.ttyname(slave)), "a device")
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("writer", WRITERS)
def test_files_and_links_to_files_are_written_as_ever(writer: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for _ in range(2):  # what the link points to is not there, then it is
        WRITERS[writer](tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").is_file()


NO_PATHS = [
    1.5,
    5,
    True,
    None,
    {},
    [],
    ("a",),
    b"model.bb",
    np.zeros(2),
    object,
    np.timedelta64(5),
    "a\0b",
    "\ud800\udfff",
]
DOORS = {
    "load": banditboost.load,
    "describe": describe,
    "save": MODEL.save,
    "results": Results,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("path", NO_PATHS, ids=lambda path: ascii(path)[:20])
def test_what_names_no_file_is_refused(door: str, path: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"path is .*; give the name of a file, as a string or a pathlib"
    ):
        DOORS[door](path)


class Bytes:
    """A path of bytes, which would be shown as such in messages and records."""

    def __fspath__(self) -> bytes:
        return b"model.bb"


def test_paths_of_bytes_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"path is .*; give the name of a file"):
        check_path("path", Bytes())


@given(st.text(st.characters(), max_size=8))
def test_a_path_is_what_the_system_takes(path: str) -> None:
    try:
        check_path("path", path)
    except BanditBoostError:
        with pytest.raises(ValueError, match=r"null|surrogates"):
            os.stat(path)
    else:
        with suppress(OSError):
            os.stat(path)
