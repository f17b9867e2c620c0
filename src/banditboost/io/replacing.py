"""Files that are replaced at once or not at all. All that users have written to a file goes through here."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from banditboost.validation import check_target


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into, which takes its place at the end: a reader, or a machine that stops, meets the
    old file or the new one.

    Raises ParameterError if that is no place for a file, and OSError, with the name that the user knows, if
    writing fails.
    """
    target = Path(os.path.realpath(check_target("path", path)))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    """The new name itself must reach the disk.

    (Windows cannot open directories, and does so without being asked.)
    """
    if os.name == "nt":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
