"""Text in files, plain or packed, in any encoding, with what may be wrong with it said in words."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple, TextIO, cast

from banditboost.datasets.errors import DatasetError
from banditboost.text import quoted

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF_8 = "utf-8"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 text begins."""


class TextFormat(NamedTuple):
    """How a text file is written, as far as the user says so."""

    encoding: str | None = None
    """None is UTF-8."""
    separator: str | None = None
    """Between cells; None is whichever the header has most of."""
    decimal: str | None = None
    """The decimal mark, "." or ","; None takes plain numbers only."""


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The content; a gzip or zstd file is unpacked, whatever it is called."""
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        if start.startswith(_GZIP):
            unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=file))
            yield from _unpacked(path, unpacked, (EOFError, gzip.BadGzipFile, zlib.error))
        elif start == _ZSTD:
            zstd = _zstd(path)
            yield from _unpacked(path, cast(BinaryIO, zstd.ZstdFile(file)), (EOFError, zstd.ZstdError))
        else:
            yield file


def _unpacked(path: Path, content: BinaryIO, damage: tuple[type[Exception], ...]) -> Iterator[BinaryIO]:
    try:
        with content:
            yield content
    except damage as error:
        raise DatasetError(f"{path} is cut short or damaged ({error}): get a fresh copy") from None


def _zstd(path: Path) -> ModuleType:
    """Python's own from 3.14 on, and the same for older ones."""
    try:
        from compression import zstd
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise DatasetError(
                f"{path} is a zstd file, and what unpacks it is not installed: pip install backports.zstd, "
                "or unpack it yourself (zstd -d)"
            ) from None
    return cast(ModuleType, zstd)


def checked_encoding(name: object) -> str | None:
    """The encoding that a user names, in Python's spelling; None for none."""
    if name is None:
        return None
    try:
        codec = codecs.lookup(name) if isinstance(name, str) else None
        io.TextIOWrapper(io.BytesIO(), encoding=codec.name if codec else "").close()
        "a".encode(codec.name if codec else "")
    except (LookupError, ValueError, UnicodeError):
        raise DatasetError(
            f"encoding is {quoted(name)}: give the name of a text encoding that Python knows, such as "
            "'utf-8', 'cp1252', 'utf-16' or 'shift_jis'"
        ) from None
    assert codec is not None
    return codec.name


@contextmanager
def open_text(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """Text without a byte order mark; newlines are left as they are."""
    with (
        open_bytes(path) as content,
        _told(path, encoding),
        io.TextIOWrapper(content, encoding=_without_mark(encoding), newline="") as text,
    ):
        yield text


@contextmanager
def open_utf8(path: Path, encoding: str | None = None) -> Iterator[BinaryIO]:
    """The bytes of the text in UTF-8, for readers that know nothing else."""
    with open_bytes(path) as content:
        if encoding in (None, UTF_8):
            yield content
        else:
            with _told(path, encoding):
                yield cast(BinaryIO, _InUtf8(content, str(encoding)))


class _InUtf8(io.RawIOBase):
    """Reads one encoding and hands over another."""

    def __init__(self, content: BinaryIO, encoding: str) -> None:
        self._content = content
        self._decoder = codecs.getincrementaldecoder(_without_mark(encoding))()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """About so many bytes, and none only at the end."""
        while block := self._content.read(size):
            if text := self._decoder.decode(block):
                return text.encode("utf-8", "surrogatepass")
        return self._decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")


def _without_mark(encoding: str | None) -> str:
    return "utf-8-sig" if encoding in (None, UTF_8) else str(encoding)


@contextmanager
def _told(path: Path, encoding: str | None) -> Iterator[None]:
    try:
        yield
    except UnicodeError as error:
        raise _not_in(path, encoding, error) from None


def _not_in(path: Path, encoding: str | None, error: UnicodeError) -> DatasetError:
    byte = f"byte 0x{error.object[error.start]:02x} in " if isinstance(error, UnicodeDecodeError) else ""
    where = f"({byte}line {bad_line(path, encoding or UTF_8)})"
    if encoding in (None, UTF_8):
        return DatasetError(
            f"{path} is not UTF-8 text {where}: save it as UTF-8, or say what it is, such as "
            "encoding='cp1252' for most that Windows programs write"
        )
    return DatasetError(f"{path} is not {encoding} text {where}: name another encoding, or save it as UTF-8")


def bad_line(path: Path, encoding: str) -> int | None:
    """The first line that cannot be read in this encoding; None if all can."""
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    with open_bytes(path) as content:
        try:
            for part in content:
                line += decoder.decode(part).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeError:
            return line
    return None
