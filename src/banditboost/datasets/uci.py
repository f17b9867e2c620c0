"""The archives of Mice, Isolet and Movement as UCI serves them, turned into lines of CSV text.

The lines are those of the gzip CSV form: a header, commas, decimal points, the label in the last column. What
the original files look like: Mice an Excel sheet, Isolet two files packed by `compress`, Movement semicolons
and decimal commas.
"""

import gzip
import importlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import IO, Any

from banditboost.datasets.errors import DatasetError

MICE_SHEET = "Data_Cortex_Nuclear.xls"
ISOLET_PARTS = (
    "isolet1+2+3+4.data",
    "isolet5.data",
)  # speakers 1 to 120, then the 30 that UCI sets aside for testing
MOVEMENT_TABLE = "dataset-har-PUC-Rio-ugulino.csv"
LARGEST = 64 << 20
"""Bytes: no copy, and no file in one, is larger; Isolet has 41 MB of text. So a bomb unpacks to no more."""
_MOST_INSIDE = 4  # archives inside an archive that are looked into


def mice(archive: bytes) -> Iterator[str]:
    """Numbers are stored as binary floats, missing ones as empty cells."""
    sheet = (
        library("xlrd", "an Excel sheet")
        .open_workbook(file_contents=member(archive, MICE_SHEET))
        .sheet_by_index(0)
    )
    yield _with_label(",".join(sheet.row_values(0)))
    for row in range(1, sheet.nrows):
        yield ",".join(cell if isinstance(cell, str) else repr(cell) for cell in sheet.row_values(row))


def isolet(archive: bytes) -> Iterator[str]:
    """No header; numbers apart by a comma and a blank; the label ends in a point."""
    lines = [line for part in ISOLET_PARTS for line in _unpacked(archive, part).decode("ascii").splitlines()]
    features = lines[0].count(",")
    yield ",".join([*(f"f{1 + i}" for i in range(features)), "label"])
    for line in lines:
        yield line.replace(", ", ",").removesuffix(".")


def movement(archive: bytes) -> Iterator[str]:
    """Semicolons between the cells, decimal commas in them."""
    header, *lines = member(archive, MOVEMENT_TABLE).decode("ascii").splitlines()
    yield _with_label(header.replace(";", ","))
    for line in lines:
        yield line.replace(",", ".").replace(";", ",")


LINES: Mapping[str, Callable[[bytes], Iterator[str]]] = {"mice": mice, "isolet": isolet, "movement": movement}


def member(archive: bytes, filename: str) -> bytes:
    """A file in the archive or in an archive inside it, in whatever folder. `KeyError` if it is not there."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        names = packed.namelist()
        for name in names:
            if name.rpartition("/")[2] == filename:
                return _content(packed, name)
        inside = [name for name in names if name.endswith(".zip")]
        for other in inside[:_MOST_INSIDE]:
            with zipfile.ZipFile(io.BytesIO(_content(packed, other))) as inner:
                for name in inner.namelist():
                    if name.rpartition("/")[2] == filename:
                        return _content(inner, name)
    raise KeyError(filename)


def _content(packed: zipfile.ZipFile, name: str) -> bytes:
    with packed.open(name) as file:
        return bounded(file)


def bounded(file: IO[bytes] | gzip.GzipFile) -> bytes:
    """All that a packed file holds, unless that is more than there can be."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _too_large()
    return content


def _too_large() -> DatasetError:
    return DatasetError(
        f"it unpacks to more than {LARGEST >> 20} MiB, which the data has not: get a fresh copy"
    )


class _Bounded(io.BytesIO):
    """Takes no more than there can be."""

    def write(self, block: Any) -> int:
        if self.tell() + len(block) > LARGEST:
            raise _too_large()
        return super().write(block)


def library(name: str, purpose: str) -> ModuleType:
    """An optional library, or an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise DatasetError(
            f"{purpose} is read with {name}, which is not installed: "
            f'pip install {name}, or pip install "banditboost[cli]"'
        ) from None


def _unpacked(archive: bytes, filename: str) -> bytes:
    """A file that may be packed by `compress`."""
    try:
        packed = member(archive, f"{filename}.Z")
    except KeyError:
        return member(archive, filename)
    text = _Bounded()
    library("ncompress", "a .Z file").decompress(packed, text)
    return text.getvalue()


def _with_label(header: str) -> str:
    return header.removesuffix("class") + "label"
