"""The file of records: JSON lines, appended one at a time, whole whatever happens."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted
from banditboost.validation import check_path, check_target

FORMAT = 1
_TAIL = 1 << 16
_BEGINNING = b'{"format":'

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

    def _unlock(file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class Results:
    """Records of finished tasks, one a line.

    A line counts when its newline is there, so one that was torn never counts.

    >>> import tempfile
    >>> results = Results(Path(tempfile.mkdtemp()) / "results.jsonl")
    >>> results.append({"id": "a", "accuracy": 0.9})
    >>> results.records()[0]["accuracy"]
    0.9
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(check_path("path", path))

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record with one write, behind a lock, down to the disk.

        A write that fails is taken back.
        """
        line = _line(record)
        with self._open_whole() as (file, size):
            try:
                written = os.write(file, line)
                if written != len(line):
                    raise OSError(f"{written} of {len(line)} bytes were written; is the disk full?")
                os.fsync(file)
            except OSError as error:
                os.ftruncate(file, size)
                raise ExperimentError(
                    f"cannot write to {self.path}: {error}; what was there before is kept"
                ) from error

    def prepare(self) -> None:
        """Make sure that records can be written, before the work begins; a torn line is cut off."""
        with self._open_whole():
            pass

    def records(self) -> list[dict[str, Any]]:
        """All records in the order in which tasks finished; of two with the same id the first."""
        found: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(self._lines(), start=1):
            record = self._parse(line, number)
            found.setdefault(record["id"], record)
        return list(found.values())

    def finished_ids(self) -> set[str]:
        return {record["id"] for record in self.records()}

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ExperimentError(
                f"cannot read {self.path}: {error.strerror}; give a results file or a new path"
            ) from None

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
            written_as = record["format"]
            if not isinstance(record["id"], str):
                raise TypeError
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ExperimentError(
                f"line {number} of {self.path} is no record of a task; delete the line, or give another file"
            ) from None
        if written_as is True or written_as != FORMAT:
            raise ExperimentError(
                f"line {number} of {self.path} has format {quoted(written_as)[:40]}, not {FORMAT}; "
                "use the banditboost that wrote it"
            )
        return dict(record)

    @contextmanager
    def _open_whole(self) -> Iterator[tuple[int, int]]:
        """The file, locked and without a torn line at its end, and its size."""
        check_target("path", self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644
            )
        except OSError as error:
            raise ExperimentError(
                f"cannot write to {self.path}: {error.strerror}; give a path that can be written"
            ) from None
        try:
            _lock(file)
            try:
                yield file, self._cut_torn_line(file)
            finally:
                _unlock(file)
        finally:
            os.close(file)

    def _cut_torn_line(self, file: int) -> int:
        """Cut off what follows the last newline, and return the size of the file.

        Nothing but the beginning of a record is ever cut off.
        """
        size = _whole_size(file)
        os.lseek(file, size, os.SEEK_SET)
        torn = os.read(file, len(_BEGINNING))
        if not _BEGINNING.startswith(torn):
            raise ExperimentError(
                f"{self.path} ends in something that is no record of a task; give another file"
            )
        if torn:
            os.ftruncate(file, size)
        return size


def _line(record: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps({"format": FORMAT, **record}, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ExperimentError(
            f"record is {quoted(record)[:200]}, which JSON cannot hold; give a dict of finite numbers, "
            "strings, lists and dicts"
        ) from None
    return text.encode() + b"\n"


def _whole_size(file: int) -> int:
    """How many bytes there are up to and with the last newline."""
    end = os.lseek(file, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _TAIL)
        os.lseek(file, start, os.SEEK_SET)
        newline = os.read(file, end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
