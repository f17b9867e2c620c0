"""The archives of Mice, Isolet and Movement as UCI serves them, turned into lines of CSV text.

The lines are those of the gzip CSV form: a header, commas, decimal points, the label in the last column. What
the original files look like: Mice an Excel sheet, Isolet two files packed by `compress`, Movement semicolons
and decimal commas.
"""

import importlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

from banditboost.datasets.errors import DatasetError

MICE_SHEET = "Data_Cortex_Nuclear.xls"
ISOLET_PARTS = (
    "isolet1+2+3+4.data",
    "isolet5.data",
)  # speakers 1 to 120, then the 30 that UCI sets aside for testing
MOVEMENT_TABLE = "dataset-har-PUC-Rio-ugulino.csv"


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
        inner = []
        for name in packed.namelist():
            if name.rpartition("/")[2] == filename:
                return packed.read(name)
            if name.endswith(".zip"):
                inner.append(packed.read(name))
    for other in inner:
        try:
            return member(other, filename)
        except KeyError:
            continue
    raise KeyError(filename)


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
    text: bytes = library("ncompress", "a .Z file").decompress(packed)
    return text


def _with_label(header: str) -> str:
    return header.removesuffix("class") + "label"
