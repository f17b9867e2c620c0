"""Inner kernels stay LLVM's intermediate code; only what Python calls becomes machine code.

Numba optimises every function together with all that it calls and turns each into machine code, though Python
calls only a few of them. So a kernel at the bottom of the house is compiled again for each one above it. Here
an inner kernel is only lowered. What Python calls (an *entry*) links the intermediate code of all kernels
below it once, and is optimised once. This cuts compile time to a third.

It rests on names that Numba does not document. Where a version lacks one of them, `AVAILABLE` is False, and
kernels are compiled in Numba's own way: slower to start, with the same results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from numba.core import codegen, compiler, config

from banditboost.compiled.aside import give_up_at_the_end

_ENVIRONMENT = "_ZN08NumbaEnv"
_NEEDED = {
    codegen.JITCodeLibrary: (
        "_get_module_for_linking",
        "_optimize_final_module",
        "_finalize_final_module",
        "finalize",
    ),
    compiler.CompilerBase: ("_compile_core",),
}
AVAILABLE = all(hasattr(owner, name) for owner, names in _NEEDED.items() for name in names)


class _WithoutEnvironments:
    """The code generator as an inner library sees it: its environment has no address before an entry is
    linked.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to do: `_EntryLibrary` sets the environments of all that it has linked."""


def _optimise(library: Any) -> None:
    """Let LLVM optimise a library; statements that do the same to neighbouring numbers become one.

    Numba leaves this out unless it is told otherwise for the whole process.
    """
    before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
    try:
        library._optimize_final_module()
    finally:
        config.SLP_VECTORIZE = before


class _InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The intermediate code of one kernel, neither optimised as a whole nor turned into machine code."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 (Numba asks for the wrapper that Python would call)
        return 0


class _LoopLibrary(_InnerLibrary):
    """The intermediate code of one kernel and all below it, optimised by itself: its loops are vectorised
    before it becomes part of others.

    Within its callers LLVM would know too much: lengths that are constants there make it unroll a loop, and
    not vectorise it.
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in _callers_first(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._linking_libraries: list[Any] = []
        _optimise(self)
        self._finalized = True


class _EntryLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The machine code of an entry and of all kernels below it."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        own = {function.name for function in self._final_module.functions if not function.is_declaration}
        for library in _callers_first(self._linking_libraries):
            _inherit_start(self, library)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            # What was linked in is this entry's alone: machine code of another process must not be taken for
            # it.
            if (
                not function.is_declaration
                and function.name not in own
                and str(function.linkage) == "Linkage.linkonce_odr"
            ):
                function.linkage = "internal"
        _optimise(self)
        self._final_module.verify()
        self._finalize_final_module()
        self._set_environments()

    def _set_environments(self) -> None:
        from numba.core.compiler import lookup_environment

        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT) and not variable.is_declaration:
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


def _inherit_start(library: Any, below: Any) -> None:
    """What a process has to do before it runs kernels that it has loaded is up to the library above them.

    Before 0.63 Numba kept this elsewhere, and our kernels need nothing of it.
    """
    if hasattr(library, "_reload_init"):
        library._reload_init.update(below._reload_init)


def _callers_first(libraries: list[Any]) -> Iterator[Any]:
    """All libraries below these, callers before callees: LLVM takes only what is wanted by then."""
    order: list[Any] = []
    seen: set[int] = set()

    def visit(library: Any) -> None:
        if id(library) not in seen:
            seen.add(id(library))
            if isinstance(library, _InnerLibrary):  # Numba's own libraries hold what they call
                for callee in reversed(library._linking_libraries):
                    visit(callee)
            order.append(library)

    for library in reversed(libraries):
        visit(library)
    return reversed(order)


class _Flags(compiler.Flags):  # type: ignore[misc]
    """Compiler options that do not change: one object for each combination.

    Numba looks options up in dicts a hundred thousand times. Its own hash is the same for all combinations,
    and takes all options one by one; so does each comparison.
    """

    _known: ClassVar[dict[Any, _Flags]] = {}

    @classmethod
    def of(cls, flags: Any) -> _Flags:
        key = tuple(sorted((name, repr(value)) for name, value in flags.values().items()))
        return cls._known.setdefault(key, cls(flags))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is not _Flags and super().__eq__(other))

    def copy(self) -> _Flags:
        return self


def _with_library(kind: type[Any]) -> Any:
    class Pipeline(compiler.Compiler):  # type: ignore[misc]
        def _compile_core(self) -> Any:
            give_up_at_the_end()
            self.state.flags = _Flags.of(self.state.flags)
            return super()._compile_core()

        def define_pipelines(self) -> Any:
            self.state.library = kind(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            return super().define_pipelines()

    return Pipeline


INNER: Any = _with_library(_InnerLibrary) if AVAILABLE else compiler.Compiler
"""The pipeline of kernels that other kernels call."""
LOOP: Any = _with_library(_LoopLibrary) if AVAILABLE else compiler.Compiler
"""The pipeline of kernels that other kernels call and whose loops are to be vectorised by themselves."""
ENTRY: Any = _with_library(_EntryLibrary) if AVAILABLE else compiler.Compiler
"""The pipeline of what Python calls."""
