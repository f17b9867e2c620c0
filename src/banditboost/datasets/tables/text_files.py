"""Text in files, plain or gzipped, with what may be wrong with it said in words."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from banditboost.datasets.errors import DatasetError

_GZIP = b"\x1f\x8b"


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The content; a gzipped file is unpacked, whatever it is called."""
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        if not packed:
            yield file
            return
        try:
            with gzip.open(file) as unpacked:
                yield cast(BinaryIO, unpacked)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DatasetError(f"{path} is cut short or damaged ({error}): get a fresh copy") from None


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """UTF-8 text; newlines are left as they are."""
    try:
        with open_bytes(path) as content, io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DatasetError(
            f"{path} is not UTF-8 text (byte 0x{byte:02x} in line {_bad_line(path)}): save it as UTF-8"
        ) from None


def _bad_line(path: Path) -> int:
    with open_bytes(path) as content:
        lines = enumerate(content, 1)
        return next(number for number, line in lines if not _is_utf8(line))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
