"""Many rows at once: matrices, lists, and frames of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import narwhals as nw
import numpy as np

from banditboost.errors import BanditBoostError, FeatureError, in_row
from banditboost.rows.bags import WordedRows, as_worded
from banditboost.rows.by_columns import ByColumns, taken_apart
from banditboost.rows.checking import first_bad_row
from banditboost.rows.features import column_table, feature_table
from banditboost.rows.plain import without_mask
from banditboost.rows.schema import Cells, Schema
from banditboost.rows.sparse import SparseRows, is_sparse
from banditboost.types import Array

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def checked_table(schema: Schema, X: Any) -> ByColumns | None:
    """X by columns, after all that its rows bring was tried on a copy of the schema; None if X has to go row
    by row.
    """
    X = without_mask(X)
    has_no_columns = isinstance(X, WordedRows) or is_sparse(X) or _is_matrix(X)
    columns = None if has_no_columns else taken_apart(X, schema)
    if columns is not None:
        trial = schema.copy()
        for t, row in columns.first_rows():
            if trial.makes_words_of(row):
                return None
            try_rows(trial, [row], t)
    return columns


def _is_matrix(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype != object


def checked_rows(schema: Schema, X: Any) -> Sequence[Any]:
    """The rows of X, each as a model takes it alone, after all were tried in their order on a copy of the
    schema.
    """
    trial = schema.copy()
    X = without_mask(X)
    if is_sparse(X):
        return list(SparseRows(schema, X).rows())
    if (worded := checked_worded(X, schema)) is not None:
        return list(worded.rows(schema))
    if isinstance(X, np.ndarray):
        matrix = checked_matrix(X, trial) if X.dtype != object else None
        if matrix is not None:
            return list(matrix)
    rows = rows_of(X)
    try_rows(trial, rows)
    return rows


def rows_of(X: Any) -> Sequence[Any]:
    """The rows of a matrix, a list or a frame, one by one."""
    X = without_mask(X)
    if isinstance(X, np.ndarray):
        return list(np.atleast_1d(X))
    return X if isinstance(X, (list, tuple)) else rows_of_frame(X)


def for_each(
    values: Iterable[_Given], do: Callable[[_Given], _Made], of: str = "X", first: int = 0
) -> list[_Made]:
    """What a function makes of each row, or its refusal of the first bad one, with the row's number."""
    made: list[_Made] = []
    try:
        for value in values:
            made.append(do(value))
    except BanditBoostError as error:
        raise in_row(first + len(made), error, of) from None
    return made


def try_rows(schema: Schema, rows: Sequence[Any], first: int = 0) -> None:
    """Let the features and values of many rows join, or refuse the first bad one by its number."""
    for_each(rows, lambda row: try_row(schema, row), first=first)


def try_row(schema: Schema, row: Any) -> None:
    """Let a row's features and values join, or refuse it, as a model would."""
    row = without_mask(row)
    if not isinstance(row, np.ndarray) or row.dtype == object:
        read = schema.code_if_known(row)
        if isinstance(read, Cells):
            schema.join(read)
    elif not schema.takes_array(row):
        schema.admit(row.tolist())
    elif (fault := _first_fault(np.array(row[np.newaxis], np.float64), schema)) is not None:
        raise fault[1]


def listed(values: Any) -> list[Any]:
    """Labels or verdicts as a list: of a column of a frame, an array, or anything that can be gone through
    but a string.
    """
    if isinstance(values, (str, bytes)):
        raise TypeError("a string is one value")
    return gone_through(values)


def gone_through(values: Any) -> list[Any]:
    """All values as a list; those of pyarrow as Python has them."""
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


def checked_matrix(X: Array, schema: Schema, start: int = 0) -> Array | None:
    """A copy of X with every number checked, or None if it has to be taken row by row.

    `start` is the number of its first row.
    """
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise FeatureError(
            f"X has shape {X.shape} and type {X.dtype}; give a matrix of numbers with a row for each round"
        )
    if len(X) and not schema.takes_array(X[0]):
        return None
    return checked_copy(X, schema, start)


def checked_worded(X: Any, schema: Schema) -> WordedRows | None:
    """Rows of a table with words, or a matrix for a schema with words, with every number checked; else
    None.
    """
    worded = as_worded(X, schema)
    if worded is None:
        return None
    worded.check(schema)
    start = 0
    for part in worded.parts():
        row, column = first_bad_row(column_table(schema), part)
        if row >= 0:
            raise in_row(start + row, schema.bad_position(column, float(part[row, column])))
        start += len(part)
    return worded


def checked_copy(X: Array, schema: Schema, start: int = 0) -> Array:
    """A copy of a matrix whose columns are the schema's, with every number checked; `start` is the number of
    its first row.
    """
    matrix = np.array(X, dtype=np.float64, order="C")
    if (fault := _first_fault(matrix, schema)) is not None:
        raise in_row(start + fault[0], fault[1])
    return matrix


def _first_fault(matrix: Array, schema: Schema) -> tuple[int, FeatureError] | None:
    """The first bad row of a matrix, and what is wrong with it."""
    row, feature = first_bad_row(feature_table(schema), matrix)
    return None if row < 0 else (row, schema.bad_position(feature, float(matrix[row, feature])))


def rows_of_frame(X: Any) -> Sequence[Any]:
    """The rows of an array of objects or a frame."""
    if isinstance(X, np.ndarray):
        rows: Sequence[Any] = X.tolist()
        return rows
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise FeatureError(
            f"X is of type {type(X).__name__}; give a matrix, a list of rows, or a pandas, polars or pyarrow "
            "frame (a lazy one collected)"
        ) from None
    except nw.exceptions.DuplicateError:
        raise _same_name() from None
    if sum(name != name for name in frame.columns) > 1:  # pandas may have several that are called NaN
        raise _same_name()
    rows = frame.rows(named=True)
    return rows


def _same_name() -> FeatureError:
    return FeatureError("the frame has two columns of one name; give each a name of its own")
