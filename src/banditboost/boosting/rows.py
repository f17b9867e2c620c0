"""The rows of a stream, in blocks that compiled code can play without meeting a new feature or value."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from banditboost.errors import FeatureError
from banditboost.kernels.entry import first_bad_row
from banditboost.schema import Schema, without_mask
from banditboost.weak_learners.features import feature_table

if TYPE_CHECKING:
    from banditboost.boosting.base import Booster

Array = np.ndarray[Any, Any]
_BLOCK = 20_000


class Rows:
    """A matrix is one block. Of lists and frames a block ends where a row brings something new: it joins just before that row is played."""

    def __init__(self, model: Booster, X: Any) -> None:
        self._model = model
        self._matrix: Array | None = None
        self._rows: Sequence[Any] = ()
        # Everything is tried on a copy of the schema first: what is wrong must not be met in the middle of the stream.
        trial = copy.deepcopy(model.schema)
        X = without_mask(X)
        if isinstance(X, np.ndarray) and X.dtype != object:
            self._matrix = _checked_matrix(X, trial)
        if self._matrix is None:
            self._rows = X if isinstance(X, (list, tuple)) else _rows_of(X)
            for row in self._rows:
                trial.admit(row)

    def __len__(self) -> int:
        return len(self._rows) if self._matrix is None else len(self._matrix)

    def blocks(self) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the round after it."""
        schema = self._model.schema
        if self._matrix is not None:
            if len(self._matrix):
                schema.takes_array(self._matrix[0])
                self._model._follow_schema()
            yield self._matrix.reshape(len(self._matrix), len(schema)), len(self._matrix)
            return
        block: list[Array] = []
        for t, row in enumerate(self._rows):
            named = schema.named(row)
            grows = bool(schema.news(named)) or len(schema) == 0
            if block and (grows or len(block) == _BLOCK):
                yield np.array(block), t
                block = []
            if grows:
                schema.admit(row)
                self._model._follow_schema()
            block.append(schema.encode_anew(named))
        yield np.array(block).reshape(len(block), len(schema)), len(self._rows)


def checked_rows(schema: Schema, X: Any) -> Sequence[Any]:
    """The rows of X, each as a model takes it alone, after all were tried in their order on a copy of the schema."""
    trial = copy.deepcopy(schema)
    X = without_mask(X)
    if isinstance(X, np.ndarray):
        matrix = _checked_matrix(X, trial) if X.dtype != object else None
        if matrix is not None:
            return list(matrix)
    rows = rows_of(X)
    for row in rows:
        _try_row(trial, row)
    return rows


def rows_of(X: Any) -> Sequence[Any]:
    """The rows of a matrix, a list or a frame, one by one."""
    X = without_mask(X)
    if isinstance(X, np.ndarray):
        return list(np.atleast_1d(X))
    return X if isinstance(X, (list, tuple)) else _rows_of(X)


def _try_row(schema: Schema, row: Any) -> None:
    """Let a row's features and values join, or refuse it, as a model would."""
    if not isinstance(row, np.ndarray) or row.dtype == object:
        schema.admit(row)
    elif not schema.takes_array(row):
        schema.admit(row.tolist())
    else:
        _checked_matrix(row[np.newaxis], schema)


def listed(values: Any) -> list[Any]:
    """Labels or verdicts as a list: of a column of a frame, an array, or anything that can be gone through but a string."""
    if isinstance(values, (str, bytes)):
        raise TypeError("a string is one value")
    return gone_through(values)


def gone_through(values: Any) -> list[Any]:
    """All values as a list; those of pyarrow as Python has them."""
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


def _checked_matrix(X: Array, schema: Schema) -> Array | None:
    """A copy of X with every number checked, or None if it has to be taken row by row."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise FeatureError(f"X has shape {X.shape} and type {X.dtype}; give a matrix of numbers with a row for each round")
    if len(X) and not schema.takes_array(X[0]):
        return None
    matrix = np.array(X, dtype=np.float64, order="C")
    row, feature = first_bad_row(feature_table(schema), matrix)
    if row >= 0:
        raise schema.bad_position(feature, float(matrix[row, feature]))
    return matrix


def _rows_of(X: Any) -> Sequence[Any]:
    if isinstance(X, np.ndarray):
        rows: Sequence[Any] = X.tolist()
        return rows
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise FeatureError(
            f"X is of type {type(X).__name__}; give a matrix, a list of rows, or a pandas, polars or pyarrow frame (a lazy one collected)"
        ) from None
    except nw.exceptions.DuplicateError:
        raise FeatureError("the frame has two columns of one name; give each a name of its own") from None
    rows = frame.rows(named=True)
    return rows
