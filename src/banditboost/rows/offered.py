"""A context and the options of one round as numbers: a joint row for each option.

Rows that bring anything new or odd go through the schema one by one. Those whose names were met before are
coded together: the context once, and options with the same names in a few calls for all of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.catalogue import Catalogue
from banditboost.rows.encoding import Codes
from banditboost.rows.options import OPTION, PREFIX, Options, sides
from banditboost.rows.plain import LARGEST
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array

_NUMBERS = frozenset({float, int})
_MOST_PLANS = 256
_code = dict.__getitem__


class _Plan(NamedTuple):
    """How options with certain names are coded."""

    take: Callable[[Any], tuple[Any, ...]]  # the numbers, in the order of their places,
    at: Any  # which are a slice of a joint row if they follow each other
    n_numbers: int
    nominal: tuple[tuple[Any, Codes, int], ...]  # name, codes and place of each of the others


class OfferedEncoder:
    """Codes what is offered for one version of a schema."""

    __slots__ = ("_came", "_catalogue", "_of_context", "_own", "_plans", "_schema")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._of_context = frozenset(name for name in schema.names if not _is_of_options(name))
        self._plans: dict[tuple[Hashable, ...], _Plan | None] = {}
        self._came: list[tuple[Hashable, str]] = []
        own = np.flatnonzero(sides(schema)).tolist()
        self._own = _slice_of(own)
        self._catalogue = Catalogue(len(own))

    def encode(self, x: Mapping[Any, Any], options: Options, rows: Array) -> bool:
        """Write a joint row for each option; False, with some of them written, if anything is new or odd."""
        if type(x) is not dict or not x.keys() <= self._of_context:
            return False
        if set(map(type, options.features)) != {dict}:
            return False
        row = np.full(len(self._schema), np.nan)
        with self._schema.gathering() as came:
            if not self._schema.encode(x, row) or not self._write(options, row, rows):
                return False
        if came:
            self._schema.write_notes(came)
        return True

    def _write(self, options: Options, row: Array, rows: Array) -> bool:
        """Write the context and the options' columns, of those that are known from the catalogue."""
        rows[:] = row
        ids, features = options
        others = self._catalogue.write(ids, features, rows, self._own)
        if not others:
            return True
        lines = np.empty((len(others), len(row)))
        lines[:] = row
        some = [features[i] for i in others]
        if not self._write_new(some, lines):
            return False
        rows[others] = lines
        if not self._came:
            self._catalogue.keep([ids[i] for i in others], some, lines[:, self._own])
        return True

    def _write_new(self, features: Sequence[Any], rows: Array) -> bool:
        """Code options' columns; False, with some of them written, if anything is odd."""
        plan = self._plan_of(tuple(features[0]))
        if plan is None:
            return False
        self._came.clear()
        if not self._write_alike(plan, features, rows, None):
            self._came.clear()
            for names, group in _by_names(features).items():
                plan, members = self._plan_of(names), [features[i] for i in group]
                if plan is None or not self._write_alike(plan, members, rows, np.array(group)):
                    return False
        if self._came:
            self._schema.write_notes(self._came)
        return True

    def _write_alike(self, plan: _Plan, features: Sequence[Any], rows: Array, where: Any) -> bool:
        """Write those of options that have the same names; False if they have not, or a value is odd."""
        n_numbers = plan.n_numbers
        if set(map(len, features)) != {n_numbers + len(plan.nominal)}:
            return False
        try:
            flat = list(chain.from_iterable(map(plan.take, features)))
            if not _NUMBERS.issuperset(map(type, flat)):
                return False
            values = np.frombuffer(struct.pack(f"{len(flat)}d", *flat))
            names = [[_code(codes, of[name]) for of in features] for name, codes, _ in plan.nominal]
        # Other names, a value that joins, a huge integer.
        except (KeyError, OverflowError, TypeError, struct.error):
            return False
        if (np.abs(values) > LARGEST).any():
            return False
        lines = rows if where is None else rows[where]
        lines[:, plan.at] = values.reshape(len(features), n_numbers)
        for (_, _, place), column in zip(plan.nominal, names, strict=True):
            lines[:, place] = column
        if where is not None:
            rows[where] = lines
        return True

    def _plan_of(self, names: tuple[Hashable, ...]) -> _Plan | None:
        if names not in self._plans:
            if len(self._plans) >= _MOST_PLANS:
                return None
            self._plans[names] = self._made_plan(names)
        return self._plans[names]

    def _made_plan(self, names: tuple[Hashable, ...]) -> _Plan | None:
        """None if some of the names have not joined."""
        columns: dict[Hashable, str] = {name: f"{PREFIX}{name}" for name in names if isinstance(name, str)}
        kinds = dict(zip(self._schema.names, self._schema.kinds, strict=True))
        if len(columns) < len(names) or any(column not in kinds for column in columns.values()):
            return None
        at = {place.name: index for index, place in enumerate(self._schema.places())}
        ordered = sorted(names, key=lambda name: at[columns[name]])
        numeric = [name for name in ordered if kinds[columns[name]] == "numeric"]
        nominal = tuple(
            (name, Codes(self._schema, columns[name], self._came), at[columns[name]])
            for name in ordered
            if kinds[columns[name]] == "nominal"
        )
        places = [at[columns[name]] for name in numeric]
        return _Plan(_taker(numeric), _slice_of(places), len(numeric), nominal)


def _is_of_options(name: Hashable) -> bool:
    return isinstance(name, str) and name.startswith(PREFIX)


def _taker(names: Sequence[Any]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda features: tuple([features[name] for name in names])


def _slice_of(places: list[int]) -> Any:
    """Places as a slice, if they follow each other."""
    first = places[0] if places else 0
    together = places == list(range(first, first + len(places)))
    return slice(first, first + len(places)) if together else np.array(places, np.int64)


def _by_names(features: Sequence[Any]) -> dict[tuple[Hashable, ...], list[int]]:
    """The options' places by the names that they have."""
    found: dict[tuple[Hashable, ...], list[int]] = {}
    for i, one in enumerate(features):
        found.setdefault(tuple(one), []).append(i)
    return found


def encode_if_known(schema: Schema, x: Mapping[Any, Any], options: Options) -> Array | None:
    """A joint row for each option, coded one by one; None if any brings what has not joined. It refuses a bad
    one.
    """
    with schema.gathering() as came:
        rows = [
            _of_option(schema.code_if_known, x, id_, features) for id_, features in zip(*options, strict=True)
        ]
    coded = [row for row in rows if isinstance(row, np.ndarray)]
    if len(coded) < len(rows):
        return None
    if came:
        schema.write_notes(came)
    return np.stack(coded)


def admit(schema: Schema, x: Mapping[Any, Any], options: Options) -> Array:
    """A joint row for each option, after what they bring has joined."""
    with schema.gathering() as came:
        rows = [_of_option(schema.code, x, id_, features) for id_, features in zip(*options, strict=True)]
    if came:
        schema.write_notes(came)
    return _stacked(rows, len(schema))


def encode_known(schema: Schema, x: Mapping[Any, Any], options: Options) -> Array:
    """A joint row for each option, without what has not joined; nothing joins, and nothing is noted."""
    rows = [_of_option(schema.code_known, x, id_, features) for id_, features in zip(*options, strict=True)]
    return np.stack(rows)


def _of_option(
    code: Callable[[Any], Any], x: Mapping[Any, Any], id_: Hashable, features: Mapping[Any, Any]
) -> Any:
    try:
        return code({**x, OPTION: features})
    except FeatureError as error:
        raise FeatureError(f"option {quoted(id_)}: {error}") from None


def _stacked(rows: Sequence[Array], width: int) -> Array:
    """Rows as a matrix: what joined after a row was coded is missing in it."""
    made = np.full((len(rows), width), np.nan)
    for line, row in zip(made, rows, strict=True):
        line[: len(row)] = row
    return made
