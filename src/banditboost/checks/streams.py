"""Rows that a model can take, with right labels: few and easy ones again and again, so that whoever learns them soon need not grow."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from banditboost.schema import Schema

Array = np.ndarray[Any, Any]
_CYCLE = 24
_MOST_LABELS = 4  # that are ever right
_USUAL = Schema(numeric=["size", "age"], nominal={"colour": ["red", "green", "blue"]})
_VALUES = ("red", "green", "blue")


class Lesson(NamedTuple):
    x: Any
    right: Hashable


def lessons(model: Any, n: int, first: int = 0) -> list[Lesson]:
    """Rows as dicts, by the declared schema of the model if it has one; one in seven values is missing."""
    schema = _schema_of(model)
    return [Lesson(dict(_row(schema, t)), _right(model, t)) for t in range(first, first + n)]


def array_lessons(model: Any, n: int, first: int = 0) -> list[Lesson]:
    """The same rows as arrays: numbers, and the codes of nominal values if the model has declared them."""
    schema = _schema_of(model)
    return [Lesson(_coded(model, schema, t), _right(model, t)) for t in range(first, first + n)]


def _schema_of(model: Any) -> Schema:
    schema = getattr(model, "schema", None)
    return schema if isinstance(schema, Schema) and schema.declared else _USUAL


def _right(model: Any, t: int) -> Hashable:
    labels = model.labels
    right: Hashable = labels[_place(t) * min(len(labels), _MOST_LABELS) // _CYCLE]
    return right


def _place(t: int) -> int:
    """From 0 to 23, in an order that has nothing to do with the labels; they and all features are steps of it."""
    return t * 7 % _CYCLE


def _row(schema: Schema, t: int) -> Iterator[tuple[Hashable, Any]]:
    for place, (name, kind) in enumerate(zip(schema.names, schema.kinds, strict=True)):
        step, values = _place(t), schema.values(name) or _VALUES
        value = float(step // (place + 1)) if kind == "numeric" else values[step * len(values) // _CYCLE]
        yield name, None if (step + 5 * place) % 7 == 6 else value


def _coded(model: Any, schema: Schema, t: int) -> Array:
    row = dict(_row(schema, t))
    if schema is _USUAL:
        numbers = [row["size"], row["age"], None if row["colour"] is None else _VALUES.index(row["colour"])]
    else:
        known = [model.schema.values(name) for name in schema.names]
        numbers = [_code(value, values) for value, values in zip(row.values(), known, strict=True)]
    return np.array([math.nan if number is None else number for number in numbers], dtype=np.float64)


def _code(value: Any, values: tuple[Hashable, ...]) -> float | None:
    if isinstance(value, str):
        return float(values.index(value)) if value in values else None
    return None if value is None else float(value)
