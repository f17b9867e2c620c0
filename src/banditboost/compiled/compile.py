"""The decorators that mark a function as a kernel, and how one becomes machine code.

With `NUMBA_DISABLE_JIT=1` each of them returns the function itself: a debugger steps through everything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numba

from banditboost.compiled import linking
from banditboost.compiled.aside import aside
from banditboost.compiled.border import Table, is_named_tuple
from banditboost.compiled.store import MachineCode

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Division by zero gives inf or nan as in NumPy: a check for it would keep loops from being vectorised.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}


class Kernel:
    """A compiled function.

    Other kernels contain it; for a call from Python an entry is compiled, once for each combination of types.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], pipeline: Any = linking.INNER
    ) -> None:
        self.py_func = self.__wrapped__ = function
        self._options = {**_OPTIONS, **options}
        inner = {"pipeline_class": pipeline, "no_cpython_wrapper": linking.AVAILABLE}
        self._inner = numba.njit(**inner, **self._options)(function)
        self._entry: Any = None
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__

    @property
    def _numba_type_(self) -> Any:
        return self._inner._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        if any(map(is_named_tuple, arguments)):
            return with_addresses(self, 0, *arguments)()
        return self._dispatcher()(*arguments)  # Numba finds the types itself, in a fraction of a microsecond

    def code(self, kinds: tuple[Any, ...]) -> Callable[..., Any]:
        """What Python calls for arguments of these types; tables are given by their addresses."""
        code: Callable[..., Any] = self._compiled(kinds).entry_point
        return code

    def address(self, kinds: tuple[Any, ...]) -> int:
        """Where the machine code for these types begins, for kernels that call it by its address
        (`border.caller`).
        """
        result = self._compiled(kinds)
        return int(aside(result.library.get_pointer_to_function, result.fndesc.llvm_func_name))

    def _compiled(self, kinds: tuple[Any, ...]) -> Any:
        entry = self._dispatcher()
        if kinds not in entry.overloads:
            aside(entry.compile, kinds)
        return entry.overloads[kinds]

    def _dispatcher(self) -> Any:
        if self._entry is None:
            entry = numba.njit(pipeline_class=linking.ENTRY, **self._options)(self.py_func)
            entry._cache = MachineCode(self.py_func)
            entry._compile_for_args = partial(aside, entry._compile_for_args)  # when Python calls it
            self._entry = entry
        return self._entry


def _compiled(function: _Function, options: dict[str, Any], pipeline: Any = linking.INNER) -> _Function:
    return function if numba.config.DISABLE_JIT else Kernel(function, options, pipeline)  # type: ignore[return-value]


def kernel(function: _Function) -> _Function:
    """Compile a function that makes no arrays.

    It need not count references to those it is handed, which in short functions would cost more than the work
    itself.
    """
    return _compiled(function, {"_nrt": False})


def inlined(function: _Function) -> _Function:
    """Compile a function that makes no arrays and that every round runs through: it becomes part of its
    callers.
    """
    return _compiled(function, {"_nrt": False, "forceinline": True})


def allocating(function: _Function) -> _Function:
    """Compile a function that makes arrays, or returns a part of one."""
    return _compiled(function, {"_nrt": True})


def long_running(function: _Function) -> _Function:
    """Compile a function that makes no arrays and may take seconds: other threads of Python run meanwhile.

    A call of a round holds Python's lock: whoever lets go of it beside a busy thread waits milliseconds to
    get it back (docs/threads.md).
    """
    return _compiled(function, {"_nrt": False, "nogil": True})


def loop(function: _Function) -> _Function:
    """Compile a function whose loops are vectorised before it becomes part of its callers."""
    return _compiled(function, {"_nrt": False, "forceinline": True}, linking.LOOP)


def lane(function: _Function) -> _Function:
    """Compile the arithmetic of one lane of a vectorised loop: inlined, and products may be added without
    rounding in between.
    """
    return _compiled(function, {"_nrt": False, "forceinline": True, "fastmath": {"contract"}})


def summing(function: _Function) -> _Function:
    """Compile a sum whose order does not matter: as `lane`, and several parts of it are summed at once."""
    return _compiled(function, {"_nrt": False, "forceinline": True, "fastmath": {"contract", "reassoc"}})


def entry(function: _Function, name: str) -> _Function:
    """Compile a function that is made anew for each kind of model, under a name of its own: two pieces of
    machine code never share one.
    """
    function.__module__, _, function.__qualname__ = name.rpartition(".")
    return _compiled(function, {"_nrt": False})


def entry_long(function: _Function, name: str) -> _Function:
    """Compile an `entry` that may take seconds, as `long_running`."""
    function.__module__, _, function.__qualname__ = name.rpartition(".")
    return long_running(function)


def with_addresses(kernel: Callable[..., Any], n_addresses: int, *others: Any) -> Callable[..., Any]:
    """A kernel whose first arguments are addresses; the others are looked at once, whatever comes later."""
    if not isinstance(kernel, Kernel):
        return kernel
    tables = [Table(value) if is_named_tuple(value) else None for value in others]
    pairs = list(zip(others, tables, strict=True))
    kinds = tuple(numba.typeof(value) if table is None else table.kind for value, table in pairs)
    code = kernel.code((numba.int64,) * n_addresses + kinds)
    handed = tuple(value if table is None else table.address for value, table in pairs)

    def call(
        *arguments: Any, _kept: Any = pairs
    ) -> Any:  # the tables live as long as their addresses are used
        return code(*arguments[:n_addresses], *handed)

    return call
