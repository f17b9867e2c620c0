"""From a path to its source, by the extension, after a look at the first bytes."""

import difflib
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.arrow_files import ArrowFile
from banditboost.datasets.tables.cells import Source
from banditboost.datasets.tables.csv_files import CsvFile
from banditboost.datasets.tables.json_files import JsonLines
from banditboost.datasets.tables.text_files import open_bytes

_TEXT: dict[str, Callable[[Path], Source]] = {
    ".csv": lambda path: CsvFile(path, _pyarrow()),
    ".tsv": lambda path: CsvFile(path, _pyarrow()),
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
}
_BINARY: dict[str, Callable[[Path], Source]] = {
    ".parquet": lambda path: ArrowFile(path, "parquet"),
    ".arrow": lambda path: ArrowFile(path, "ipc"),
    ".feather": lambda path: ArrowFile(path, "ipc"),
    ".ipc": lambda path: ArrowFile(path, "ipc"),
}
_CONTENTS = {  # first bytes -> what the file is, what to do
    b"PAR1": ("a Parquet file", "rename it to end in .parquet"),
    b"ARROW1": ("an Arrow file", "rename it to end in .arrow"),
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "unpack it, or export it as CSV"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", "export it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8"),
    b"\x1f\x8b": ("a gzip file", "rename it to end in .csv.gz or .jsonl.gz"),
}
_LOOKED_AT = 1024  # bytes
_MAGIC = {".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".ipc": b"ARROW1"}


def source_of(path: Path) -> Source:
    """The source for a file.

    An error says what is wrong with the path, the extension or the content.
    """
    try:
        _check_there(path)
        extension = _extension(path)
        with path.open("rb") if extension in _BINARY else open_bytes(path) as content:
            start = content.read(_LOOKED_AT)
        _check_content(path, extension, start)
        return (_TEXT | _BINARY)[extension](path)
    except OSError as error:
        raise DatasetError(
            f"cannot read {path}: {error.strerror or error}; check its permissions and content"
        ) from None


def _extension(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    extension = os.path.splitext(name)[1]
    if extension in _TEXT or (extension in _BINARY and not path.name.lower().endswith(".gz")):
        return extension
    known = f"{', '.join(_TEXT)} (also with .gz), {', '.join(_BINARY)}"
    raise DatasetError(
        f"{path} has an extension that is not known: give a file that ends in {known}; export others as CSV"
    )


def _check_there(path: Path) -> None:
    if path.is_dir():
        raise DatasetError(f"{path} is a directory: name a file in it")
    if not path.exists():
        siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, n=1)
        raise DatasetError(f"no file {path}: {f'did you mean {near[0]}?' if near else 'check the path'}")
    if path.stat().st_size == 0:
        raise DatasetError(f"{path} is empty: it needs column names, and rows")


def _check_content(path: Path, extension: str, start: bytes) -> None:
    if extension in _MAGIC and start.startswith(_MAGIC[extension]):
        return
    for magic, (content, remedy) in _CONTENTS.items():
        if start.startswith(magic):
            raise DatasetError(f"{path} is {content} by its content: {remedy}")
    if extension in _TEXT and b"\0" in start:
        raise DatasetError(
            f"{path} is not text by its content: give it the extension that fits, or export it as CSV"
        )
    if extension in _MAGIC:
        raise DatasetError(
            f"{path} is not a {extension} file by its content: give it the extension that fits"
        )


def _pyarrow() -> ModuleType | None:
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        return None
