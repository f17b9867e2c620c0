"""Mice, Isolet and Movement: gzip CSV files in a local directory, checked by sha256 of the unpacked text.

The text is the meeting point: whatever form a copy comes in, it is turned into this CSV text (header row, comma, `\\n`,
label in the last column), and the checksum of the text decides whether the rows are the right ones.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from banditboost.datasets import cache
from banditboost.datasets.dataset import NOMINAL, NUMERIC, Dataset, FloatArray, IntArray, Values
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.origin import ORIGINS

ENVIRONMENT_VARIABLE = "BANDITBOOST_DATA"
_DECODER = 1
"""Raise it when `_decode` changes its answer: it is part of the cache key."""


@dataclass(frozen=True)
class File:
    """One data set's file: its checksum and how its text becomes arrays."""

    name: str
    filename: str
    sha256: str
    """Of the unpacked CSV text."""
    labels: Mapping[str, str]
    """Label as written in the file -> label's name, in label order."""
    nominal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Nominal column -> its values, in code order."""
    ignored: frozenset[str] = frozenset()
    """Columns that are not features."""
    unreadable: tuple[str, ...] = ()
    """Cells that hold no number although their column is numeric; they count as missing."""


MICE = File(
    name="mice",
    filename="mice.csv.gz",
    sha256="2aa6390306683506601facfc53859548b7119d0a8466247ec8de1171abeba27d",
    labels={label: label for label in ("c-CS-m", "c-CS-s", "c-SC-m", "c-SC-s", "t-CS-m", "t-CS-s", "t-SC-m", "t-SC-s")},
    # MouseID names the animal (15 rows each, one label); the other three spell out the label.
    ignored=frozenset({"MouseID", "Genotype", "Treatment", "Behavior"}),
)
ISOLET = File(
    name="isolet",
    filename="isolet.csv.gz",
    sha256="b2386c0d652fc70b901da06a9372319e37d83b0e4e92ef065554bf97c3e26cb6",
    labels={str(1 + i): letter for i, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")},
)
MOVEMENT = File(
    name="movement",
    filename="movement.csv.gz",
    sha256="3103bb18c878653d89ee5ea3bc7e1153b5dd8f867bd3de90b44d89419999b921",
    labels={label: label for label in ("sitting", "sittingdown", "standing", "standingup", "walking")},
    nominal={"user": ("debora", "katia", "wallace", "jose_carlos"), "gender": ("Woman", "Man")},
    unreadable=("-14420-11-2011 04:50:23.713",),  # z4 of data row 122077: a number and a time run together
)
FILES = {file.name: file for file in (MOVEMENT, MICE, ISOLET)}


def load(file: File, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Read `file` from `directory` (default: `$BANDITBOOST_DATA`), check it, decode it or take it from the cache."""
    path = locate(file, directory)
    packed = _read(path)
    key = f"{file.name}-{hashlib.sha256(packed).hexdigest()}-{_DECODER}"
    arrays = cache.fetch(key, lambda: _decode(file, _verified(file, path, packed)))
    features = tuple(arrays["features"].tolist())
    kinds = tuple(NOMINAL if name in file.nominal else NUMERIC for name in features)
    values: Values = tuple(file.nominal.get(name) for name in features)
    origin = ORIGINS[file.name]
    labels = tuple(file.labels.values())
    return Dataset(file.name, features, kinds, values, arrays["X"], arrays["y"], labels, origin.licence, origin.source)


def locate(file: File, directory: str | os.PathLike[str] | None = None) -> Path:
    """Where the file is, or an error that says how to provide it."""
    where = directory if directory is not None else os.environ.get(ENVIRONMENT_VARIABLE)
    if not where:
        raise DatasetError(
            f"{file.name!r} is read from the file {file.filename}, and no directory is given: "
            f"pass directory=... or set {ENVIRONMENT_VARIABLE} to the directory that holds it"
        )
    path = Path(where) / file.filename
    if not path.is_file():
        raise DatasetError(
            f"no file {file.filename} in {Path(where)}: put it there, "
            f"or name the directory that holds it with directory=... or {ENVIRONMENT_VARIABLE}"
        )
    return path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def _verified(file: File, path: Path, packed: bytes) -> str:
    """The CSV text, if it is the one expected."""
    try:
        text = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} is not a whole gzip file ({error}): get a fresh copy") from error
    found = hashlib.sha256(text).hexdigest()
    if found != file.sha256:
        raise DatasetError(f"{path} holds other rows than expected (sha256 of its text {found}, expected {file.sha256}): get a fresh copy")
    return text.decode("utf-8")


def _decode(file: File, text: str) -> cache.Arrays:
    """Feature names, matrix and labels of a verified text."""
    for cell in file.unreadable:
        text = text.replace(cell, "")
    header, *lines = text.splitlines()
    columns = header.split(",")[:-1]
    kept = [i for i, name in enumerate(columns) if name not in file.ignored]
    matrix = np.empty((len(lines), len(kept)))
    numeric = [i for i in kept if columns[i] not in file.nominal]
    matrix[:, [kept.index(i) for i in numeric]] = _numbers(lines, numeric)
    for name, values in file.nominal.items():
        matrix[:, kept.index(columns.index(name))] = _codes(lines, columns.index(name), values)
    y = _codes(lines, len(columns), tuple(file.labels))
    return {"features": np.array([columns[i] for i in kept]), "X": matrix, "y": y}


def _numbers(lines: list[str], columns: list[int]) -> FloatArray:
    """float64[rows, columns], NaN for empty cells."""
    filled = (line.replace(",,", ",nan,").replace(",,", ",nan,") if ",," in line else line for line in lines)
    return np.loadtxt(filled, delimiter=",", comments=None, usecols=columns, ndmin=2)


def _codes(lines: list[str], column: int, values: tuple[str, ...]) -> IntArray:
    """int64[rows]: positions of a column's cells in `values`."""
    code_of = {value: code for code, value in enumerate(values)}
    return np.array([code_of[line.split(",")[column]] for line in lines], dtype=np.int64)
