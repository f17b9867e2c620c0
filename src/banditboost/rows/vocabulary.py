"""What the numbers of a branch's decisions stand for.

A branch and the model that it was made from may meet new features, values and labels in different orders,
so that one number means one thing here and another there. A decision of a branch therefore tells its row by
names and values, and its labels by a digest of them; whoever learns it codes the row anew.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from banditboost.io.values import UnstorableError, encode
from banditboost.rows.plain import is_missing
from banditboost.rows.schema import Schema, Told
from banditboost.types import Array

_WHOLE = 1e15  # whole numbers below are written without a point
ToldRow = dict[Hashable, Any] | list[Any]
"""Names and values without what is missing; a list where rows have no names, with NaN for a number that is
missing and None for a place whose kind is not known yet."""


def labels_digest(labels: Iterable[Hashable]) -> str:
    """Sixteen characters that differ for other labels, or the same ones in another order."""
    digest = hashlib.sha256()
    for label in labels:
        digest.update(_label_text(label).encode() + b"\n")
    return digest.hexdigest()[:16]


def _label_text(label: Hashable) -> str:
    try:
        return json.dumps(encode(label))
    except UnstorableError:
        return "?"  # what it looks like may change from process to process


def as_taken(schema: Schema, row: ToldRow) -> Any:
    """A told row as a schema takes it: the first one may bring all places of an array, missing ones, too."""
    if isinstance(row, list) and not len(schema) and all(type(value) in (int, float) for value in row):
        return np.array(row, np.float64)
    return Told(row) if isinstance(row, dict) else row


def what_is_told(row: ToldRow) -> dict[Hashable, Any]:
    """The values of a told row that are not missing, by name or place: to compare rows with."""
    items = enumerate(row) if isinstance(row, list) else row.items()
    return {name: value for name, value in items if not is_missing(value)}


class LabelDigests:
    """Digests of the first labels of one model, which never change: new ones join after them."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}  # by how many labels

    def of(self, labels: Sequence[Hashable]) -> str:
        """The digest of these, which are the model's first ones."""
        n = len(labels)
        if n not in self._known:
            self._known[n] = labels_digest(labels)
        return self._known[n]


class FreshDigests(LabelDigests):
    """Digests of labels that are others in every decision."""

    def of(self, labels: Sequence[Hashable]) -> str:
        return labels_digest(labels)


class Vocabulary:
    """The schema that the rows of some decisions were coded with, and where in a memo these rows begin.

    The schema may be that of a model that goes on (`follow`): features and values join after those that there
    are.
    """

    __slots__ = ("_schema", "digests", "row_start")

    def __init__(self, schema: Schema, row_start: int) -> None:
        self._schema, self.row_start = schema, row_start
        self.digests: LabelDigests = LabelDigests()

    @classmethod
    def of_row(cls, row: ToldRow, row_start: int) -> tuple[Vocabulary, Array]:
        """A vocabulary for one told row, and that row's numbers; a FeatureError if it is no row."""
        schema = Schema()
        schema.takes_words = True
        taken = as_taken(schema, row)
        if isinstance(taken, np.ndarray) and schema.takes_array(taken):
            return cls(schema, row_start), taken
        return cls(schema, row_start), schema.code(taken)

    def follow(self, schema: Schema) -> None:
        """Features or values are about to join: this schema has them after those that there are."""
        self._schema = schema

    def row_of(self, memo: Array) -> ToldRow:
        """The row of a memo, told by names and values."""
        return self._schema.told(memo[self.row_start :])


def short_row(row: ToldRow) -> ToldRow:
    """A told row with its numbers in few characters that give them back to the last bit."""
    if isinstance(row, list):
        return [short_number(value) for value in row]
    return {name: short_number(value) for name, value in row.items()}


def short_number(value: Any) -> Any:
    """A number in few characters that give it back to the last bit, also minus zero; all else as it is."""
    if not isinstance(value, float) or not value.is_integer() or abs(value) >= _WHOLE:
        return value
    return int(value) if value != 0.0 or math.copysign(1.0, value) > 0.0 else value
