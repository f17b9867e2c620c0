"""How kernels are compiled, and where their machine code is kept.

Numba notices a change of a kernel's own file, but not of the files its callees live in. So all machine code goes to a folder named after a
digest of all files that hold kernels: an upgrade, or an edit, can never meet stale code.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

_Function = TypeVar("_Function", bound=Callable[..., Any])
_KEPT_GENERATIONS = 4


def _source_digest() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted([*package.glob("kernels/*.py"), *package.glob("boosting/*.py"), *package.glob("baselines/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "banditboost"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/banditboost").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "banditboost"


def _forget_old_generations(directory: Path) -> None:
    generations = sorted(directory.parent.glob("kernels-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in generations[_KEPT_GENERATIONS:]:
        shutil.rmtree(old, ignore_errors=True)


def cache_directory() -> Path | None:
    """Where machine code is kept (`NUMBA_CACHE_DIR`, else the user's cache); None if it cannot be written: then nothing is kept."""
    try:
        base = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _user_cache()
        directory = base / f"kernels-{_source_digest()}"
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _forget_old_generations(directory)
        if not os.access(directory, os.W_OK):
            return None
    except (OSError, RuntimeError):  # nothing can be written there, or there is no home
        return None
    return directory


_DIRECTORY = cache_directory()


def _compiled(function: _Function, options: dict[str, Any]) -> _Function:
    if _DIRECTORY is None:
        compiled: _Function = numba.njit(**options)(function)
        return compiled
    # The place of the cache is read from Numba's configuration at this moment only; others' kernels must not move with ours.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_DIRECTORY)
    try:
        cached: _Function = numba.njit(cache=True, **options)(function)
        return cached
    finally:
        numba.config.CACHE_DIR = before


# Division by zero gives inf or nan as in NumPy: a check for it would keep loops from being vectorised.
_OPTIONS: dict[str, Any] = {"error_model": "numpy"}


def njit(function: _Function) -> _Function:
    """Compile when first called; cached on disk. For kernels that make no arrays: they need not count references to those they are handed,
    which in short functions would cost more than the work itself."""
    return _compiled(function, {**_OPTIONS, "_nrt": False})


def long_running(function: _Function) -> _Function:
    """The same for a call that may take seconds: other threads of Python run meanwhile.

    A call of a round holds Python's lock: whoever lets go of it beside a busy thread waits milliseconds to get it back (docs/threads.md).
    """
    return _compiled(function, {**_OPTIONS, "_nrt": False, "nogil": True})


def inlined(function: _Function) -> _Function:
    """The same for what every round runs through: always inlined, since a call hands over a forest number by number, fifty and more."""
    return _compiled(function, {**_OPTIONS, "_nrt": False, "forceinline": True})


def allocating(function: _Function) -> _Function:
    """The same for kernels that make arrays. (It has to be said: a callee would inherit the option from its caller.)"""
    return _compiled(function, {**_OPTIONS, "_nrt": True})


class _Entry:
    """A kernel that Python calls with arguments of the same types each time: the machine code is looked up once.

    Numba would look at the types at every call, which costs 2 us for the record arrays of a forest; a whole round costs not much more.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._code: Callable[..., Any] | None = None
        self.__doc__, self.__module__, self.__name__ = kernel.__doc__, kernel.__module__, kernel.__name__

    def __call__(self, *arguments: Any) -> Any:
        return (self._code or self.code(arguments))(*arguments)

    def code(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """The machine code for arguments of these types."""
        if self._code is None:
            types = tuple(numba.typeof(argument) for argument in arguments)
            self._kernel.compile(types)
            self._code = self._kernel.get_overload(types)
        return self._code


def entry(function: _Function) -> _Function:
    """Compile a kernel that makes no arrays, for calls from Python alone. What is handed over must always be of the same types."""
    if numba.config.DISABLE_JIT:
        return function
    return cast(_Function, _Entry(njit(function)))


def machine_code(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """What an entry calls for arguments of these types."""
    return kernel.code(arguments) if isinstance(kernel, _Entry) else kernel


def lane(function: _Function) -> _Function:
    """For the arithmetic of one lane of a vectorised loop: always inlined, and products may be added without rounding in between."""
    return _compiled(function, {**_OPTIONS, "_nrt": False, "forceinline": True, "fastmath": {"contract"}})


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says once, on a terminal, that kernels are being compiled: the first call of a new installation takes seconds."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith("banditboost."):
            self.said = True
            print("banditboost: compiling kernels, once for this machine and version ...", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say: the answer itself tells that it is over."""


if sys.stderr is not None and sys.stderr.isatty() and multiprocessing.parent_process() is None:  # workers would say it once each
    event.register("numba:compile", _Announcement())
