"""From a path to its source, by the extension, after a look at the first bytes.

A folder or a glob becomes one source of several files.
"""

import difflib
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.arrow_files import ArrowFile
from banditboost.datasets.tables.cells import Source
from banditboost.datasets.tables.csv_files import CsvFile
from banditboost.datasets.tables.folders import Files, Parts, files_of
from banditboost.datasets.tables.json_files import JsonLines
from banditboost.datasets.tables.text_files import UTF_16, TextFormat, open_bytes
from banditboost.text import visible

Form = Literal["csv", "json lines", "parquet", "arrow"]
_FORMS: dict[Form, Callable[[Path, TextFormat], Source]] = {
    "csv": lambda path, form: CsvFile(path, form, _pyarrow()),
    "json lines": JsonLines,
    "parquet": lambda path, _form: ArrowFile(path, "parquet"),
    "arrow": lambda path, _form: ArrowFile(path, "ipc"),
}
_TEXT: dict[str, Form] = {".csv": "csv", ".tsv": "csv", ".jsonl": "json lines", ".ndjson": "json lines"}
_BINARY: dict[str, Form] = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
_PACKED = (".gz", ".zst", ".zstd")
_CONTENTS = {  # first bytes -> what the file is, what to do
    b"PAR1": ("a Parquet file", "rename it to end in .parquet"),
    b"ARROW1": ("an Arrow file", "rename it to end in .arrow"),
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "unpack it, or export it as CSV"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", "export it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8, or say encoding='utf-16'"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8, or say encoding='utf-16'"),
    b"\x1f\x8b": ("a gzip file", "rename it to end in .csv.gz or .jsonl.gz"),
    b"\x28\xb5\x2f\xfd": ("a zstd file", "rename it to end in .csv.zst or .jsonl.zst"),
}
_LOOKED_AT = 1024  # bytes
_MAGIC = {".parquet": b"PAR1", ".arrow": b"ARROW1", ".feather": b"ARROW1", ".ipc": b"ARROW1"}


def source_of(path: str | os.PathLike[str], form: TextFormat) -> Source:
    """The source for a file, a folder or a glob.

    An error says what is wrong with the path, the extension or the content.
    """
    with readable(path):
        files = files_of(path)
        return _source(Path(path), form) if files is None else _parts(os.fspath(path), files, form)


def text_files_of(path: str | os.PathLike[str]) -> list[Path]:
    """The files of this path that are texts, and so have an encoding."""
    with readable(path):
        files = files_of(path)
        found = list(files.paths) if files else [Path(path)]
        for file in found:
            start = _start(file)
            if not start.startswith(UTF_16):
                _check_content(file, _extension(file), start, None)
    return [file for file in found if _extension(file) in _TEXT]


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in words what the system has against reading."""
    try:
        yield
    except OSError as error:
        where = visible(error.filename or os.fspath(path))
        raise DatasetError(
            f"cannot read {where}: {error.strerror or error}; check its permissions and content"
        ) from None


def _parts(name: str, files: Files, form: TextFormat) -> Source:
    forms = {path: (_TEXT | _BINARY)[_extension(path)] for path in files.paths}
    first = files.paths[0]
    other = next((path for path in files.paths if forms[path] != forms[first]), None)
    if other is not None:
        raise DatasetError(
            f"{other} is a {forms[other]} file, and {first} is a {forms[first]} file: "
            "name files of one kind, with a pattern such as 'folder/*.csv'"
        )
    return Parts(name, files.root, [(path, _source(path, form)) for path in files.paths])


def _source(path: Path, form: TextFormat) -> Source:
    extension, start = _extension(path), _start(path)
    _check_content(path, extension, start, form.encoding)
    if extension in _BINARY:
        for name in ("encoding", "separator"):
            if getattr(form, name) is not None:
                raise DatasetError(f"{name} is for text files, and {path} is none: leave it out")
    return _FORMS[(_TEXT | _BINARY)[extension]](path, form)


def _start(path: Path) -> bytes:
    """The first bytes of a file that is there."""
    _check_there(path)
    with path.open("rb") if _extension(path) in _BINARY else open_bytes(path) as content:
        return content.read(_LOOKED_AT)


def _extension(path: Path) -> str:
    name = path.name.lower()
    packed = name.endswith(_PACKED)
    extension = os.path.splitext(os.path.splitext(name)[0] if packed else name)[1]
    if extension in _TEXT or (extension in _BINARY and not packed):
        return extension
    known = f"{', '.join(_TEXT)} (also with .gz or .zst), {', '.join(_BINARY)}"
    raise DatasetError(
        f"{path} has an extension that is not known: give a file that ends in {known}; export others as CSV"
    )


def _check_there(path: Path) -> None:
    if not path.exists():
        siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, n=1)
        raise DatasetError(f"no file {path}: {f'did you mean {near[0]}?' if near else 'check the path'}")
    if path.stat().st_size == 0:
        raise DatasetError(f"{path} is empty: it needs column names, and rows")


def _check_content(path: Path, extension: str, start: bytes, encoding: str | None) -> None:
    if extension in _MAGIC and start.startswith(_MAGIC[extension]):
        return
    if extension in _TEXT and encoding is not None and encoding.startswith(("utf-16", "utf-32")):
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
