"""Decoded arrays, kept in the user's cache directory so that a file is parsed once.

An entry is named after the sha256 of what it was made from, so it never has to be invalidated. It is written
beside its final name and then renamed: a reader sees a whole entry or none. A cache that cannot be read or
written is no error.
"""

import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


def directory() -> Path:
    """Where decoded arrays and downloads are kept.

    It is the folder `datasets` below `$BANDITBOOST_CACHE`, else `$XDG_CACHE_HOME/banditboost`, else
    `~/.cache/banditboost`.
    """
    if own := os.environ.get("BANDITBOOST_CACHE"):
        return Path(own) / "datasets"
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "banditboost" / "datasets"


def places() -> tuple[Path, ...]:
    """The directory; none for a user without a home."""
    try:
        return (directory(),)
    except RuntimeError:
        return ()


def fetch(key: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays stored under `key`, made and stored if they are not there (or not readable)."""
    entries = [place / f"{key}.npz" for place in places()]
    for path in entries:
        with suppress(OSError, ValueError, EOFError, zipfile.BadZipFile):
            return _read(path)
    arrays = make()
    for path in entries:
        with suppress(OSError):
            _write(path, arrays)
    return arrays


def _read(path: Path) -> Arrays:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _write(path: Path, arrays: Arrays) -> None:
    entries: dict[str, Any] = dict(arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **entries)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
