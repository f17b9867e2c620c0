"""Rows of a table that has columns of words: one matrix for all other columns, and the numbers of the words.

A row costs what is in it: four bytes a word. A table makes such rows; `play` and `decide_many` take them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from banditboost.errors import FeatureError, in_row
from banditboost.rows.plain import coded
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import MOST_WORDS, SHARED
from banditboost.text import quoted
from banditboost.types import Array

_BLOCK = 1 << 21  # numbers that are held at once: 16 MiB


@dataclass(frozen=True, eq=False)
class Bag:
    """The words of one column, row by row.

    >>> Bag("tags", np.array([0, 2, 2]), np.array([7, 9], np.uint32)).taken(np.array([1, 0, 0])).ends.tolist()
    [0, 0, 2, 4]
    """

    name: str
    ends: Array
    """int64[rows + 1]: row t has the words from ends[t] to ends[t + 1]."""
    codes: Array
    """uint32: the number of each word."""

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def lengths(self) -> Array:
        """How many words each row has."""
        return np.diff(self.ends)

    def taken(self, rows: Array) -> Bag:
        """These rows, in this order."""
        return Bag(self.name, *_taken(self.ends, self.codes, rows))

    def part(self, start: int, stop: int) -> Bag:
        """The rows from `start` to the one before `stop`."""
        return Bag(self.name, *_part(self.ends, self.codes, start, stop))


def joined(bags: Sequence[Bag]) -> Bag:
    """Bags of one column, one after the other."""
    return Bag(
        bags[0].name,
        _ends(np.concatenate([bag.lengths for bag in bags])),
        np.concatenate([bag.codes for bag in bags]),
    )


def _ends(lengths: Array) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _part(ends: Array, codes: Array, start: int, stop: int) -> tuple[Array, Array]:
    return ends[start : stop + 1] - ends[start], codes[ends[start] : ends[stop]]


def _taken(ends: Array, codes: Array, rows: Array) -> tuple[Array, Array]:
    lengths = np.diff(ends)[rows]
    found = _ends(lengths)
    return found, codes[np.repeat(ends[rows] - found[:-1], lengths) + np.arange(found[-1])]


def _nothing(n_rows: int) -> tuple[Array, Array]:
    return np.zeros(n_rows + 1, np.int64), np.empty(0, np.uint32)


def _merged(bags: Sequence[Bag]) -> tuple[Array, Array]:
    """The words of all columns, row by row, each number once: the first one counts, as in a row alone."""
    if len(bags) == 1:
        return bags[0].ends, bags[0].codes
    row = np.concatenate([np.repeat(np.arange(len(bag)), bag.lengths) for bag in bags])
    codes = np.concatenate([bag.codes for bag in bags])
    _, first = np.unique(row * SHARED + codes, return_index=True)
    first = first[np.lexsort((first, row[first]))]
    return _ends(np.bincount(row[first], minlength=len(bags[0]))), codes[first]


class WordedRows:
    """Rows of a table with words. `rows[a:b]` are some of them.

    Args:
        matrix: float64[rows, columns], as of a table without words.
        bags: the columns of words, in their order.
    """

    def __init__(self, matrix: Array, bags: Sequence[Bag]) -> None:
        self._matrix, self.names = matrix, tuple(bag.name for bag in bags)
        self._ends, self._codes = _merged(bags) if bags else _nothing(len(matrix))

    def __len__(self) -> int:
        return len(self._matrix)

    def __getitem__(self, rows: slice) -> WordedRows:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise FeatureError(f"the rows {rows} of a table with words; give a slice without a step")
        some: WordedRows = self.__new__(type(self))
        some._matrix, some.names = self._matrix[start : max(start, stop)], self.names
        some._ends, some._codes = _part(self._ends, self._codes, start, max(start, stop))
        return some

    def check(self, schema: Schema) -> None:
        """Refuse rows that a model with this schema cannot take, whatever their numbers are."""
        if not schema.takes_words:
            raise FeatureError(
                f"X has the columns of words {quoted(list(self.names))}, of which only GapBoost learns; use "
                "GapBoost, or leave them out with without_words() of the table or stream"
            )
        unknown = [name for name in self.names if name not in schema.words]
        if not schema.declared or unknown or len(schema.names) != self._matrix.shape[1]:
            raise FeatureError(
                f"X has {self._matrix.shape[1]} columns and the words {quoted(list(self.names))}, and the "
                f"model has {quoted(schema)}; make it with schema=table.schema()"
            )
        most = int(np.diff(self._ends).max(initial=0))
        if most > MOST_WORDS:
            t = int(np.diff(self._ends).argmax())
            raise in_row(t, FeatureError(f"the row has {most} words; give at most {MOST_WORDS}"))

    def parts(self) -> Iterator[Array]:
        """Copies of the numbers and codes, some rows at a time."""
        n_rows = max(1, _BLOCK // max(1, self._matrix.shape[1]))
        for start in range(0, len(self), n_rows):
            yield np.array(self._matrix[start : start + n_rows], np.float64, order="C")

    def rows(self, schema: Schema) -> Iterator[dict[Any, Any]]:
        """Each row as a model takes it alone, after a check."""
        values = [
            schema.values(name) if kind == "nominal" else None
            for name, kind in zip(schema.names, schema.kinds, strict=True)
        ]
        for t in range(len(self)):
            cells = zip(schema.names, values, self._matrix[t].tolist(), strict=True)
            row = {name: cell if known is None else _name(known, cell) for name, known, cell in cells}
            yield {**{name: cell for name, cell in row.items() if cell == cell}, **self.words(t)}

    def words(self, t: int) -> dict[Any, float]:
        """The words of a row, told by number."""
        codes = self._codes[self._ends[t] : self._ends[t + 1]].tolist()
        return {coded(code): 1.0 for code in codes}

    def blocks(
        self, join: Callable[[Any], object], schema: Callable[[], Schema]
    ) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the row after it.

        A block ends before a row that has more words than any before it: `join` makes room for them.
        """
        lengths, start = np.diff(self._ends), 0
        while start < len(self):
            if lengths[start] > len(schema().word_places):
                join(self.words(start))
            beyond = np.flatnonzero(lengths[start:] > len(schema().word_places))
            stop = start + int(beyond[0]) if len(beyond) else len(self)
            size = max(1, _BLOCK // max(1, len(schema())))
            for first in range(start, stop, size):
                end = min(first + size, stop)
                yield self._block(first, end, schema()), end
            start = stop

    def _block(self, start: int, stop: int, schema: Schema) -> Array:
        block = np.full((stop - start, len(schema)), np.nan)
        block[:, schema.column_places] = self._matrix[start:stop]
        ends, codes = _part(self._ends, self._codes, start, stop)
        row = np.repeat(np.arange(stop - start), np.diff(ends))
        if len(codes):
            place = schema.word_places[np.arange(len(codes)) - ends[row]]
            block[row, place], block[row, place + 1] = codes, 1.0
        return block


def as_worded(X: Any, schema: Schema) -> WordedRows | None:
    """Rows of a table with words, or a matrix for a model that was told of columns of words; else None."""
    if isinstance(X, WordedRows):
        return X
    is_matrix = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"
    if is_matrix and schema.words and schema.takes_words and X.shape[1] == len(schema.names) > 0:
        return WordedRows(X, ())
    return None


def _name(known: tuple[Any, ...], cell: float) -> Any:
    """The value of a code, by number only if it has no place of its own."""
    if cell != cell:
        return cell
    return known[int(cell)] if cell < SHARED else coded(int(cell) - SHARED)
