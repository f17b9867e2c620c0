"""The schema as compiled code reads it: kind, number of values and place in a row of statistics of every
feature.
"""

from __future__ import annotations

import numpy as np

from banditboost.rows.schema import Schema
from banditboost.types import Array

NUMERIC, NOMINAL = 0, 1
FEATURE = np.dtype([("kind", "i4"), ("offset", "i4"), ("n_values", "i4"), ("capacity", "i4")], align=True)


def feature_table(schema: Schema) -> Array:
    table, nominal = np.zeros(len(schema), FEATURE), np.array(schema.are_nominal(), bool)
    table["kind"] = np.where(nominal, NOMINAL, NUMERIC)
    table["n_values"] = schema.n_values()
    table["capacity"] = 3
    table["capacity"][nominal] = [_room(n) for n in table["n_values"][nominal].tolist()]
    table["offset"][1:] = np.cumsum(table["capacity"])[:-1]
    return table


def _room(n_values: int) -> int:
    """Room for a nominal feature's values: a power of two, so that the layout changes rarely."""
    return max(4, 1 << max(n_values - 1, 0).bit_length())
