"""Mice, Isolet and Movement: from a directory or from UCI, as gzip CSV or as UCI's archive.

Both forms are read as lines of CSV text (header, commas, label in the last column) and decoded to arrays. The
checksum is of the arrays, so it does not matter which form a copy has.
"""

import gzip
import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from banditboost.datasets import cache, uci, web
from banditboost.datasets.dataset import NOMINAL, NUMERIC, Dataset, IntArray, Values
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.origin import ORIGINS
from banditboost.text import quoted

ENVIRONMENT_VARIABLE = "BANDITBOOST_DATA"
_DECODER = 2
"""Raise it when `_arrays` changes its answer: it is part of the cache key."""


@dataclass(frozen=True)
class File:
    """One data set's file: where it is, its checksum, and how its lines become arrays."""

    name: str
    filename: str
    """The file name of the gzip CSV form."""
    archive: str
    """The file name of UCI's archive."""
    urls: tuple[str, ...]
    """Where the archive can be had, the first one first."""
    sha256: str
    """The checksum of the decoded rows, see `rows_sha256`."""
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
    archive="mice+protein+expression.zip",
    urls=("https://archive.ics.uci.edu/static/public/342/mice+protein+expression.zip",),
    sha256="4fd0f6a4283ea5d5bfedaee79c9e804cdcb653cad56b42e3397b7d819d6bd98e",
    labels={
        label: label
        for label in ("c-CS-m", "c-CS-s", "c-SC-m", "c-SC-s", "t-CS-m", "t-CS-s", "t-SC-m", "t-SC-s")
    },
    # MouseID names the animal (15 rows each, one label); the other three spell out the label.
    ignored=frozenset({"MouseID", "Genotype", "Treatment", "Behavior"}),
)
ISOLET = File(
    name="isolet",
    filename="isolet.csv.gz",
    archive="isolet.zip",
    urls=("https://archive.ics.uci.edu/static/public/54/isolet.zip",),
    sha256="656ac2d7a580b11f141c15c08edd62e60d959d39b50772ce0338a10db9dd4e57",
    labels={str(1 + i): letter for i, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")},
)
MOVEMENT = File(
    name="movement",
    filename="movement.csv.gz",
    archive="dataset-har-PUC-Rio-ugulino.zip",
    urls=(
        "https://archive.ics.uci.edu/static/public/250/"
        "wearable+computing+classification+of+body+postures+and+movements+puc+rio.zip",
        # The makers' own; without https only if that is all there is: the rows are checked in any case.
        "https://groupware.les.inf.puc-rio.br/static/har/dataset-har-PUC-Rio-ugulino.zip",
        "http://groupware.les.inf.puc-rio.br/static/har/dataset-har-PUC-Rio-ugulino.zip",
    ),
    sha256="0d86793994ea5d14dbbafcffce45a74d66bd76361e6787e789f57f6a13a8de29",
    labels={label: label for label in ("sitting", "sittingdown", "standing", "standingup", "walking")},
    nominal={"user": ("debora", "katia", "wallace", "jose_carlos"), "gender": ("Woman", "Man")},
    unreadable=("-14420-11-2011 04:50:23.713",),  # z4 of data row 122077: a number and a time run together
)
FILES = {file.name: file for file in (MOVEMENT, MICE, ISOLET)}


def load(file: File, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Read `file` from `directory`, or download it; check it and decode it.

    Without a directory it is looked for in `$BANDITBOOST_DATA`, then in the cache.
    """
    path = locate(file, directory)
    if path is None:
        if directory is not None:
            raise DatasetError(
                f"no {file.filename} and no {file.archive} in {Path(directory)}: {remedy(file)}"
            )
        path = fetch(file)
    return _dataset(file, _checked_arrays(file, path))


def locate(file: File, directory: str | os.PathLike[str] | None = None) -> Path | None:
    """Where a copy is: in `directory`, or without one in `$BANDITBOOST_DATA` or in the cache of downloads."""
    if directory is not None:
        if not isinstance(directory, (str, os.PathLike)):
            raise DatasetError(f"directory is {quoted(directory)}: give the path of a directory")
        places = [Path(directory)]
    else:
        variable = os.environ.get(ENVIRONMENT_VARIABLE)
        places = [*([Path(variable)] if variable else []), *cache.places()]
    candidates = (place / name for place in places for name in (file.filename, file.archive))
    return next((path for path in candidates if path.is_file()), None)


def fetch(file: File) -> Path:
    """Download the archive into the cache. It is kept only if it holds the right rows."""
    return web.fetch(
        file.name,
        file.urls,
        file.archive,
        check=lambda path: _checked_arrays(file, path),
        remedy=remedy(file),
    )


def remedy(file: File) -> str:
    """What to do by hand."""
    return (
        f"get {file.archive} from {ORIGINS[file.name].url} by hand, put it into a directory, "
        f"and name that with directory=... or {ENVIRONMENT_VARIABLE}"
    )


def rows_sha256(arrays: cache.Arrays) -> str:
    """The checksum of decoded rows.

    It is of the names of the features, then X as float64 row by row (one NaN for all missing), then y as
    int64.
    """
    digest = hashlib.sha256("\n".join(arrays["features"].tolist()).encode())
    X = np.where(np.isnan(arrays["X"]), np.nan, arrays["X"]) + 0.0  # and one zero
    for array in (X.astype("<f8"), arrays["y"].astype("<i8")):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _dataset(file: File, arrays: cache.Arrays) -> Dataset:
    features = tuple(arrays["features"].tolist())
    kinds = tuple(NOMINAL if name in file.nominal else NUMERIC for name in features)
    values: Values = tuple(file.nominal.get(name) for name in features)
    origin = ORIGINS[file.name]
    labels = tuple(file.labels.values())
    return Dataset(
        file.name, features, kinds, values, arrays["X"], arrays["y"], labels, origin.licence, origin.source
    )


def _checked_arrays(file: File, path: Path) -> cache.Arrays:
    """The rows of a file in either form, if they are the ones expected; decoded once, then from the cache."""
    try:
        with path.open("rb") as copy:
            packed = uci.bounded(copy)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}; check its permissions") from error
    except DatasetError as error:
        raise DatasetError(f"{path} cannot be read: {error}") from None

    def decode() -> cache.Arrays:
        try:
            arrays = _arrays(file, _lines(file, packed))
        except DatasetError as error:
            raise DatasetError(f"{path} cannot be read: {error}") from None
        except Exception as error:  # what the standard library, xlrd and ncompress have to say of odd bytes
            raise DatasetError(f"{path} {_what_it_is(packed)} ({_short(error)}): get a fresh copy") from error
        found = rows_sha256(arrays)
        if found != file.sha256:
            raise DatasetError(
                f"{path} holds other rows than expected (sha256 of its rows {found}, not {file.sha256}): "
                "get a fresh copy"
            )
        return arrays

    return cache.fetch(f"{file.name}-{hashlib.sha256(packed).hexdigest()}-{_DECODER}", decode)


def _lines(file: File, packed: bytes) -> list[str]:
    if packed.startswith(b"\x1f\x8b"):
        with gzip.open(io.BytesIO(packed)) as text:
            return uci.bounded(text).decode("utf-8").splitlines()
    return list(uci.LINES[file.name](packed))


def _what_it_is(packed: bytes) -> str:
    if packed[:200].lstrip()[:1] == b"<":
        return "is a web page, not the data"
    return "is not the archive that was expected, or was cut short"


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]


def _arrays(file: File, lines: list[str]) -> cache.Arrays:
    """Feature names, matrix and labels."""
    columns = lines[0].split(",")[:-1]
    rows = [_missing_spelled_out(file, line) for line in lines[1:]]
    kept = [i for i, name in enumerate(columns) if name not in file.ignored]
    matrix = np.empty((len(rows), len(kept)))
    numeric = [i for i in kept if columns[i] not in file.nominal]
    matrix[:, [kept.index(i) for i in numeric]] = np.loadtxt(
        rows, delimiter=",", comments=None, usecols=numeric, ndmin=2
    )
    for name, values in file.nominal.items():
        matrix[:, kept.index(columns.index(name))] = _codes(rows, columns.index(name), values)
    return {
        "features": np.array([columns[i] for i in kept]),
        "X": matrix,
        "y": _codes(rows, len(columns), tuple(file.labels)),
    }


def _missing_spelled_out(file: File, line: str) -> str:
    for cell in file.unreadable:
        line = line.replace(cell, "")
    return line.replace(",,", ",nan,").replace(",,", ",nan,") if ",," in line else line


def _codes(lines: list[str], column: int, values: tuple[str, ...]) -> IntArray:
    """int64[rows]: positions of a column's cells in `values`."""
    code_of = {value: code for code, value in enumerate(values)}
    return np.array([code_of[line.split(",")[column]] for line in lines], dtype=np.int64)
