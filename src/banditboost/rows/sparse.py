"""Sparse matrices (scipy's CSR, CSC, COO, ...) as rows: a row costs what is in it.

Up to 256 columns are features x0, x1, ..., as in any matrix: what is not stored is 0. To a model that takes
words, the columns of a wider one are words: the number of a column is the number of its word, and what is
stored its weight. Where arrays have brought features, columns are these features, however many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from banditboost.errors import FeatureError, in_row
from banditboost.rows.plain import LARGEST, coded, too_large
from banditboost.rows.schema import Schema, Told
from banditboost.rows.sharing import MOST_OF_SPARSE, MOST_WORDS, SHARED
from banditboost.types import Array

_BLOCK = 1 << 18  # numbers that are held at once: 2 MiB, as caches hold


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix of scipy, which need not be installed."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def one_row(schema: Schema, x: Any) -> Any:
    """The only row of a sparse matrix, as a model takes it alone."""
    x = x.reshape((1, -1)) if x.ndim == 1 else x
    if x.shape[0] != 1:
        raise FeatureError(f"the row is a sparse matrix of shape {x.shape}; give one row, or use decide_many")
    return next(SparseRows(schema, x).rows())


class SparseRows:
    """A sparse matrix that was found good, row by row or in blocks of coded rows.

    Args:
        schema: of the model, which does not change.
        X: of numbers, with a row for each round.
    """

    def __init__(self, schema: Schema, X: Any) -> None:
        matrix = X.tocsr()
        if matrix is X:
            matrix = X.copy()
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise FeatureError(
                f"X has shape {X.shape} and type {X.dtype}; give a matrix of numbers with a row for each "
                "round"
            )
        matrix = matrix.astype(np.float64)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        self._matrix = matrix
        self.n_columns = int(matrix.shape[1])
        may_be = schema.finds_words and not schema.by_position
        self.are_words = may_be and self.n_columns > MOST_OF_SPARSE
        self._check()
        if not self.are_words and len(self):
            trial = schema.copy()
            trial.takes_array(np.zeros(self.n_columns))

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def _check(self) -> None:
        matrix = self._matrix
        for i in np.flatnonzero(~(np.abs(matrix.data) <= LARGEST))[:1]:
            t = int(np.searchsorted(matrix.indptr, i, side="right")) - 1
            raise in_row(t, too_large(f"x{matrix.indices[i]}", float(matrix.data[i])))
        if self.are_words and (self.n_columns > SHARED or self.most_words > MOST_WORDS):
            t = int(np.diff(matrix.indptr).argmax())
            refusal = FeatureError(
                f"the row has {self.most_words} numbers that are not 0, of {self.n_columns}; give at most "
                f"{MOST_WORDS} of 2**32"
            )
            raise in_row(t, refusal)

    @property
    def most_words(self) -> int:
        """How many numbers of one row are not 0."""
        return int(np.diff(self._matrix.indptr).max(initial=0))

    def rows(self) -> Iterator[Any]:
        """Each row as a model takes it alone."""
        for t in range(len(self)):
            yield self._told(t) if self.are_words else self._matrix[[t]].toarray()[0]

    def _told(self, t: int) -> Told:
        cells = slice(self._matrix.indptr[t], self._matrix.indptr[t + 1])
        columns, weights = self._matrix.indices[cells].tolist(), self._matrix.data[cells].tolist()
        return Told({coded(column): weight for column, weight in zip(columns, weights, strict=True)})

    def fullest(self) -> Any:
        """The row that brings all that any row brings."""
        t = int(np.diff(self._matrix.indptr).argmax())
        return self._told(t) if self.are_words else np.zeros(self.n_columns)

    def blocks(self, schema: Schema) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the row after it; what the rows bring has joined."""
        n_rows = max(1, _BLOCK // max(1, len(schema)))
        for start in range(0, len(self), n_rows):
            stop = min(start + n_rows, len(self))
            part = self._matrix[start:stop]
            yield self._with_words(part, schema) if self.are_words else part.toarray(), stop

    @staticmethod
    def _with_words(part: Any, schema: Schema) -> Array:
        n_rows, width = part.shape[0], len(schema)
        numbers, lengths = np.full(n_rows * width, np.nan), np.diff(part.indptr)
        place = schema.word_places[np.arange(part.nnz) - np.repeat(part.indptr[:-1], lengths)]
        place += np.repeat(np.arange(0, n_rows * width, width), lengths)
        numbers[place], numbers[place + 1] = part.indices, part.data
        return numbers.reshape(n_rows, width)
