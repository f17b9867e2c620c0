"""The schema as compiled code reads it: kind, number of values and place in a row of statistics of every
feature.
"""

from __future__ import annotations

import numpy as np

from banditboost.rows.schema import Schema
from banditboost.types import Array

NUMERIC, NOMINAL, WORD, WEIGHT = 0, 1, 2, 3
FEATURE = np.dtype([("kind", "i4"), ("offset", "i4"), ("n_values", "i4"), ("capacity", "i4")], align=True)
_CAPACITIES = np.array([3, 0, 0, 0])  # by kind: a numeric feature's range; nominal ones have room for values
_NUMBERS = {"numeric": NUMERIC, "nominal": NOMINAL, "word": WORD, "weight": WEIGHT}


def feature_table(schema: Schema) -> Array:
    """A line for each number of a coded row; to be read only."""
    return schema.following(_table)


def column_table(schema: Schema) -> Array:
    """A line for each column: what trees know of a row. Words are not among them, and take no room."""
    table = feature_table(schema)
    return table if len(schema.names) == len(table) else table[table["kind"] <= NOMINAL]


def _table(schema: Schema) -> Array:
    places = schema.places()
    table = np.zeros(len(places), FEATURE)
    table["kind"] = kinds = np.array([_NUMBERS[place.kind] for place in places], np.int64)
    table["n_values"] = n_values = np.array([place.n_values for place in places], np.int64)
    table["capacity"] = room = _CAPACITIES[kinds] + np.where(kinds == NOMINAL, _room(n_values), 0)
    table["offset"] = np.cumsum(room) - room
    return table


def _room(n_values: Array) -> Array:
    """For a nominal feature's values: a power of two, so that the layout changes rarely."""
    bits: Array = np.frexp(np.maximum(n_values - 1, 0))[1]
    room: Array = np.maximum(4, 1 << bits)
    return room
