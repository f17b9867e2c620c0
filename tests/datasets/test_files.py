"""Mice, Isolet, Movement: what is read, and what is refused."""

import gzip
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError, cache, files

TEXT = "id,size,colour,weight,label\na,1.5,red,,1\nb,,blue,2,2\nc,3,red,oops,1\n"


def tiny(text: str = TEXT) -> files.File:
    return files.File(
        name="mice",
        filename="tiny.csv.gz",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        labels={"2": "two", "1": "one"},
        nominal={"colour": ("blue", "red")},
        ignored=frozenset({"id"}),
        unreadable=("oops",),
    )


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "tiny.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    return tmp_path


def test_decodes_numbers_codes_missing_and_labels(directory: Path) -> None:
    dataset = files.load(tiny(), directory)
    assert dataset.features == ("size", "colour", "weight")
    assert dataset.kinds == ("numeric", "nominal", "numeric")
    assert dataset.values == (None, ("blue", "red"), None)
    assert np.array_equal(dataset.X, [[1.5, 1, np.nan], [np.nan, 0, 2], [3, 1, np.nan]], equal_nan=True)
    assert dataset.y.tolist() == [1, 0, 1]
    assert dataset.labels == ("two", "one")
    assert list(dataset.records())[1] == ({"colour": "blue", "weight": 2.0}, "two")


def test_any_gzip_of_the_same_text_will_do(directory: Path) -> None:
    (directory / "tiny.csv.gz").write_bytes(gzip.compress(TEXT.encode(), compresslevel=1, mtime=77))
    assert len(files.load(tiny(), directory).y) == 3


def test_environment_variable_names_the_directory(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANDITBOOST_DATA", str(directory))
    assert len(files.load(tiny()).y) == 3


def test_argument_goes_before_the_environment_variable(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANDITBOOST_DATA", str(directory / "elsewhere"))
    assert len(files.load(tiny(), directory).y) == 3


def test_no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    with pytest.raises(DatasetError, match=r"'mice' is read from the file mice\.csv\.gz.*directory=.*BANDITBOOST_DATA"):
        datasets.load("mice")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file isolet\.csv\.gz in .*put it there"):
        datasets.load("isolet", directory=tmp_path)


def truncate(packed: bytes) -> bytes:
    return packed[: len(packed) // 2]


def flip_a_bit(packed: bytes) -> bytes:
    return packed[:20] + bytes([packed[20] ^ 4]) + packed[21:]


def other_row(packed: bytes) -> bytes:
    return gzip.compress(gzip.decompress(packed).replace(b"blue", b"red"))


def web_page(_packed: bytes) -> bytes:
    return b"<!DOCTYPE html><title>404 Not Found</title>"


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, other_row, web_page])
def test_damage_is_found_and_nothing_is_cached(damage: Callable[[bytes], bytes], directory: Path) -> None:
    path = directory / "tiny.csv.gz"
    path.write_bytes(damage(path.read_bytes()))
    before = set(cache.directory().glob("*"))
    with pytest.raises(DatasetError, match=r"tiny\.csv\.gz (is not a whole gzip file|holds other rows than expected).*get a fresh copy"):
        files.load(tiny(), directory)
    assert set(cache.directory().glob("*")) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_unreadable_file(directory: Path) -> None:
    (directory / "tiny.csv.gz").chmod(0)
    with pytest.raises(DatasetError, match=r"cannot read .*tiny\.csv\.gz.*check its permissions"):
        files.load(tiny(), directory)


SHAPES = {"mice": (1080, 77), "isolet": (7797, 617), "movement": (165_633, 18)}
CLASS_COUNTS = {
    "mice": {
        "c-CS-m": 150,
        "c-CS-s": 135,
        "c-SC-m": 150,
        "c-SC-s": 135,
        "t-CS-m": 135,
        "t-CS-s": 105,
        "t-SC-m": 135,
        "t-SC-s": 135,
    },
    "isolet": {letter: {"F": 298, "M": 299}.get(letter, 300) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    "movement": {"sitting": 50_631, "sittingdown": 11_827, "standing": 47_370, "standingup": 12_415, "walking": 43_390},
}


@pytest.mark.parametrize("name", SHAPES)
def test_real_file(name: str, data_directory: Path) -> None:
    dataset = datasets.load(name, variant="raw", directory=data_directory)
    assert dataset.X.shape == SHAPES[name]
    assert dataset.X.flags.c_contiguous
    assert (dataset.X.dtype, dataset.y.dtype) == (np.float64, np.int64)
    assert dataset.class_counts == CLASS_COUNTS[name]


def test_mice_missing_cells(data_directory: Path) -> None:
    missing = np.isnan(datasets.load("mice", variant="raw", directory=data_directory).X)
    assert (missing.sum(), missing.any(axis=1).sum()) == (1396, 528)


def test_movement_columns(data_directory: Path) -> None:
    movement = datasets.load("movement", variant="raw", directory=data_directory)
    assert [name for name, kind in zip(movement.features, movement.kinds, strict=True) if kind == "nominal"] == ["user", "gender"]
    first, label = next(movement.records())
    assert (first["user"], first["gender"], first["age"], first["z4"], label) == ("debora", "Woman", 46, -147, "sitting")
    assert np.argwhere(np.isnan(movement.X)).tolist() == [[122_076, 17]]


def test_isolet_first_cells(data_directory: Path) -> None:
    isolet = datasets.load("isolet", variant="raw", directory=data_directory)
    assert isolet.X[0, :3].tolist() == [-0.4394, -0.0930, 0.1718]
    assert isolet.labels[isolet.y[0]] == "A"
