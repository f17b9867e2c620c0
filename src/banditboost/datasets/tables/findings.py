"""What is found of a column while its batches pass by."""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from banditboost.datasets.dataset import FloatArray
from banditboost.datasets.tables.cells import MISSING_WORDS, Cells, Lists, Odd, Place, Words
from banditboost.datasets.tables.days import Days, looks_like_a_date
from banditboost.datasets.tables.numerals import unit_of
from banditboost.rows.sharing import MOST_WORDS, words_in

MAX_LABELS = 10_000
_NEW = 0.9  # of all cells: a column with so many different values has nearly a new one in each row
_LEAST_NEW = 20  # rows; among fewer all values may be new by chance
_WORDS_OF_TEXT = 3


@dataclass
class Finding:
    """All that is remembered of a column after a pass, whatever its length."""

    name: str
    words: dict[str, None] = field(default_factory=dict)
    """Words that are not numbers.

    As many are kept as a label may have, and one more to know that there are too many.
    """
    numerals: dict[str, float] = field(default_factory=dict)
    """Words that are numbers, as many as of the others; not known where a source hands over numbers."""
    units: dict[str, str] = field(default_factory=dict)
    """Currencies and per cent in numerals, each with the first numeral that has it."""
    days: Days | None = None
    """What a column of dates holds; None if it is none."""
    unfit: str | None = None
    """Why the source says that nothing can be learned from it."""
    odd: tuple[str, str] | None = None
    """The first word that is neither a number nor a way to write that one is missing, and where it is."""
    numbers: int = 0
    texts: int = 0
    """How many cells are words that are not numbers."""
    missing: int = 0
    gap: str | None = None
    """Where the first missing cell is."""
    low: float = np.inf
    high: float = -np.inf
    lowest: str = ""
    """Where the first of the least numbers is."""
    highest: str = ""
    infinite: str | None = None
    """Where the first infinite number is."""
    typed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    """How often each text came, numbers or not; of as many as a label may have, and one more."""
    dated: bool = False
    """Whether the source itself says that these are dates."""
    long: int = 0
    """How many of the values in `counts` have several words."""
    lists: int = 0
    """How many cells are lists of words."""
    wordless: int = 0
    """How many cells are texts or lists without a word."""
    too_long: str | None = None
    """What is said of the first cell with too many words."""

    def see(self, cells: Cells, place: Place) -> None:
        """Take in a batch, whose first row is at this place."""
        if isinstance(cells, Words) and cells.dated:
            self.dated, self.days = True, self.days or Days()
        if self.days is not None:
            self.days.see(cells, place)
        if isinstance(cells, Odd):
            self.unfit = self.unfit or _told(cells, place)
        elif isinstance(cells, Words):
            self._see_words(cells, place)
        elif isinstance(cells, Lists):
            self._see_lists(cells, place)
        else:
            present = cells[~np.isnan(cells)]
            self.missing += len(cells) - len(present)
            self._note_gap(np.isnan(cells), place)
            self._note_ends(cells, place)
            self._see_numbers(present, len(present))
            self._note_infinite(cells, place)

    def miss(self, n_rows: int, place: Place) -> None:
        """A batch of so many rows, whose first is at this place, does not have the column."""
        self.missing += n_rows
        if n_rows:
            self.gap = self.gap or place.told(0)

    def _see_words(self, cells: Words, place: Place) -> None:
        self.typed = cells.typed
        counts = np.bincount(cells.codes + 1, minlength=len(cells.values) + 1)
        self.missing += int(counts[0])
        self._note_gap(cells.codes < 0, place)
        is_number = ~np.isnan(cells.numbers)
        if is_number.any():
            self._note_ends(cells.look_up(cells.numbers), place)
        self._see_numbers(cells.numbers[is_number], int(counts[1:][is_number].sum()))
        self.texts += int(counts[1:][~is_number].sum())
        for code, (word, number) in enumerate(zip(cells.values, cells.numbers.tolist(), strict=True)):
            if word in self.counts:
                self.counts[word] += int(counts[1 + code])
            elif len(self.counts) <= MAX_LABELS:
                self.counts[word] = int(counts[1 + code])
                self.long += len(word.split(None, _WORDS_OF_TEXT)) >= _WORDS_OF_TEXT
            if number == number:
                self._note_numeral(word, number)
                continue
            if len(self.words) <= MAX_LABELS:
                self.words[word] = None
            if self.odd is None and word not in MISSING_WORDS:
                self.odd = word, place.told(int(np.argmax(cells.codes == code)))
            self._note_text(word, int(counts[1 + code]))
            if (
                self.too_long is None and len(word) >= 2 * MOST_WORDS
            ):  # a word and a blank have two characters
                self._note_long(words_in(word), place.told(int(np.argmax(cells.codes == code))))
        self._note_infinite(cells.look_up(cells.numbers), place)

    def _note_text(self, text: str, count: int) -> None:
        if not text[0].isalnum() and not words_in(text):
            self.wordless += count

    def _see_lists(self, cells: Lists, place: Place) -> None:
        for i, words in enumerate(cells.cells):
            if words is None:
                self.missing += 1
                continue
            self.lists += 1
            self.wordless += not words
            if self.too_long is None:
                self._note_long(words, place.told(i))

    def _note_long(self, words: Collection[str], where: str) -> None:
        if len(words) > MOST_WORDS:
            self.too_long = f"has {len(words):,} words in {where}"

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return not (self.numbers or self.texts or self.lists or self.unfit)

    @property
    def is_new_each_time(self) -> bool:
        """Whether nearly every row has a value of its own, as far as values were counted."""
        counted = sum(self.counts.values())
        return counted >= _LEAST_NEW and len(self.counts) >= _NEW * counted

    @property
    def is_text(self) -> bool:
        """Whether most cells have several words, and nearly each is new."""
        return (
            self.days is None
            and self.is_new_each_time
            and self.long > len(self.counts) / 2
            and not all(map(looks_like_a_date, self.counts))
        )

    def _note_numeral(self, word: str, number: float) -> None:
        if len(self.numerals) <= MAX_LABELS:
            self.numerals[word] = number
        if unit := unit_of(word):
            self.units.setdefault(unit, word)

    def _see_numbers(self, present: FloatArray, count: int) -> None:
        if len(present):
            self.numbers += count
            self.low = min(self.low, float(present.min()))
            self.high = max(self.high, float(present.max()))

    def _note_ends(self, cells: FloatArray, place: Place) -> None:
        if np.isnan(cells).all():
            return
        first, last = int(np.nanargmin(cells)), int(np.nanargmax(cells))
        if cells[first] < self.low:
            self.lowest = place.told(first)
        if cells[last] > self.high:
            self.highest = place.told(last)

    def _note_gap(self, is_missing: NDArray[np.bool_], place: Place) -> None:
        if self.gap is None and is_missing.any():
            self.gap = place.told(int(np.argmax(is_missing)))

    def _note_infinite(self, cells: FloatArray, place: Place) -> None:
        if self.infinite is None and np.isinf(cells).any():
            self.infinite = place.told(int(np.argmax(np.isinf(cells))))


def _told(cells: Odd, place: Place) -> str:
    """Why these cells cannot be read, where they are, and the remedy."""
    where = "" if cells.at is None else f" (the first in {place.told(cells.at)})"
    return f"{cells.what}{where}: {cells.remedy}"
