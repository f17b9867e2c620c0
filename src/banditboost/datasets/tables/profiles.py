"""What a column looks like: how many values, which marks its numbers have, whether it may be an id."""

import re
from dataclasses import dataclass, field

import numpy as np

from banditboost.datasets.tables.cells import MISSING_WORDS, Cells, Place, Words
from banditboost.datasets.tables.columns import Finding
from banditboost.datasets.tables.days import Days, looks_like_a_date
from banditboost.datasets.tables.numerals import MARKS, amount

KEPT = 10_001
"""How many different values are counted; one more than a label may have."""
_NEW = 0.9  # of all cells: a column with so many different values has nearly a new one in each row
_LEAST_NEW = 20  # rows; among fewer all values may be new by chance
_WORDS_OF_TEXT = 3
_LEADING_ZERO = re.compile("0[0-9]+")


@dataclass
class Marks:
    """How the words of a column read with one decimal mark."""

    fits: bool = True
    """Whether all are amounts, or missing."""
    alone: bool = False
    """Whether some are amounts with this mark only."""
    changes: bool = False
    """Whether some are other numbers than they are without any mark named."""

    def see(self, word: str, mark: str, plain: float) -> None:
        found = amount(word, mark)
        if found is None:
            self.fits = self.fits and plain == plain and not {".", ","} & set(word)  # 1e5 has no mark
        elif found.number != plain:
            self.changes = True
        if found is not None and amount(word, MARKS[mark == MARKS[0]]) is None:
            self.alone = True


@dataclass
class Profile:
    """What is remembered of a column after a pass, whatever its length."""

    finding: Finding
    counts: dict[str, int] = field(default_factory=dict)
    """How often each value is there; no value joins after the first 10,001."""
    marks: dict[str, Marks] = field(default_factory=lambda: {mark: Marks() for mark in MARKS})
    written_out: bool = False
    """Whether some amounts have a unit, marks between thousands, or decimals."""
    long: int = 0
    """How many values have several words."""
    leading_zeros: str | None = None
    rising: bool = True
    """Whether all numbers are whole, and each is greater than the one before."""
    _last: float = -np.inf

    def see(self, cells: Cells, place: Place) -> None:
        """Take in a batch."""
        if isinstance(cells, Words):
            self._note_dates(cells)
            self._see_words(cells)
        self.finding.see(cells, place)

    def miss(self, n_rows: int) -> None:
        """A batch of so many rows does not have the column."""
        self.finding.miss(n_rows)

    def _note_dates(self, cells: Words) -> None:
        """Texts are read as dates as long as all look like some."""
        if cells.dated or not cells.values:
            return
        so_far = not self.counts or self.finding.days is not None
        if not (so_far and all(map(looks_like_a_date, cells.values))):
            self.finding.days = None
        elif self.finding.days is None:
            self.finding.days = Days()

    def _see_words(self, cells: Words) -> None:
        counts = np.bincount(cells.codes + 1, minlength=len(cells.values) + 1)[1:]
        for word, count, number in zip(cells.values, counts.tolist(), cells.numbers.tolist(), strict=True):
            if word in self.counts:
                self.counts[word] += count
            elif len(self.counts) < KEPT:
                self.counts[word] = count
                self._see_new(word, number)
        self._see_order(cells)

    def _see_new(self, word: str, number: float) -> None:
        self.long += len(word.split(None, _WORDS_OF_TEXT)) >= _WORDS_OF_TEXT
        if self.leading_zeros is None and _LEADING_ZERO.fullmatch(word):
            self.leading_zeros = word
        if word in MISSING_WORDS:
            return
        for mark, seen in self.marks.items():
            if seen.fits:
                seen.see(word, mark, number)
        self.written_out = self.written_out or not word.isalnum()

    def _see_order(self, cells: Words) -> None:
        if not self.rising:
            return
        numbers = cells.look_up(cells.numbers)
        numbers = numbers[cells.codes >= 0]
        if not len(numbers):
            return
        whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
        self.rising = bool(whole and (np.diff(numbers, prepend=self._last) > 0).all())
        self._last = float(numbers[-1])

    @property
    def present(self) -> int:
        """Cells that are not missing."""
        return self.finding.numbers + self.finding.texts

    @property
    def n_values(self) -> int:
        """Different values; at most 10,001 are told apart."""
        return len(self.counts)

    @property
    def is_new_each_time(self) -> bool:
        """Whether nearly every row has a value of its own."""
        counted = sum(self.counts.values())
        return counted >= _LEAST_NEW and self.n_values >= _NEW * counted

    @property
    def is_binary(self) -> bool:
        return set(self.counts) == {"0", "1"}

    @property
    def is_text(self) -> bool:
        """Whether most cells have several words, and nearly each is new."""
        return self.finding.days is None and self.is_new_each_time and self.long > self.n_values / 2

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, as far as values were counted."""
        return not self.finding.texts and all(
            number == np.floor(number) for number in self.finding.numerals.values()
        )
