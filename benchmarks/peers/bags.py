"""Rows of which most columns are empty: bags of words, and wide rows of numbers.

They come in every form that somebody might have: a CSR matrix, a dense one, dicts, lists of words, text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bags:
    """Rows in play order, each a few of many possible words with a value (1 if it is only there or not)."""

    name: str
    words: Sequence[str] = field(repr=False)
    """By column."""
    matrix: Any = field(repr=False)
    """A scipy.sparse.csr_array, rows by words."""
    y: IntArray = field(repr=False)
    """int64[rows]: positions in `labels`."""
    labels: tuple[str, ...]
    raw: Sequence[str] | None = field(default=None, repr=False)
    """The text as it was found, if there was one."""

    @property
    def rounds(self) -> int:
        return len(self.y)

    def taken(self, rows: IntArray) -> Bags:
        """These rows, in this order."""
        raw = None if self.raw is None else [self.raw[i] for i in rows.tolist()]
        return replace(self, matrix=self.matrix[rows], y=self.y[rows], raw=raw)

    def shuffled(self, seed: int) -> Bags:
        return self.taken(np.random.Generator(np.random.PCG64(seed)).permutation(self.rounds))

    @cached_property
    def counted(self) -> bool:
        """Do values tell more than that a word is there?"""
        return bool(np.any(self.matrix.data != 1))

    def cells(self) -> Iterator[tuple[list[int], list[float]]]:
        """The columns of each row that are not empty, and their values."""
        ends, columns, values = self.matrix.indptr, self.matrix.indices, self.matrix.data
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            yield columns[start:end].tolist(), values[start:end].tolist()

    def dense(self) -> FloatArray:
        return np.ascontiguousarray(self.matrix.toarray(), np.float64)

    def dicts(self) -> list[dict[str, float]]:
        """`{word: 1}`."""
        return [
            {self.words[i]: value for i, value in zip(columns, values, strict=True)}
            for columns, values in self.cells()
        ]

    def lists(self) -> list[list[str]]:
        """The words of each row, without their values."""
        return [[self.words[i] for i in columns] for columns, _ in self.cells()]

    def texts(self) -> list[str]:
        """The text as it was found, or the words with blanks between them."""
        return [" ".join(words) for words in self.lists()] if self.raw is None else list(self.raw)


def of_lists(
    name: str, rows: Sequence[Iterable[str]], labels: Sequence[str], raw: Sequence[str] | None = None
) -> Bags:
    """From the words of each row; a word counts once in a row."""
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    found = [sorted({columns.setdefault(word, len(columns)) for word in words}) for words in rows]
    ends = np.cumsum([0, *map(len, found)])
    indices = np.array([i for row in found for i in row], np.int64)
    matrix = csr_array((np.ones(len(indices)), indices, ends), shape=(len(found), len(columns)))
    known = tuple(sorted(set(labels)))
    y = np.array([known.index(label) for label in labels], np.int64)
    return Bags(name, tuple(columns), matrix, y, known, raw)
