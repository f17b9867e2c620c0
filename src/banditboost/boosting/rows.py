"""The rows of a stream, in blocks that compiled code can play without meeting a new feature or value."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from banditboost.errors import FeatureError
from banditboost.kernels.entry import first_bad_row

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
        if isinstance(X, np.ndarray) and X.dtype != object:
            self._matrix = self._checked_matrix(X)
        else:
            self._rows = X if isinstance(X, (list, tuple)) else _rows_of(X)
            self._check_rows()

    def __len__(self) -> int:
        return len(self._rows) if self._matrix is None else len(self._matrix)

    def blocks(self) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the round after it."""
        if self._matrix is not None:
            yield self._matrix, len(self._matrix)
            return
        schema = self._model.schema
        block: list[Array] = []
        for t, row in enumerate(self._rows):
            named = schema.named(row)
            news = schema.news(named)
            if block and (news or len(block) == _BLOCK):
                yield np.array(block), t
                block = []
            if news:
                schema.admit(named)
                self._model._follow_schema()
            block.append(schema.encode_anew(named))
        yield np.array(block).reshape(len(block), len(schema)), len(self._rows)

    def _checked_matrix(self, X: Array) -> Array:
        if X.ndim != 2:
            raise FeatureError(f"X has shape {X.shape}; give a matrix with a row for each round")
        if len(X) and self._model.schema.expect_positions(X[0]):
            self._model._follow_schema()
        matrix = np.array(X, dtype=np.float64, order="C")
        bad = first_bad_row(self._model._committee.features, matrix)
        if bad[0] >= 0:
            raise self._model.schema.bad_position(bad[1], float(X[bad[0], bad[1]]))
        return matrix

    def _check_rows(self) -> None:
        """Try every row on a copy of the schema first: a bad one must not be met in the middle of the stream."""
        trial = copy.deepcopy(self._model.schema)
        for row in self._rows:
            trial.admit(trial.named(row))


def _rows_of(X: Any) -> Sequence[Any]:
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise FeatureError(
            f"X is of type {type(X).__name__}; give a matrix, a list of rows, or a pandas, polars or pyarrow frame"
        ) from None
    rows: Sequence[Any] = frame.rows(named=True)
    return rows
