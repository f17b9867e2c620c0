"""The rows of a stream, in blocks that compiled code can play without meeting a new feature or value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from banditboost.models.model import Model
from banditboost.rows.by_columns import ByColumns, block_size
from banditboost.rows.many import (
    checked_copy,
    checked_matrix,
    checked_table,
    checked_worded,
    rows_of_frame,
    try_rows,
)
from banditboost.rows.plain import without_mask
from banditboost.rows.sparse import SparseRows, is_sparse
from banditboost.types import Array

_NUMBERS = 1 << 19  # of a matrix that are copied at once


def _parts(matrix: Array) -> Iterator[tuple[int, Array]]:
    """The matrix, or if it has many rows, a few mebibytes after the other; with the first row's number."""
    n_rows = max(1, _NUMBERS // max(1, matrix.shape[1])) if matrix.ndim == 2 else 0
    if not 0 < n_rows < len(matrix):
        yield 0, matrix
    else:
        for start in range(0, len(matrix), n_rows):
            yield start, matrix[start : start + n_rows]


class Rows:
    """A matrix is copied and played in parts.

    Of lists and frames a block ends where a row brings something new: it joins just before that row is
    played.
    """

    def __init__(self, model: Model, X: Any) -> None:
        self._model = model
        self._matrix: Array | None = None
        self._columns: ByColumns | None = None
        self._rows: Sequence[Any] = ()
        # Everything is tried on a copy of the schema first: what is wrong must not be met in the middle of
        # the stream.
        self._trial = trial = model._schema.copy()
        X = without_mask(X)
        self._sparse = SparseRows(trial, X) if is_sparse(X) else None
        self._worded = checked_worded(X, trial)
        if self._sparse is not None or self._worded is not None:
            return
        if isinstance(X, np.ndarray) and X.dtype != object:
            fit = [checked_matrix(part, trial, start) is not None for start, part in _parts(X)]
            self._matrix = X if all(fit) else None
        if self._matrix is None:
            self._columns = checked_table(trial, X)
        if self._matrix is None and self._columns is None:
            self._rows = X if isinstance(X, (list, tuple)) else rows_of_frame(X)
            try_rows(trial, self._rows)

    def __len__(self) -> int:
        if self._sparse is not None:
            return len(self._sparse)
        if self._worded is not None:
            return len(self._worded)
        held = self._rows if self._columns is None else self._columns
        return len(held if self._matrix is None else self._matrix)

    def blocks(self) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the round after it."""
        model = self._model
        if self._sparse is not None:
            if len(self._sparse):
                model._joined(self._sparse.fullest())
                yield from self._sparse.blocks(model._schema)
        elif self._worded is not None:
            yield from self._worded.blocks(model._joined, lambda: model._schema)
        elif self._matrix is not None:
            yield from self._copies(self._matrix)
        elif self._columns is not None:
            yield from self._columns.blocks(model._coded, model._joined, lambda: model._schema)
        else:
            yield from self._row_by_row()

    def _copies(self, matrix: Array) -> Iterator[tuple[Array, int]]:
        """Copies that nobody else can change while they are played, one after the other."""
        for start, part in _parts(matrix):
            block = checked_copy(part, self._trial, start)
            if len(block):
                self._model._joined(block[0])
            yield block.reshape(len(block), len(self._model._schema)), start + len(block)

    def _row_by_row(self) -> Iterator[tuple[Array, int]]:
        block: list[Array] = []
        first_round = self._model._schema.rounds
        for t, row in enumerate(self._rows):
            if not block:
                self._model._schema.look_ahead()
            coded = self._model._coded(row, first_round + t)
            if block and (coded is None or len(block) >= block_size(len(block[0]))):
                yield np.array(block), t
                block = []
            if coded is None:
                coded = self._model._joined(row)
                self._model._schema.look_ahead(has_joined=True)
            block.append(coded)
        yield np.array(block).reshape(len(block), len(self._model._schema)), len(self._rows)
