"""What a column looks like: how many values, which marks its numbers have, whether it may be an id."""

import re
from dataclasses import dataclass, field

import numpy as np

from banditboost.datasets.tables.cells import MISSING_WORDS, Cells, Lists, Place, Words
from banditboost.datasets.tables.days import Days, looks_like_a_date
from banditboost.datasets.tables.findings import Finding
from banditboost.datasets.tables.numerals import MARKS, amount
from banditboost.rows.sharing import words_in

KEPT = 10_001
"""How many different values are counted; one more than a label may have."""
_FEW_TEXTS = 0.05  # of all cells: so many texts among numbers are taken for slips
_FEW_WORDS, _MANY_NUMBERS = 3, 20  # different ones: such words among so many numbers stand for missing ones
_LEADING_ZERO = re.compile("0[0-9]+")


def many(count: int) -> str:
    """A number of different values or words, in words."""
    return f"over {KEPT - 1:,}" if count >= KEPT else f"{count:,}"


def few_texts(share: float, n_words: int, n_numbers: int) -> bool:
    """Whether texts among numbers count as missing: their share of cells, and how many differ of each."""
    return share <= _FEW_TEXTS or (n_words <= _FEW_WORDS and n_numbers >= _MANY_NUMBERS)


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
    """How often each value is there, or each word of lists; none joins after the first 10,001."""
    words: dict[str, None] = field(default_factory=dict)
    """Words of texts, as many as of values, from the first batch with a text of several words on."""
    marks: dict[str, Marks] = field(default_factory=lambda: {mark: Marks() for mark in MARKS})
    written_out: bool = False
    """Whether some amounts have a unit, marks between thousands, or decimals."""
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
        if isinstance(cells, Words):
            self._count_words(cells.values)
        elif isinstance(cells, Lists):
            self._count_tags(cells)

    def miss(self, n_rows: int, place: Place) -> None:
        """A batch of so many rows, whose first is at this place, does not have the column."""
        self.finding.miss(n_rows, place)

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
        if self.leading_zeros is None and _LEADING_ZERO.fullmatch(word):
            self.leading_zeros = word
        if word in MISSING_WORDS:
            return
        for mark, seen in self.marks.items():
            if seen.fits:
                seen.see(word, mark, number)
        self.written_out = self.written_out or not word.isalnum()

    def _count_words(self, texts: list[str]) -> None:
        """Of a column without a text of several words none is looked at."""
        if self.finding.long:
            for text in texts:
                if len(self.words) >= KEPT:
                    return
                self.words.update(dict.fromkeys(words_in(text)))

    def _count_tags(self, cells: Lists) -> None:
        for word in (word for words in cells.cells if words for word in words):
            if word in self.counts or len(self.counts) < KEPT:
                self.counts[word] = self.counts.get(word, 0) + 1

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
        return self.finding.numbers + self.finding.texts + self.finding.lists

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return self.finding.is_empty

    @property
    def n_values(self) -> int:
        """Different values, or words of lists; at most 10,001 are told apart."""
        return len(self.counts)

    @property
    def is_new_each_time(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.finding.is_new_each_time

    @property
    def is_binary(self) -> bool:
        return set(self.counts) == {"0", "1"}

    @property
    def is_text(self) -> bool:
        """Whether most cells have several words, and nearly each is new."""
        return self.finding.is_text

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, as far as values were counted."""
        return not self.finding.texts and all(
            number == np.floor(number) for number in self.finding.numerals.values()
        )
