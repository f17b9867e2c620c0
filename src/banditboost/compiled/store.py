"""Where machine code is kept: in the user's cache, or in the wheel.

Numba notices a change of a kernel's own file, but not of the files its callees live in. So the folder of the
user's cache is named after a digest of all files that hold kernels: an upgrade, or an edit, can never meet
stale code. Each file holds one entry for one combination of types, and begins with a digest of itself: a file
that was cut or damaged is compiled again.

A wheel for a platform carries such files, too (shipped.py): made for a common baseline of processors, for one
version of Python and Numba. Where they fit, nothing is compiled at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from banditboost.compiled.announcing import announce
from banditboost.compiled.shipped import Shipment, shipment, why_it_does_not_fit
from banditboost.compiled.sources import PACKAGE, source_of
from banditboost.log import LOGGER

_WITH_KERNELS = ("compiled", "rows", "trees", "inspection", "models", "boosting", "baselines", "simulation")
_KEPT_GENERATIONS = 4
_DIGEST = 32  # bytes


@cache
def source_digest() -> str:
    """Of all files that hold kernels, or what kernels read."""
    digest = hashlib.sha256()
    folders = (path for folder in _WITH_KERNELS for path in (PACKAGE / folder).rglob("*.py"))
    for path in sorted([*folders, *PACKAGE.glob("*.py")]):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "banditboost"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/banditboost").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "banditboost"


def _forget_old_generations(directory: Path) -> None:
    ages = []
    for path in directory.parent.glob("kernels-*"):
        with contextlib.suppress(OSError):  # another process forgets it, too
            ages.append((path.stat().st_mtime, path))
    for _, old in sorted(ages, reverse=True)[_KEPT_GENERATIONS:]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def _directory() -> Path | None:
    """The folder of these sources' machine code, whether it is there or not: in `NUMBA_CACHE_DIR`, else in
    the user's cache; None if the user has no home.
    """
    try:
        base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _user_cache()
    except RuntimeError:
        return None
    return base / f"kernels-{source_digest()}"


@cache
def cache_directory() -> Path | None:
    """Where machine code is kept; None if nothing can be written there.

    What is there already is read all the same.
    """
    directory = _directory()
    if directory is None:
        return None
    try:
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _forget_old_generations(directory)
        return directory if os.access(directory, os.W_OK | os.X_OK) else None
    except OSError:
        return None


def why_nothing_is_kept() -> str:
    """Why machine code that is compiled now will not be kept, and the remedy; empty if it will."""
    if numba.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set, and nothing is compiled (unset it)"
    if cache_directory() is not None:
        return ""
    directory = _directory()
    problem = (
        "there is no folder to keep them in" if directory is None else f"{directory} cannot be written to"
    )
    return f"{problem} (set NUMBA_CACHE_DIR to a folder that can be)"


def versions() -> tuple[str, ...]:
    """What machine code depends on besides the sources and the processor."""
    python = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    return python, sys.platform, f"numba {numba.__version__}", f"llvmlite {llvmlite.__version__}"


@cache
def arithmetic() -> str:
    """Where results are the same to the last bit: a digest of kernels, versions and processor."""
    processor = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    told = repr((source_digest(), versions(), processor, bool(numba.config.DISABLE_JIT)))
    return hashlib.sha256(told.encode()).hexdigest()[:12]


@cache
def shipped_code() -> Shipment | None:
    """The machine code of this wheel, if there is any that fits."""
    return shipment(source_digest(), versions())


class MachineCode(NullCache):  # type: ignore[misc]
    """The store of one entry, in the place of Numba's own cache of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._function = function

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The machine code for a signature, None if it has to be compiled."""
        target_context.refresh()
        troubles: list[str] = []
        payload = self._find(signature, target_context.codegen().magic_tuple(), troubles)
        if payload is None:
            announce(self._name, [why_it_does_not_fit(), *troubles], why_nothing_is_kept())
            return None
        return CompileResult._rebuild(target_context, *payload)

    def _find(self, signature: Any, target: tuple[str, ...], troubles: list[str]) -> Any:
        source = source_of(self._function)
        if source is None:
            return None
        shipped, directory = shipped_code(), _directory()
        payload = shipped and _read(
            shipped.directory / self._file(signature, source, shipped.target), troubles
        )
        if payload is None and directory is not None:
            payload = _read(directory / self._file(signature, source, target), troubles)
        return payload

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if it can be kept."""
        source, directory = source_of(self._function), cache_directory()
        if source is not None and directory is not None and not result.library.has_dynamic_globals:
            name = self._file(signature, source, result.codegen.magic_tuple())
            _write(directory / name, serialize.dumps(result._reduce()))

    def _file(self, signature: Any, source: str, target: tuple[str, ...]) -> str:
        key = repr((source, str(signature), versions(), target))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"


def _read(path: Path, troubles: list[str]) -> Any:
    """What a file holds; None if it is not there, or is no good, which is added to the troubles."""
    try:
        contents = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        troubles.append(f"{path} cannot be read ({error.strerror})")
        return None
    digest, data = contents[:_DIGEST], contents[_DIGEST:]
    with contextlib.suppress(Exception):  # whatever somebody has put there
        if hashlib.sha256(data).digest() == digest:
            return pickle.loads(data)
    troubles.append(f"{path} is damaged")
    return None


def _write(path: Path, data: bytes) -> None:
    """Write a file at once or not at all. A full disk is no reason not to answer."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:  # readable for others as the user's own files are
            file.write(hashlib.sha256(data).digest() + data)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        LOGGER.warning(
            "machine code could not be kept in %s; it will be compiled again in the next process", path.parent
        )
