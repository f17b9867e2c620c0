"""What the machine code of somebody else's booster depends on.

That is its kernels, the kernels that they call, and the values that they read. A digest of our own sources guards
our machine code (compiled/store.py). Other people's kernels may be written anywhere, in a notebook for example. So
their bytecode is looked at, and a booster that was edited never meets the machine code from before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def code_digest(*kernels: Callable[..., Any]) -> str:
    """Eight characters that change when a kernel does, or anything that it uses; none if all kernels are ours."""
    if all(_is_ours(kernel) for kernel in kernels):
        return ""
    digest = hashlib.sha256()
    for part in _parts(kernels, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:8]


def _is_ours(kernel: Any) -> bool:
    return str(kernel.__module__).startswith("banditboost.")


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """What a value is made of, in words that are the same in every process."""
    function = getattr(value, "py_func", value)
    if isinstance(function, FunctionType):
        if _is_ours(function):
            yield f"{function.__module__}.{function.__qualname__}"
        elif id(function) not in seen:
            seen.add(id(function))
            yield from _function_parts(function, seen)
    elif isinstance(value, CodeType):
        yield value.co_code.hex()
        yield from _parts((value.co_names, value.co_consts), seen)
    elif isinstance(value, ModuleType):
        yield value.__name__ + _file_digest(value)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif type(value) in (tuple, list):
        yield f"{len(value)} values"
        for part in value:
            yield from _parts(part, seen)
    else:
        yield repr(value)


def _function_parts(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _parts(function.__code__, seen)
    yield from _parts(function.__defaults__, seen)
    yield from _parts([cell.cell_contents for cell in function.__closure__ or ()], seen)
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name
            yield from _parts(function.__globals__[name], seen)


def _names(code: CodeType) -> list[str]:
    """The names that a function and the functions within it read from elsewhere."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return sorted({*code.co_names, *inner})


def _file_digest(module: ModuleType) -> str:
    path = Path(module.__file__ or "") if hasattr(module, "__file__") else Path()
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".py" and path.exists() else ""
