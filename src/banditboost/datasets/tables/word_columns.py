"""Columns of words: texts, and lists of texts, of which each word counts. Each cell becomes some numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from banditboost.datasets.dataset import IntArray
from banditboost.datasets.describe import Fact
from banditboost.datasets.tables.cells import Cells, Lists, Words
from banditboost.rows.bags import Bag
from banditboost.rows.sharing import code_of, words_in


@dataclass(frozen=True)
class WordColumn:
    """No feature of its own: each word is one."""

    name: str
    missing: int
    """Rows without a word."""

    @property
    def fact(self) -> Fact:
        return Fact(self.name, None, np.nan, np.nan, self.missing, is_words=True)

    def encode(self, cells: Cells) -> Bag:
        """The words of each row, in their order. `KeyError` for what is neither text nor list."""
        if isinstance(cells, Words) and not cells.dated:
            return _bag(self.name, [words_in(text) for text in cells.values], cells.codes)
        if isinstance(cells, Lists):
            return _bag(self.name, [*(words or () for words in cells.cells)], np.arange(len(cells.cells)))
        raise KeyError("something else where texts were")

    def empty(self, n_rows: int) -> Bag:
        """Rows without a word."""
        return _bag(self.name, [], np.full(n_rows, -1))


def _bag(name: str, values: Sequence[Iterable[str]], places: IntArray) -> Bag:
    """What each value has, for each row the value at its place; the place -1 has nothing."""
    coded = [dict.fromkeys(code_of(name, word) for word in words) for words in values]
    lengths = np.array([*map(len, coded), 0], np.int64)
    flat = np.fromiter((code for codes in coded for code in codes), np.uint32, int(lengths.sum()))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return Bag(name, ends, flat).taken(np.where(places < 0, len(values), places))
