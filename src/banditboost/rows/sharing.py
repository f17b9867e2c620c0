"""Values and words without a place of their own: each is a number, by which it shares places with others.

A nominal feature gives its first values a place of their own, and later ones when they come again: ids, which
never do, take none. docs/data.md tells the rule.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Hashable, Iterable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from banditboost.rows.distinct import Distinct
from banditboost.rows.plain import text_of

SHARED = 2**32  # codes of nominal values without a place of their own begin here; words have those below
FIRST_VALUES = 4  # of a nominal feature: they need not come again
FEW_VALUES = 8  # have as many slots as they are; more, a power of two
MAX_VALUES = 256  # with a place of their own
MOST_NOTES = 1_024  # values of a feature that came once; those that came first are forgotten
MOST_COLUMNS = 1_024  # that rows bring to a model that takes words; later ones are words,
FEWEST_COLUMNS = 64  # and so are, from here on, those of rows that lack more than half of the columns
FEWEST_SAID = 16  # new features that are 1 or True are words: so many, or in a row that lacks most columns
MOST_OF_SPARSE = 256  # columns of a sparse matrix; those of a wider one are words
MOST_WORDS = 4_096  # of one row
FEWEST_WORDS = 4  # of a text that counts by its words, too
_FIRST_PLACES = 8  # for words; then twice as many, and so on
_WORD = re.compile(r"\w+")


def code_of(name: Hashable, value: str) -> int:
    """The number of a value or word of a feature: 32 bits, the same in all places and times."""
    return zlib.crc32(f"{text_of(name)}\0{value}".encode("utf-8", "surrogatepass"))


def words_in(text: str) -> list[str]:
    """The words of a text in small letters, each once."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def is_text(value: str) -> bool:
    """Whether a value is long enough to count by its words, too."""
    return value.count(" ") >= FEWEST_WORDS - 1 and len(_WORD.findall(value)) >= FEWEST_WORDS


def equals(number: int, value: Any) -> bool:
    """Whether a value is this number, 0 or 1, or the boolean that equals it, perhaps as a name."""
    if isinstance(value, str):
        return value == str(bool(number))
    return isinstance(value, (Real, np.bool_)) and bool(value == number)


def places_for(n_words: int) -> int:
    """How many places for words a row gets that has so many: a power of two, so that it changes rarely."""
    return max(_FIRST_PLACES, 1 << (n_words - 1).bit_length())


def slots_for(n_values: int, declared: int) -> int:
    """How many slots a nominal feature gets: as many as values, if few; else a power of two, so that a value
    that joins seldom moves others.
    """
    return n_values if n_values <= max(FEW_VALUES, declared) else 1 << (n_values - 1).bit_length()


class Note(NamedTuple):
    """A value without a place of its own that came in a round."""

    round: int
    name: Hashable
    value: str


class Noted(NamedTuple):
    """What is known of one feature's values without a place of their own."""

    once: dict[str, None]  # those that came once, the oldest first
    distinct: Distinct  # how many there were

    def copy(self) -> Noted:
        return Noted(dict(self.once), self.distinct.copy())

    def add(self, name: Hashable, value: str) -> None:
        self.distinct.add(code_of(name, value))
        remember(self.once, value)


def remember(once: dict[str, None], value: str) -> None:
    """Note a value that came once; the oldest note is forgotten if there are too many."""
    once[value] = None
    while len(once) > MOST_NOTES:
        del once[next(iter(once))]


class Comings(NamedTuple):
    """When values of one feature come that have no place of their own: by the numbers of rows."""

    joining: list[int]  # a value gets a place with this row
    noted: list[tuple[int, Hashable, str]]  # row, feature and value, of those that get none


Notes = dict[Hashable, Noted]


class Newcomers:
    """The values without a place of their own, feature by feature.

    A note counts when its round does: until then it waits. So a call that is refused or interrupted leaves
    none that counts.
    """

    def __init__(self, settled: Notes | None = None) -> None:
        self._settled: Notes = {} if settled is None else settled
        self._waiting: list[Note] = []
        self._expected: Notes | None = None  # what will be noted when all rounds count that are coded ahead

    def copy(self) -> Newcomers:
        """Notes that go on apart."""
        made = Newcomers(_copied(self._settled))
        made._waiting = list(self._waiting)
        made._expected = None if self._expected is None else _copied(self._expected)
        return made

    def to_plain(self, rounds: int) -> list[tuple[Hashable, list[str], str]]:
        """Of each feature: its name, the values that came once, and how many there were, for `Distinct`."""
        self.settle(rounds)
        return [(name, list(noted.once), noted.distinct.hex()) for name, noted in self._settled.items()]

    def about(self, rounds: int) -> dict[Hashable, int]:
        """How many values of each feature came without a place of their own, about; some may have one now."""
        self.settle(rounds)
        return {name: noted.distinct.about() for name, noted in self._settled.items()}

    def settle(self, rounds: int) -> None:
        """So many rounds count: their notes do, and all others are dropped."""
        if self._expected is None:
            if self._waiting:
                _write(self._settled, self._waiting, rounds)  # twice is as once
                self._waiting = []
            return
        settled = self._settled
        if self._waiting and self._waiting[-1].round < rounds:
            settled = self._expected
        elif self._waiting:
            settled = _copied(self._settled)
            _write(settled, self._waiting, rounds)
        self.__dict__.update(_settled=settled, _waiting=[], _expected=None)

    def look_ahead(self, rounds: int, has_joined: bool = False) -> None:
        """The rows of the next rounds are coded before these count; the first of them, which has joined,
        perhaps already is.
        """
        ahead = [note for note in self._waiting if has_joined and note.round >= rounds]
        self.settle(rounds)
        self._expected = _copied(self._settled)
        self.note(ahead)

    def has(self, name: Hashable, value: str) -> bool:
        """Whether a value came before, and was not forgotten."""
        notes = self._settled if self._expected is None else self._expected
        return name in notes and value in notes[name].once

    def comings(self, name: Hashable, n_values: int, rows: list[int], values: list[str]) -> Comings:
        """What will happen if these values come in these rows, and so many have places of their own."""
        notes = self._settled if self._expected is None else self._expected
        once, joined = dict(notes[name].once) if name in notes else {}, set()
        found = Comings([], [])
        for t, value in zip(rows, values, strict=True):
            if value in joined:
                continue
            if n_values < FIRST_VALUES or (n_values < MAX_VALUES and value in once):
                found.joining.append(t)
                joined.add(value)
                n_values += 1
            else:
                found.noted.append((t, name, value))
                remember(once, value)
        return found

    def note(self, found: list[Note]) -> None:
        """Write down what the row of one round brought: the one after those that `settle` was told of, or, if
        rows are coded ahead, the next one.
        """
        if self._expected is None:
            self._waiting = found
        else:
            self._waiting.extend(found)
            _write(self._expected, found)


def _copied(notes: Notes) -> Notes:
    return {name: noted.copy() for name, noted in notes.items()}


def _write(notes: Notes, found: Iterable[Note], rounds: float = math.inf) -> None:
    """Write down those of the first rounds."""
    for round_, name, value in found:
        if round_ < rounds:
            if name not in notes:
                notes[name] = Noted({}, Distinct())
            notes[name].add(name, value)
