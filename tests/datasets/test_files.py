"""Mice, Isolet, Movement: what is read, and what is refused."""

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError, cache, files
from tests.datasets import archives

LINES = ["id,size,colour,weight,label", "a,1.5,red,,1", "b,,blue,2,2", "c,3,red,oops,1"]


def tiny(lines: Sequence[str] = LINES) -> files.File:
    file = files.File(
        name="mice",
        filename="tiny.csv.gz",
        archive="tiny.zip",
        urls=(),
        sha256="",
        labels={"2": "two", "1": "one"},
        nominal={"colour": ("blue", "red")},
        ignored=frozenset({"id"}),
        unreadable=("oops",),
    )
    return replace(file, sha256=files.rows_sha256(files._arrays(file, list(lines))))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "tiny.csv.gz").write_bytes(archives.gzipped(LINES))
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


def test_other_text_of_the_same_rows_will_do(directory: Path) -> None:
    """One decoded row is 1.5, red, missing: the checksum is of that, not of how it is written."""
    (directory / "tiny.csv.gz").write_bytes(archives.gzipped([LINES[0], "z,1.50,red,nan,1", *LINES[2:]]))
    assert len(files.load(tiny(), directory).y) == 3


def test_environment_variable_names_the_directory(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANDITBOOST_DATA", str(directory))
    assert len(files.load(tiny()).y) == 3


def test_argument_goes_before_the_environment_variable(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANDITBOOST_DATA", str(directory / "elsewhere"))
    assert len(files.load(tiny(), directory).y) == 3


def test_a_copy_in_the_cache_is_found(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path / "cache"))
    assert files.locate(tiny()) is None
    cache.directory().mkdir(parents=True)
    (directory / "tiny.csv.gz").rename(cache.directory() / "tiny.csv.gz")
    assert files.locate(tiny()) == cache.directory() / "tiny.csv.gz"
    assert len(files.load(tiny()).y) == 3


def test_no_file(tmp_path: Path) -> None:
    page = r"https://archive\.ics\.uci\.edu/dataset/54"
    remedy = rf"get isolet\.zip from {page} by hand.*directory=.*BANDITBOOST_DATA"
    with pytest.raises(DatasetError, match=rf"no isolet\.csv\.gz and no isolet\.zip in .*{remedy}"):
        datasets.load("isolet", directory=tmp_path)


def truncate(packed: bytes) -> bytes:
    return packed[: len(packed) // 2]


def flip_a_bit(packed: bytes) -> bytes:
    middle = len(packed) // 2
    return packed[:middle] + bytes([packed[middle] ^ 4]) + packed[middle + 1 :]


def other_row(packed: bytes) -> bytes:
    return gzip.compress(gzip.decompress(packed).replace(b"blue", b"red"))


def web_page(_packed: bytes) -> bytes:
    return b"<!DOCTYPE html><title>404 Not Found</title>"


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, other_row, web_page])
def test_damage_is_found_and_nothing_is_cached(damage: Callable[[bytes], bytes], directory: Path) -> None:
    path = directory / "tiny.csv.gz"
    path.write_bytes(damage(path.read_bytes()))
    before = set(cache.directory().glob("*"))
    with pytest.raises(
        DatasetError,
        match=r"tiny\.csv\.gz (is not the archive|is a web page|holds other rows).*get a fresh copy",
    ):
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
    "movement": {
        "sitting": 50_631,
        "sittingdown": 11_827,
        "standing": 47_370,
        "standingup": 12_415,
        "walking": 43_390,
    },
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
    assert [
        name for name, kind in zip(movement.features, movement.kinds, strict=True) if kind == "nominal"
    ] == ["user", "gender"]
    first, label = next(movement.records())
    assert (first["user"], first["gender"], first["age"], first["z4"], label) == (
        "debora",
        "Woman",
        46,
        -147,
        "sitting",
    )
    assert np.argwhere(np.isnan(movement.X)).tolist() == [[122_076, 17]]


def test_isolet_first_cells(data_directory: Path) -> None:
    isolet = datasets.load("isolet", variant="raw", directory=data_directory)
    assert isolet.X[0, :3].tolist() == [-0.4394, -0.0930, 0.1718]
    assert isolet.labels[isolet.y[0]] == "A"


SMALL = {
    "mice": [
        "MouseID,A_N,B_N,Genotype,Treatment,Behavior,label",
        "309_1,0.5,,Control,Saline,C/S,c-CS-s",
        "7_2,1,2.25,T,S,S/C,t-SC-s",
    ],
    "isolet": [
        "f1,f2,f3,label",
        "-0.4394,1.0000,0.1718,1",
        "0.2000,-1.0000,0.0000,26",
        "0.1000,0.2000,0.3000,13",
    ],
    "movement": [
        "user,gender,age,height,z4,label",
        "katia,Woman,46,1.62,-147,sitting",
        "wallace,Man,31,1.7,-14420-11-2011 04:50:23.713,walking",
    ],
}


def small(name: str) -> files.File:
    """The data set with few rows."""
    return replace(files.FILES[name], sha256=files.rows_sha256(files._arrays(files.FILES[name], SMALL[name])))


@pytest.mark.parametrize("name", SMALL)
def test_both_forms_hold_the_same_rows(name: str, tmp_path: Path) -> None:
    file = small(name)
    forms = {file.filename: archives.gzipped(SMALL[name]), file.archive: archives.MAKERS[name](SMALL[name])}
    loaded = []
    for filename, content in forms.items():
        (tmp_path / filename).write_bytes(content)
        loaded.append(files.load(file, tmp_path))
        (tmp_path / filename).unlink()
    one, two = loaded
    assert np.array_equal(one.X, two.X, equal_nan=True)
    assert (one.features, one.values, one.labels, one.y.tolist()) == (
        two.features,
        two.values,
        two.labels,
        two.y.tolist(),
    )
    assert len(one.y) == len(SMALL[name]) - 1


def test_small_rows_by_hand(tmp_path: Path) -> None:
    for name in SMALL:
        (tmp_path / files.FILES[name].archive).write_bytes(archives.MAKERS[name](SMALL[name]))
    mice, isolet, movement = (files.load(small(name), tmp_path) for name in SMALL)
    assert np.array_equal(mice.X, [[0.5, np.nan], [1, 2.25]], equal_nan=True)
    assert isolet.X.tolist() == [[-0.4394, 1, 0.1718], [0.2, -1, 0], [0.1, 0.2, 0.3]]
    assert [isolet.labels[i] for i in isolet.y] == ["A", "Z", "M"]
    assert np.array_equal(movement.X, [[1, 0, 46, 1.62, -147], [2, 1, 31, 1.7, np.nan]], equal_nan=True)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("damage", [truncate, flip_a_bit, web_page])
def test_damaged_archives(name: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = small(name)
    (tmp_path / file.archive).write_bytes(damage(archives.MAKERS[name](SMALL[name])))
    with pytest.raises(DatasetError, match="get a fresh copy"):
        files.load(file, tmp_path)


@pytest.mark.parametrize("name", SMALL)
def test_archive_of_another_data_set(name: str, tmp_path: Path) -> None:
    file = small(name)
    (tmp_path / file.archive).write_bytes(
        archives.zipped({"readme.txt": b"nothing here", "inner.zip": archives.zipped({"a": b""})})
    )
    with pytest.raises(DatasetError, match=r"is not the archive that was expected.*KeyError"):
        files.load(file, tmp_path)


@pytest.mark.parametrize(("name", "library"), [("mice", "xlrd"), ("isolet", "ncompress")])
def test_missing_library(name: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path / "cache"))
    (tmp_path / files.FILES[name].archive).write_bytes(archives.MAKERS[name](SMALL[name]))
    with pytest.raises(
        DatasetError, match=rf"is read with {library}, which is not installed: pip install {library}"
    ):
        files.load(small(name), tmp_path)


def real_lines(name: str, data_directory: Path) -> list[str]:
    return gzip.decompress((data_directory / files.FILES[name].filename).read_bytes()).decode().splitlines()


@pytest.mark.parametrize(
    "name", ["mice", *(pytest.param(name, marks=pytest.mark.slow) for name in ("movement", "isolet"))]
)
def test_whole_archive(name: str, data_directory: Path, tmp_path: Path) -> None:
    (tmp_path / files.FILES[name].archive).write_bytes(
        archives.MAKERS[name](real_lines(name, data_directory))
    )
    dataset = datasets.load(name, "raw", tmp_path)
    assert (dataset.X.shape, dataset.class_counts) == (SHAPES[name], CLASS_COUNTS[name])


def test_movement_text_is_the_original(data_directory: Path) -> None:
    """Length and CRC-32 are those in the header of the makers' archive, which is in public hands cut
    short.
    """
    text = archives.movement_text(real_lines("movement", data_directory))
    assert (len(text), zlib.crc32(text)) == (14_283_328, 0xF43DDE16)


def test_isolet_text_is_the_original(data_directory: Path) -> None:
    """The blob ids that git gives to UCI's unpacked files in public repositories."""
    lines = real_lines("isolet", data_directory)[1:]
    texts = archives.isolet_text(lines[:6238]), archives.isolet_text(lines[6238:])
    blobs = [hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest() for text in texts]
    assert blobs == ["755a9eed7776ad9a3d025d52df1e81c6f23d7d7c", "9f8f4afe7b28e6ae364d896df237e59b52c72187"]
