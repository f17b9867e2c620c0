"""Linear baselines: rows as vectors of unit length, and a table of weights that grows with the schema.

phi(x) has a constant 1, every numeric value divided by the largest absolute value that was seen of its
feature (this one included), and for every nominal feature a 1 in the column of its value; missing values are
0. Then it is divided by its length, so that |phi(x)| = 1.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from banditboost.baselines.base import Baseline, BaselineState
from banditboost.compiled.compile import allocating, kernel
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.memo import LEAST_PROBABILITY
from banditboost.rows.features import NOMINAL
from banditboost.rows.plain import LARGEST
from banditboost.types import Array, Record


class LinearLearned(NamedTuple):
    """What a linear baseline has learned."""

    counts: Record
    tally: Array
    tables: Array  # [tables, columns, k]
    scales: Array  # by feature: the largest absolute value
    margins: Array  # [1], of SOBA
    start: Array  # [1], of SOBA: what the curvature begins with; a parameter


@kernel
def note_scales(features: Array, x: Array, scales: Array) -> None:
    """Largest absolute values of numeric features; done when a verdict is learned, so that a decision changes
    nothing.
    """
    for f in range(x.size):
        if features[f]["kind"] != NOMINAL and x[f] == x[f]:
            scales[f] = max(scales[f], abs(x[f]))


@allocating
def vector_of(features: Array, scales: Array, x: Array) -> tuple[Array, Array]:
    """phi(x): the columns that are not 0, and their values.

    x may be shorter than the features, if some have joined since.
    """
    columns, values = np.zeros(x.size + 1, np.int64), np.ones(x.size + 1)
    n, square = 1, 1.0
    for f in range(x.size):
        value = x[f]
        nominal = features[f]["kind"] == NOMINAL
        if value != value or (value >= features[f]["n_values"] if nominal else value == 0.0):
            continue  # a nominal value without a place of its own counts as missing
        columns[n] = 1 + features[f]["offset"] + (int(value) if nominal else 0)
        values[n] = 1.0 if nominal else value / max(scales[f], abs(value))
        square += values[n] * values[n]
        n += 1
    length = math.sqrt(square)
    for i in range(n):
        values[i] /= length
    return columns[:n], values[:n]


def _columns_in_use(features: Array) -> Array:
    """The constant's, one of each numeric feature, and one of each value of a nominal one."""
    width = np.where(features["kind"] == NOMINAL, features["n_values"], 1)
    starts = np.repeat(1 + features["offset"] - (np.cumsum(width) - width), width)
    return np.concatenate([[0], starts + np.arange(len(starts))])


def _moved(before: Array, after: Array) -> Array:
    """Where the columns of the features that there were lie after others, or values, have joined."""
    shifts = after["offset"][: len(before)] - before["offset"]
    return np.repeat(shifts, before["capacity"]) + np.arange(1, _n_columns(before))


def _n_columns(features: Array) -> int:
    """The constant's, and room for every feature."""
    return 1 + int(features["capacity"].sum())


class LinearBaseline(Baseline):
    """Keeps tables [columns, k]: the constant's column, then room for every feature as in `feature_table`.

    Behind them there is room for features that join: columns of zeros, which no file keeps.
    """

    n_tables: ClassVar[int] = 1

    def _start(self) -> None:
        super()._start()
        self._make_tables()
        self._margins, self._first_curvature = np.zeros(1), np.zeros(1)

    def _make_tables(self) -> None:
        """Tables and scales of zeros, with room."""
        n_columns, n_features = self._with_room(_n_columns(self._features)), len(self._schema)
        self._tables = np.zeros((self.n_tables, n_columns, len(self.labels)))
        self._scales = np.zeros(self._with_room(n_features))

    def _with_room(self, n: int) -> int:
        """A power of two, so that little is copied when features join; declared ones are all there."""
        return n if self._schema.declared or n == 0 else 1 << (n - 1).bit_length()

    def _state(self) -> BaselineState:
        own = self._tables, self._scales, self._margins, self._first_curvature
        return BaselineState(learned=LinearLearned(self._counts, self._tally, *own), **self._common())

    def _vector(self, memo: Array) -> tuple[Array, Array]:
        """phi(x) of the row of a memo: columns and values."""
        return vector_of(self._features, self._scales, memo[self._row_start :])

    def _follow_schema(self) -> None:
        """New features and values begin with 0; columns move to where the new layout wants them."""
        before, tables, scales = self._features, self._tables, self._scales
        super()._follow_schema()
        columns = _moved(before, self._features)
        stay = np.array_equal(columns, np.arange(1, 1 + len(columns)))
        if stay and _n_columns(self._features) <= tables.shape[1] and len(self._features) <= len(scales):
            return
        self._make_tables()
        self._tables[:, 0] = tables[:, 0]
        self._tables[:, columns] = tables[:, 1 : 1 + len(columns)]
        self._scales[: len(before)] = scales[: len(before)]

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), "weights": self._tables_in_use, "scales": self._scales_in_use}

    @property
    def _tables_in_use(self) -> Array:
        """Without the room behind them."""
        return self._tables[:, : _n_columns(self._features)]

    @property
    def _scales_in_use(self) -> Array:
        return self._scales[: len(self._features)]

    def _restore(self, arrays: dict[str, Array]) -> None:
        tables = take_array(arrays, "weights", np.float64, self._tables_in_use.shape)
        scales = take_array(arrays, "scales", np.float64, self._scales_in_use.shape)
        super()._restore(arrays)
        nominal = self._features["kind"] == NOMINAL
        demand((scales >= 0.0) & (scales <= np.where(nominal, 0.0, LARGEST)), "a scale is out of range")
        # phi(x) has length 1, so that a verdict changes a weight by 1 / p + 1 at most.
        most = self._counted.verdicts * (1.0 + 1.0 / LEAST_PROBABILITY)
        demand(np.abs(tables) <= most, "a weight is out of range")
        unused = np.ones(tables.shape[1], np.bool_)
        unused[_columns_in_use(self._features)] = False
        demand(tables[:, unused] == 0.0, "there is a weight of no feature")
        self._tables_in_use[:], self._scales_in_use[:] = tables, scales

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + self._tables.nbytes + self._scales.nbytes
