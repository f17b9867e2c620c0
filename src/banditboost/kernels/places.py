"""Arrays by their addresses.

A call from Python looks at every array that it is given, which takes as long as the vote of a tree. The arrays of a model stay the same
from round to round, so their addresses and lengths are written down once, and a call is given those.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np

from banditboost.kernels.compile import inlined
from banditboost.kernels.layout import ENTRY, FEATURE, HEAD, NODE, STEP, TREE, Array, Forest

FLOAT, INT = np.dtype(np.float64), np.dtype(np.int64)


def places_of(arrays: tuple[Array, ...]) -> Array:
    """Address and length of each. It is true as long as the arrays are kept."""
    return np.array([number for array in arrays for number in (array.__array_interface__["data"][0], array.size)], np.int64)


if numba.config.DISABLE_JIT:

    def array_at(places: Array, number: int, dtype: Any) -> Array:
        """The array with this number among those that were written down."""
        address, size = int(places[2 * number]), int(places[2 * number + 1])
        return np.ndarray(size, dtype, (ctypes.c_char * (size * dtype.itemsize)).from_address(address))

else:
    from numba.core import types
    from numba.extending import intrinsic
    from numba.np import arrayobj

    @intrinsic  # type: ignore[untyped-decorator]
    def array_at(typing_context: Any, places: Any, number: Any, dtype: Any) -> Any:  # noqa: ARG001 (Numba hands it over)
        """The array with this number among those that were written down."""
        kind = types.Array(dtype.dtype, 1, "C")

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            table = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
            one = context.get_constant(types.int64, 1)
            first = builder.shl(arguments[1], one)
            address = builder.load(builder.gep(table.data, [first]))
            size = builder.load(builder.gep(table.data, [builder.add(first, one)]))
            item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            array = arrayobj.make_array(kind)(context, builder)
            data = builder.inttoptr(address, array.data.type)
            arrayobj.populate_array(array, data=data, shape=(size,), strides=(item,), itemsize=item, meminfo=None)
            return array._getvalue()

        return kind(places, types.int64, dtype), code


@inlined
def forest_at(places: Array) -> Forest:
    """The forest, whose arrays come first."""
    return Forest(
        array_at(places, 0, HEAD),
        array_at(places, 1, TREE),
        array_at(places, 2, STEP),
        array_at(places, 3, NODE),
        array_at(places, 4, ENTRY),
        array_at(places, 5, FEATURE),
        array_at(places, 6, FLOAT),
    )
