"""Dict rows as vectors, fast: for rows that have the same names as one before.

`Schema.encode` looks at a row name by name. Here the names are looked at once, and kept as a *plan*: which
values to take from the dict, which of them are names, and where each goes. A row with other names goes name
by name; one with a value that joins, or that is neither float, int nor str, is left to the schema's longer
way.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from banditboost.rows.schema import Schema
from banditboost.types import Array

_PLAIN = frozenset({float, int, str})
_MOST_PLANS = 8
_LEAST_FULL = 0.5  # of the features: rows with fewer are coded sooner name by name
_code = dict.__getitem__
_Values = tuple[Any, ...]


class Codes(dict[Any, int]):
    """The codes of a nominal feature's values; a value that has no place of its own has a number, too."""

    def __init__(self, schema: Schema, name: Hashable, came: list[tuple[Hashable, str]]) -> None:
        super().__init__(zip(schema.values(name), count(), strict=False))
        self._schema, self._name, self._came = schema, name, came

    def __missing__(self, value: Any) -> int:
        code = self._schema.shared_code(self._name, value, self)
        if code is None:
            raise KeyError(value)
        self._came.append((self._name, value))
        return code


class _Plan(NamedTuple):
    """How rows with certain names are coded."""

    take: Callable[[Any], _Values]  # the values, numbers before names
    n_numbers: int
    codes: tuple[Codes, ...]  # of the names
    arrange: Callable[[_Values], _Values] | None  # into the schema's order, if it is not that already
    pack: Callable[..., bytes]


class Encoder:
    """Codes the dict rows of one version of a schema.

    Numbers that are too large are left to whoever reads the row.
    """

    __slots__ = ("_came", "_plans", "_schema")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._plans: dict[int, _Plan] = {}  # by how many names a row has
        self._came: list[tuple[Hashable, str]] = []  # values of the row at hand without a place of their own

    def encode(self, row: dict[Any, Any]) -> Array | None:
        """A row as float64, to be read only; None if it brings anything new or odd."""
        plan = self._plans.get(len(row))
        if plan is None:
            return self._encode_first(row)
        take, n_numbers, codes, arrange, pack = plan
        came = self._came
        if came:
            came.clear()
        try:
            values = take(row)
            if not _PLAIN.issuperset(map(type, values)):
                return None
            numbers = (*values[:n_numbers], *map(_code, codes, values[n_numbers:]))
            coded = np.frombuffer(pack(*(numbers if arrange is None else arrange(numbers))))
        except KeyError:  # another name, or a value that joins
            return self._encode_by_name(row)
        except (OverflowError, struct.error):  # a huge integer, or a text where numbers are
            return None
        if came:
            self._schema.write_notes(came)
        return coded

    def _encode_first(self, row: dict[Any, Any]) -> Array | None:
        """Code a row with so many names, and keep a plan for those like it."""
        coded, n_features = self._encode_by_name(row), len(self._schema)
        full = len(row) > 1 and len(row) >= _LEAST_FULL * n_features
        if coded is None or not full or len(self._plans) >= _MOST_PLANS:
            return coded
        if row.keys() <= set(self._schema.names):  # the others are words
            self._plans[len(row)] = _plan(self._schema, row, self._came)
        return coded

    def _encode_by_name(self, row: dict[Any, Any]) -> Array | None:
        out = np.full(len(self._schema), np.nan)
        return out if self._schema.encode(row, out) else None


def _plan(schema: Schema, row: dict[Any, Any], came: list[tuple[Hashable, str]]) -> _Plan:
    """For rows with the names of this one, all of which have joined."""
    kinds = dict(zip(schema.names, schema.kinds, strict=True))
    names = sorted(row, key=lambda name: kinds[name] == "nominal")
    nominal = [name for name in names if kinds[name] == "nominal"]
    codes = tuple(Codes(schema, name, came) for name in nominal)
    taken = {name: place for place, name in enumerate(names)}
    missing = len(names)  # the place after the last one holds NaN
    places = [taken.get(place.name, missing) for place in schema.places()]
    arrange = None if places == list(range(len(names))) else _arranger(places)
    pack = struct.Struct(f"{len(places)}d").pack
    return _Plan(itemgetter(*names), len(names) - len(nominal), codes, arrange, pack)


def _arranger(places: list[int]) -> Callable[[_Values], _Values]:
    taken = itemgetter(*places)
    return lambda numbers: taken((*numbers, np.nan))
