"""The schema as compiled code reads it: kind, number of values and place in a row of statistics of every
feature.
"""

from __future__ import annotations

import numpy as np

from banditboost.rows.columns import Place
from banditboost.rows.schema import Schema
from banditboost.types import Array

NUMERIC, NOMINAL, WORD, WEIGHT = 0, 1, 2, 3
FEATURE = np.dtype([("kind", "i4"), ("offset", "i4"), ("n_values", "i4"), ("capacity", "i4")], align=True)
_NUMBERS = {"numeric": NUMERIC, "nominal": NOMINAL, "word": WORD, "weight": WEIGHT}


def feature_table(schema: Schema) -> Array:
    """A line for each number of a coded row."""
    return _table(schema.places())


def column_table(schema: Schema) -> Array:
    """A line for each column: what trees know of a row. Words are not among them."""
    return _table([place for place in schema.places() if place.kind in ("numeric", "nominal")])


def _table(places: list[Place]) -> Array:
    table = np.zeros(len(places), FEATURE)
    table["kind"] = [_NUMBERS[place.kind] for place in places]
    table["n_values"] = [place.n_values for place in places]
    table["capacity"] = [_room(place.kind, place.n_values) for place in places]
    table["offset"][1:] = np.cumsum(table["capacity"])[:-1]
    return table


def _room(kind: str, n_values: int) -> int:
    """Three numbers for a numeric feature; for a nominal one's values a power of two, so that the layout
    changes rarely.
    """
    if kind == "nominal":
        return max(4, 1 << max(n_values - 1, 0).bit_length())
    return 3 if kind == "numeric" else 0
