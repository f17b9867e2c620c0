"""Rows that a model can take, with right labels.

They are few and easy, again and again, so that whoever has learned them need not grow any more.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from banditboost.rows.schema import Schema
from banditboost.types import Array

_CYCLE = 24
_MOST_LABELS = 4  # that are ever right
_VALUES = ("red", "green", "blue")
_USUAL = Schema(numeric=["size", "age"], nominal={"colour": _VALUES})


class Lesson(NamedTuple):
    x: Any
    right: Hashable


def lessons(model: Any, n: int, first: int = 0) -> list[Lesson]:
    """Rows as dicts, by the declared schema of the model if it has one; one in seven values is missing."""
    schema = _schema_of(model)
    return [Lesson(dict(_row(schema, t)), _right(model, t)) for t in range(first, first + n)]


def word_lessons(model: Any, n: int) -> list[Lesson]:
    """Rows of `lessons` with a list of words and a text besides."""
    return [
        Lesson({**x, "tags": list(_tags(t)), "title": _text(t)}, right)
        for t, (x, right) in enumerate(lessons(model, n))
    ]


def array_lessons(model: Any, n: int) -> list[Lesson]:
    """Rows of `lessons` as arrays: numbers, and codes for nominal values; dicts if there are only words."""
    schema = _schema_of(model)
    if not schema.names:
        return lessons(model, n)
    return [Lesson(_coded(schema, t), _right(model, t)) for t in range(n)]


def _schema_of(model: Any) -> Schema:
    schema = getattr(model, "schema", None)
    return schema if isinstance(schema, Schema) and schema.declared else _USUAL


def _right(model: Any, t: int) -> Hashable:
    labels = model.labels
    right: Hashable = labels[_place(t) * min(len(labels), _MOST_LABELS) // _CYCLE]
    return right


def _place(t: int) -> int:
    """A number from 0 to 23, in an order that has nothing to do with the labels.

    Labels and features are steps of it.
    """
    return t * 7 % _CYCLE


def _row(schema: Schema, t: int) -> Iterator[tuple[Hashable, Any]]:
    for place, (name, kind) in enumerate(zip(schema.names, schema.kinds, strict=True)):
        step, values = _place(t), schema.values(name) or _VALUES
        value = float(step // (place + 1)) if kind == "numeric" else values[step * len(values) // _CYCLE]
        yield name, None if (step + 5 * place) % 7 == 6 else value
    for place, name in enumerate(schema.words if schema.takes_words else ()):
        yield name, _text(t) if place % 2 == 0 else list(_tags(t))


def _tags(t: int) -> tuple[str, ...]:
    """None to five words."""
    return tuple(f"word {_place(t) // (i + 1)}" for i in range(_place(t) % 6))


def _text(t: int) -> str:
    return f"The story of number {_place(t)}, told by {_VALUES[_place(t) % 3]}"


def _coded(schema: Schema, t: int) -> Array:
    row = dict(_row(schema, t))
    return np.array([_code(row[name], schema.values(name)) for name in schema.names])


def _code(value: Any, values: tuple[Hashable, ...]) -> float:
    """Values that are not known have no code."""
    if isinstance(value, float):
        return value
    return float(values.index(value)) if value in values else math.nan
