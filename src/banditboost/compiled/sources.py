"""What a kernel of one's own is made of: the files of all kernels below it, and the values that they read.

Our own files are not looked at here: one digest of them all names the folder of the cache (store.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Enum, EnumMeta
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

PACKAGE = Path(__file__).parents[1]
_PLAIN = (bool, int, float, complex, str, bytes, Enum, np.dtype, type(None))


def source_of(function: Callable[..., Any]) -> str | None:
    """A digest of what a kernel and those below it are made of, as far as that is not ours.

    These are the files that hold them, and the values of constants that they read; None if one has no file.
    """
    made_of = _MadeOf()
    made_of.add(function)
    digest = hashlib.sha256(repr(sorted(made_of.constants)).encode())
    for path in sorted(made_of.files):
        try:
            digest.update(Path(path).read_bytes())
        except OSError:  # typed at a prompt: it has no file, and is compiled in every process
            return None
    return digest.hexdigest()


class _MadeOf:
    """The files and constants of some functions, and of all that they call."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.constants: list[str] = []
        self._seen: set[int] = set()

    def add(self, function: Any) -> None:
        """Look at a function, and at whatever its names may mean."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        ours = PACKAGE in Path(function.__code__.co_filename).parents
        if not ours:
            self.files.add(function.__code__.co_filename)
        for name, thing in _named(function):
            self._add_value(name, thing, ours)

    def _add_value(self, name: str, thing: Any, ours: bool) -> None:
        """What is read by a function of ours can be another's only if it is a kernel."""
        if isinstance(thing, ModuleType):  # _named has its attributes
            return
        if hasattr(thing, "py_func"):
            self.add(thing.py_func)
        elif isinstance(thing, tuple):
            for place, item in enumerate(thing):
                self._add_value(f"{name}[{place}]", item, ours)
        elif ours:
            return
        elif isinstance(thing, FunctionType):  # Numba can be taught to compile it, too
            self.add(thing)
        else:
            self.constants += [f"{name} = {value}" for value in _values(thing)]


def _values(thing: Any) -> Iterator[str]:
    """What a constant is, to the last bit; nothing for what a kernel cannot read."""
    if isinstance(thing, np.ndarray | np.generic) and thing.dtype != object:
        order = thing.flags.c_contiguous, thing.flags.f_contiguous
        yield f"{thing.dtype!r} {thing.shape} {order} {hashlib.sha256(thing.tobytes()).hexdigest()}"
    elif isinstance(thing, _PLAIN):
        yield repr(thing)
    elif isinstance(thing, type):
        yield f"{thing.__module__}.{thing.__qualname__}"
        if isinstance(thing, EnumMeta):
            yield from map(repr, thing)


def _named(function: Any) -> Iterator[tuple[str, Any]]:
    """All that the names in a function may mean: globals, attributes of modules, closures, defaults."""
    names = set(_names_in(function.__code__))
    yield from ((name, function.__globals__[name]) for name in names & function.__globals__.keys())
    yield from _attributes(_modules(function, names), names)
    yield from zip(function.__code__.co_freevars, _cells(function), strict=True)
    yield "defaults", function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).items()


def _names_in(code: CodeType) -> Iterator[str]:
    """Also those of functions and comprehensions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _modules(function: Any, names: set[str]) -> list[ModuleType]:
    """The modules that a function may name, as a part of a package may be: `package.part.rate`."""
    first = [function.__globals__.get(name) for name in names]
    found = [thing for thing in (*first, *_cells(function)) if isinstance(thing, ModuleType)]
    for module in found:  # grows on the way
        parts = [thing for _, thing in _attributes([module], names) if isinstance(thing, ModuleType)]
        found += [part for part in parts if not any(part is known for known in found)]
    return found


def _attributes(modules: Iterable[ModuleType], names: set[str]) -> Iterator[tuple[str, Any]]:
    for module in modules:
        for name in names:
            with suppress(Exception):  # it has no such name, or cannot import what it would be
                yield f"{module.__name__}.{name}", getattr(module, name)


def _cells(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]
