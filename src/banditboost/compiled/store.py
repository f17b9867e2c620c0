"""Where machine code is kept: in the user's cache, or in the wheel.

Numba notices a change of a kernel's own file, but not of the files its callees live in. So the folder of the user's cache is named after a
digest of all files that hold kernels: an upgrade, or an edit, can never meet stale code. Each file holds one entry for one combination of
types, and begins with a digest of itself: a file that was cut or damaged is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from banditboost.log import LOGGER

_PACKAGE = Path(__file__).parents[1]
_WITH_KERNELS = ("compiled", "rows", "trees", "models", "boosting", "baselines", "simulation")
_KEPT_GENERATIONS = 4
_DIGEST = 32  # bytes


@cache
def source_digest() -> str:
    """Of all files that hold kernels, or what kernels read."""
    digest = hashlib.sha256()
    folders = (path for folder in _WITH_KERNELS for path in (_PACKAGE / folder).rglob("*.py"))
    for path in sorted([*folders, *_PACKAGE.glob("*.py")]):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "banditboost"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/banditboost").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "banditboost"


def _forget_old_generations(directory: Path) -> None:
    generations = sorted(
        directory.parent.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    for old in generations[_KEPT_GENERATIONS:]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def cache_directory() -> Path | None:
    """Where machine code is kept (`NUMBA_CACHE_DIR`, else the user's cache); None if nothing can be written there."""
    try:
        base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _user_cache()
        directory = base / f"kernels-{source_digest()}"
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _forget_old_generations(directory)
        if not os.access(directory, os.W_OK):
            return None
    except (OSError, RuntimeError):  # nothing can be written there, or there is no home
        return None
    return directory


def _versions() -> tuple[str, ...]:
    """What machine code depends on besides the sources and the processor."""
    return (
        f"{sys.version_info[0]}.{sys.version_info[1]}",
        sys.platform,
        numba.__version__,
        llvmlite.__version__,
    )


class MachineCode(NullCache):  # type: ignore[misc]
    """The store of one entry, in the place of Numba's own cache of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._function = function

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        target_context.refresh()
        directory = cache_directory()
        payload = (
            None if directory is None else _read(self._path(directory, signature, target_context.codegen()))
        )
        return None if payload is None else CompileResult._rebuild(target_context, *payload)

    def save_overload(self, signature: Any, result: Any) -> None:
        directory = cache_directory()
        if directory is not None and not result.library.has_dynamic_globals:
            _write(self._path(directory, signature, result.codegen), serialize.dumps(result._reduce()))

    def _path(self, directory: Path, signature: Any, codegen: Any) -> Path:
        key = repr((self._name, self._source(), str(signature), _versions(), codegen.magic_tuple()))
        return directory / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def _source(self) -> str:
        """Of a kernel that is not ours, a digest of its file."""
        if self._name.startswith("banditboost."):
            return ""
        return hashlib.sha256(Path(self._function.__code__.co_filename).read_bytes()).hexdigest()


def _read(path: Path) -> Any:
    try:
        contents = path.read_bytes()
    except OSError:
        return None
    digest, data = contents[:_DIGEST], contents[_DIGEST:]
    return pickle.loads(data) if hashlib.sha256(data).digest() == digest else None


def _write(path: Path, data: bytes) -> None:
    """At once or not at all. A full disk is no reason not to answer."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(file.name, path)
    except OSError:
        LOGGER.warning(
            "machine code could not be kept in %s; it will be compiled again in the next process", path.parent
        )


@contextmanager
def announced(dispatcher: Any) -> Iterator[None]:
    yield
