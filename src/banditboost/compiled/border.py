"""The border between Python and machine code: named tuples of arrays, handed over by address and read by
name.

A call from Python looks at every array that it is given, which takes as long as the vote of a tree. The
arrays of a model stay the same from round to round. So their addresses and lengths are written down once, in
a *table*, and a call is given the table's address. A kernel reads `model.forest.nodes` from it as if it had
been given the tuple itself; without the compiler it is given the tuple itself.

A tuple may hold arrays (contiguous), single records of NumPy, numbers, kernels that were made callable by
address (`Address`), and tuples. What a table says is true as long as the arrays are kept, and must not be
changed while a kernel runs.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numba.np import arrayobj, numpy_support

_WORD = 8  # bytes


class Field(NamedTuple):
    """What stands at one place of a table."""

    name: str
    kind: Any  # Numba's type
    word: int  # where


class TableType(types.Type):
    """The type of a named tuple that was written down in a table: to machine code one pointer."""

    def __init__(self, name: str, fields: tuple[Field, ...], size: int) -> None:
        self.fields = fields
        self.size = size
        self._kinds = {field.name: field for field in fields}
        digest = hashlib.sha256(
            repr([(field.name, str(field.kind)) for field in fields]).encode()
        ).hexdigest()
        super().__init__(name=f"table({name} {digest[:8]})")

    @property
    def key(self) -> Any:
        return self.name  # which holds a digest of the fields

    @property
    def mangling_args(self) -> Any:
        return self.name, ()

    def field(self, name: str) -> Field | None:
        return self._kinds.get(name)


@functools.cache
def _scalar_type(dtype: np.dtype[Any]) -> Any:
    return numpy_support.from_struct_dtype(dtype) if dtype.names else numpy_support.from_dtype(dtype)


@functools.cache
def _array_type(dtype: np.dtype[Any], n_dimensions: int) -> Any:
    return types.Array(_scalar_type(dtype), n_dimensions, "C")


class Address:
    """Where a kernel's machine code is, for kernels that call it by its address: 0 before it was compiled.

    Without the compiler it stands for the kernel itself.
    """

    def __init__(self, kernel: Callable[..., Any]) -> None:
        # Behind a function: whoever walks through the objects of a model, to measure them, stays out of the
        # compiler.
        self._kernel: Callable[[], Any] = lambda: kernel
        self.address = 0

    def __call__(self, *arguments: Any) -> Any:
        return self._kernel()(*arguments)

    def compile(self, kinds: tuple[Any, ...]) -> None:
        """Compile the kernel for arguments of these types, unless that was done before."""
        if self.address == 0 and not numba.config.DISABLE_JIT:
            self.address = self._kernel().address(kinds)

    def __deepcopy__(self, memo: dict[int, Any]) -> Address:
        return self


def is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def arrays_in(value: Any) -> list[Any]:
    """The arrays of nested tuples; of a record the array that it is part of."""
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_in(part)]
    if isinstance(value, np.void):
        return [value.base]
    return [value] if isinstance(value, np.ndarray) else []


def _type_of(value: Any) -> tuple[Any, int]:
    """The type of what stands in a table, and how many words it takes."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("an array of a table must be contiguous; give np.ascontiguousarray(array)")
        return _array_type(value.dtype, value.ndim), 1 + value.ndim
    if isinstance(value, np.void):
        if not isinstance(value.base, np.ndarray):  # its memory would not be the one that NumPy tells
            raise TypeError("a record of a table must be part of an array; give np.zeros(1, dtype)[0]")
        return _scalar_type(value.dtype), 1
    if isinstance(value, (int, Address)):
        return types.int64, 1
    if isinstance(value, float):
        return types.float64, 1
    table = table_type(value)
    return table, table.size


@functools.cache
def _table_type(name: str, names: tuple[str, ...], kinds: tuple[tuple[Any, int], ...]) -> TableType:
    fields, word = [], 0
    for field, (kind, size) in zip(names, kinds, strict=True):
        fields.append(Field(field, kind, word))
        word += size
    return TableType(name, tuple(fields), word)


def table_type(value: Any) -> TableType:
    """The type of a named tuple's table."""
    if not is_named_tuple(value):
        raise TypeError(
            f"{value!r} of type {type(value).__name__} cannot be handed to a kernel; give arrays, records, "
            "or a named tuple of these"
        )
    kind = type(value)
    return _table_type(f"{kind.__module__}.{kind.__qualname__}", kind._fields, tuple(map(_type_of, value)))


def _address_of(record: np.void) -> int:
    """Where a record lies; its `__array_interface__` would tell, too, and lose an exception from outside."""
    return np.frombuffer(record, np.uint8).ctypes.data


def _words(value: Any) -> list[int]:
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    if isinstance(value, np.void):
        return [_address_of(value)]
    if isinstance(value, Address):
        return [value.address]
    if isinstance(value, int):
        return [value]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.int64))]
    return [word for part in value for word in _words(part)]


class Table:
    """A named tuple as machine code reads it. It keeps the tuple: addresses of its arrays are handed over."""

    __slots__ = ("_words", "address", "kind", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind = table_type(value)
        self._words = np.array(_words(value), np.int64)
        self.address: Any = self._words.ctypes.data

    def refresh(self) -> None:
        """Write down the addresses of kernels that were compiled since."""
        self._words[:] = _words(self.value)

    def renewed(self, value: Any) -> Table:
        """The table of a tuple some of whose parts are others: only these are looked at."""
        made = self.__new__(type(self))
        made.kind, made.value, made._words = self.kind, value, self._words.copy()
        if not _rewrite(made._words, 0, self.kind, self.value, value):
            return Table(value)
        made.address = made._words.ctypes.data
        return made


def _rewrite(words: Any, start: int, kind: TableType, before: Any, after: Any) -> bool:
    """Write down what is another object than before; False if it is of another type."""
    for field, old, new in zip(kind.fields, before, after, strict=True):
        at = start + field.word
        if type(field.kind) is TableType:  # types of Numba take long to tell whether something is one of them
            if new is not old and (
                type(new) is not type(old) or not _rewrite(words, at, field.kind, old, new)
            ):
                return False
        elif new is not old or isinstance(new, Address):  # which may have been compiled since
            if not _are_alike(old, new):
                return False
            found = _words(new)
            words[at : at + len(found)] = found
    return True


def _are_alike(one: Any, other: Any) -> bool:
    """Whether this can take the place of another one."""
    if type(one) is not type(other):
        return False
    if not isinstance(one, np.ndarray):
        return _type_of(one) == _type_of(other)
    same = one.dtype is other.dtype or one.dtype == other.dtype
    return same and one.ndim == other.ndim and bool(other.flags.c_contiguous)


@register_model(TableType)
class _TableModel(models.OpaqueModel):  # type: ignore[misc]
    """One pointer."""


@unbox(TableType)  # type: ignore[untyped-decorator]
def _unbox_table(kind: Any, number: Any, c: Any) -> Any:  # noqa: ARG001 (Numba hands it over)
    address = c.pyapi.long_as_longlong(number)
    return NativeValue(c.builder.inttoptr(address, cgutils.voidptr_t))


@infer_getattr
class _TableAttributes(AttributeTemplate):  # type: ignore[misc]
    key = TableType

    def generic_resolve(self, table: TableType, name: str) -> Any:
        field = table.field(name)
        return None if field is None else field.kind


@lower_getattr_generic(TableType)  # type: ignore[untyped-decorator]
def _read_field(context: Any, builder: Any, table: TableType, pointer: Any, name: str) -> Any:
    field = table.field(name)
    assert field is not None
    word = cgutils.pointer_add(builder, pointer, context.get_constant(types.intp, _WORD * field.word))
    if isinstance(field.kind, TableType):
        return word
    words = builder.bitcast(word, cgutils.intp_t.as_pointer())
    if isinstance(field.kind, types.Array):
        return _array_at(context, builder, field.kind, words)
    number = _load(builder, words, 0)
    if isinstance(field.kind, types.Record):
        return builder.inttoptr(number, context.get_value_type(field.kind))
    return (
        number if field.kind is types.int64 else builder.bitcast(number, context.get_value_type(field.kind))
    )


def _load(builder: Any, words: Any, number: int) -> Any:
    """One word of a table.

    Tables do not change while a kernel runs: LLVM need not read it again after something was written.
    """
    loaded = builder.load(cgutils.gep(builder, words, number))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _array_at(context: Any, builder: Any, kind: Any, words: Any) -> Any:
    array = arrayobj.make_array(kind)(context, builder)
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape = [_load(builder, words, 1 + i) for i in range(kind.ndim)]
    strides = [item]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(_load(builder, words, 0), array.data.type)
    arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
    return array._getvalue()


def _passed(context: Any, builder: Any, value: Any, before: Any, kind: Any) -> Any:
    """An argument as the called machine code takes it; a table may come as its address."""
    if kind is not TABLE:
        return context.cast(builder, value, before, kind)
    return builder.inttoptr(value, cgutils.voidptr_t) if isinstance(before, types.Integer) else value


def caller(returns: Any, *kinds: Any) -> Callable[..., Any]:
    """A function with which a kernel calls machine code at an address: `call(address, (model, row))`.

    An argument of kind `TABLE` is a table of any type. Without the compiler the address is the kernel itself.
    """
    if numba.config.DISABLE_JIT:
        return lambda kernel, arguments: kernel(*arguments)

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:  # noqa: ARG001 (Numba hands it over)
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given = zip(cgutils.unpack_tuple(builder, values[1]), signature.args[1], kinds, strict=True)
            passed = [_passed(context, builder, *one) for one in given]
            function_type = context.call_conv.get_function_type(returns, kinds)
            function = builder.inttoptr(values[0], function_type.as_pointer())
            status, result = context.call_conv.call_function(builder, function, returns, kinds, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return returns(address, arguments), code

    return call


TABLE = types.voidptr
"""The type of a table of any kind, in the signature of machine code that is called by address."""
