"""Features as people have them, coded as the trees want them: one float64 vector for each row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.plain import (
    LARGEST,
    Coded,
    Tags,
    coded,
    is_coded,
    is_missing,
    is_simple,
    name_of,
    number_in,
    number_of,
    plain_row,
    text_of,
    twice,
)
from banditboost.rows.sharing import (
    FEWEST_COLUMNS,
    FEWEST_SAID,
    MOST_COLUMNS,
    MOST_WORDS,
    SHARED,
    code_of,
    equals,
    is_text,
    words_in,
)
from banditboost.rows.value_places import ValuePlaces
from banditboost.text import quoted, visible
from banditboost.types import Array

_TEXT = " (text)"  # ends the name of the nominal feature that takes the texts of a numeric one


Cell = float | str | Coded


class Cells(NamedTuple):
    """What a row says; what is missing is left out."""

    known: dict[Hashable, Cell]  # numbers of numeric features, and names that have their places
    columns: dict[Hashable, Cell]  # the others: a number for a numeric feature, a name for a nominal one
    words: dict[int, float]  # weights by code
    told: bool  # by a branch, where its values have places
    length: int | None = None  # of a row without names, which says how long such rows are


class Told(dict[Hashable, Any]):
    """A row as a branch tells it: values that have places there get them here."""


class Schema(ValuePlaces):
    """The features of a model: their names, in order, and whether each is numeric or nominal.

    Without arguments it is open: features and nominal values join as rows bring them. Declared features are
    closed: a row with another name is refused. Nominal values may always come: up to 256 of a feature get a
    place of their own, the others share places.

    Args:
        numeric: names of numeric features.
        nominal: names of nominal features, or a dict with the values that are known.
        dates: names of dates and times, also as ISO text; each becomes seven numeric features.
        words: names of texts and lists of words, of which each word counts.
        strict: refuse texts that are numbers ("3") in a numeric feature; in an open schema, refuse whatever
            changes a feature's type.

    >>> Schema(numeric=["hour"], nominal={"device": ["phone", "desktop"]})
    Schema(hour: numeric, device: nominal[2])
    >>> len(Schema(numeric=["hour"], nominal=["device"]))
    2
    """

    def encode(self, row: Mapping[Any, Any], out: Array) -> bool:
        """Code a dict row into `out`, which holds NaN; False, with `out` half written, if the row brings
        anything new or odd.
        """
        columns, notes, unknown = self._columns, [], []
        for name, value in row.items():
            column = columns.get(name)
            if column is None:
                unknown.append((name, value))
                continue
            index, codes = column
            if codes is None:
                kind = type(value)
                if (kind is not float and kind is not int) or not -LARGEST <= value <= LARGEST:
                    return False
                out[index] = value
            else:
                if type(value) is bool:
                    value = str(value)
                code = codes.get(value) if type(value) is str else None
                if code is None:
                    code = self.shared_code(name, value, codes)
                    if code is None:
                        return False
                    notes.append((name, value))
                out[index] = code
        if unknown and not self._encode_words(unknown, len(row) - len(unknown), out):
            return False
        if notes:
            self.write_notes(notes)
        return True

    def _encode_words(self, unknown: list[tuple[Any, Any]], n_known: int, out: Array) -> bool:
        """Write the words that unknown names are in a row that has few of the columns; False if they are
        anything else, or have no room.
        """
        lacks_columns = self._lacks_columns(n_known)
        if not (lacks_columns or self._is_bag([value for _, value in unknown], n_known)):
            return False
        words: dict[int, float] = {}
        for name, value in unknown:
            kind = type(value)
            if type(name) is not str or not (lacks_columns or equals(1, value)):
                return False
            if kind is str and self.had_dates(name):
                return False
            if kind is str or kind is bool:
                words[code_of(name, str(value))] = 1.0
            elif (kind is float or kind is int) and -LARGEST <= value <= LARGEST:
                words.update(_as_word(name, float(value)))
            else:
                return False
        places = self._word_places
        if len(words) > len(places):
            return False
        for index, (code, weight) in zip(places, words.items(), strict=False):
            out[index], out[index + 1] = code, weight
        return True

    def shared_code(self, name: Hashable, value: Any, codes: Mapping[Hashable, int]) -> int | None:
        """The number of a value without a place of its own; None if it gets one now, or is words, too."""
        if type(value) is not str or not self.shares or self._joins(name, value, codes):
            return None
        return None if self._counts_by_words(value) else SHARED + code_of(name, value)

    def cells(self, row: Mapping[Any, Any]) -> Cells:
        """What a row says, known or not. It refuses a bad row."""
        known: dict[Hashable, Cell] = {
            name: value for name, value in row.items() if self._is_known(name, value)
        }
        others = {name: value for name, value in row.items() if name not in known} if known else row
        plain = plain_row(others, self._dates, known, self._reads_dates)
        found: dict[Hashable, Cell] = {}
        words: dict[int, float] = {}
        others_known = sum(value is not None and name in self._columns for name, value in plain.items())
        lacks_columns = self._lacks_columns(len(known) + others_known)
        new = [value for name, value in plain.items() if name not in self._columns]
        is_bag = not isinstance(row, Told) and self._is_bag(new, len(known) + others_known)
        for name, value in plain.items():
            if is_coded(name) or is_coded(value):
                self._check_told(name, value)
            if is_coded(name):
                words[name[1]] = number_of(name, value)
                continue
            if isinstance(value, Tags) or name in self._words:
                words.update(self._words_of(name, value))
                continue
            if name not in self._columns and self.declared:
                self._check_unknown(name, value)
            if value is None:
                continue
            column, cell = (name, value) if is_coded(value) else self._cell(name, value)
            if column is not name and (column in plain or column in found or column in known):
                raise twice(column, f"{quoted(name)} with the text {quoted(value)}", quoted(column))
            if column not in self._columns and (lacks_columns or (is_bag and equals(1, value))):
                words.update(_as_word(column, cell))
                continue
            found[column] = cell
            if isinstance(cell, str) and not self._is_own(column, cell) and self._counts_by_words(cell):
                words.update(dict.fromkeys((code_of(column, word) for word in words_in(cell)), 1.0))
        if len(words) > MOST_WORDS:
            raise FeatureError(
                f"the row has {len(words)} words; give at most {MOST_WORDS}, such as those that matter most"
            )
        return Cells(known, found, words, isinstance(row, Told))

    def _is_known(self, name: Hashable, value: Any) -> bool:
        """Whether a cell is nothing but a number of a numeric feature, or a value that has its place."""
        column = self._columns.get(name) if type(name) is str else None
        if column is None or not is_simple(value):
            return False
        codes = column[1]
        return type(value) is not str if codes is None else type(value) is str and value in codes

    def _check_told(self, name: Hashable, value: Any) -> None:
        """Refuse a number in the place of a word or value where a branch would tell none."""
        if is_coded(name):
            good = self.takes_words and isinstance(value, (int, float)) and not isinstance(value, bool)
        else:
            good = name not in self._columns or self._columns[name][1] is not None
        if not good:
            raise FeatureError(
                f"feature {quoted(name)} is {quoted(value)}, as a branch tells what it knows by number only; "
                "give a name, a number or a text"
            )

    def _words_of(self, name: Hashable, value: Any) -> dict[int, float]:
        """The words of a list, or of a text in a column that was declared for words."""
        if value is None:
            return {}
        if self.declared and name not in self._words:
            raise FeatureError(
                f"feature {quoted(name)} is the list {quoted(list(value))}; declare Schema(words="
                f"[{quoted(name)}]), or leave it out"
            )
        if not self.takes_words:
            raise FeatureError(
                f"feature {quoted(name)} is the text or list {quoted(value)}, of which only GapBoost learns "
                "the words; give each word as a feature, such as {'red': True}, or use GapBoost"
            )
        words = value if isinstance(value, Tags) else words_in(name_of(value))
        return dict.fromkeys((code_of(name, word) for word in words), 1.0)

    def _lacks_columns(self, n_known: int) -> bool:
        """Whether a row with so many of the columns that have joined brings no more: what else it has are
        words.
        """
        n_columns = len(self._columns)
        sparse = n_columns >= FEWEST_COLUMNS and 2 * n_known < n_columns
        return self.finds_words and (sparse or n_columns >= MOST_COLUMNS)

    def _is_bag(self, new: Sequence[Any], n_known: int) -> bool:
        """Whether features that a row brings are words if they are 1 or True: there are many of them, or the
        row lacks most columns, and none is 0 or False, as in a table.
        """
        n_columns = len(self._columns)
        if not self.finds_words or any(equals(0, value) for value in new):
            return False
        n_said = sum(equals(1, value) for value in new)
        return n_said >= FEWEST_SAID or FEWEST_SAID <= n_columns > 2 * n_known

    def _counts_by_words(self, value: str) -> bool:
        """Whether a nominal value without a place of its own counts by its words, too."""
        return self.finds_words and is_text(value)

    def _cell(self, name: Hashable, value: Any) -> tuple[Hashable, Cell]:
        """The feature that a value belongs to, and the value as that feature has it."""
        codes = self._columns[name][1] if name in self._columns else None
        if codes is not None:
            if self.strict and not self.declared and not isinstance(value, str):
                raise FeatureError(
                    f"feature {quoted(name)} is nominal, but this row has the number {quoted(value)}; "
                    f"give str({quoted(value)}), or declare a Schema"
                )
            return name, name_of(value)
        if not isinstance(value, str):
            return name, number_of(name, value)
        is_name = name not in self._columns and not self.had_dates(name)
        return (name, value) if is_name else self._text(name, value)

    def had_dates(self, name: Hashable) -> bool:
        """Whether a column that was not declared has brought dates or times, and nothing else before."""
        if self.declared or name in self._columns:
            return False
        return any(f"{text_of(name)}.{part}" in self._columns for part in ("hour.sin", "weekday.sin"))

    def _reads_dates(self, name: Hashable) -> bool:
        """Whether ISO text is a date in this column though it was not declared."""
        return not self.strict and self.had_dates(name)

    def _text(self, name: Hashable, text: str) -> tuple[Hashable, Cell]:
        """A text in a feature of numbers or dates: the number that it is, or a name beside it."""
        is_numeric = name in self._columns
        number = number_in(name, text) if is_numeric and not self.strict else None
        if number is not None:
            return name, number
        if not is_numeric and self.strict:
            raise FeatureError(
                f"feature {quoted(name)} is a date, but this row has the text {quoted(text)}; give a date, "
                f"or declare Schema(dates=[{quoted(name)}])"
            )
        if self.declared or self.strict:
            raise FeatureError(
                f"feature {quoted(name)} is numeric, but this row has {quoted(text)}; give a number, "
                f"or declare Schema(nominal=[{quoted(name)}])"
            )
        beside = text_of(name) + _TEXT
        return self._cell(beside, text)

    def texts(self) -> dict[str, tuple[Hashable, ...]]:
        """The texts that came in features of numbers or dates, by feature."""
        found = {
            name.removesuffix(_TEXT): name
            for name, (_, codes) in self._columns.items()
            if codes is not None and isinstance(name, str) and name.endswith(_TEXT)
        }
        numeric = {text_of(name) for name, (_, codes) in self._columns.items() if codes is None}
        return {
            visible(name): self.values(beside)
            for name, beside in found.items()
            if name in numeric or self.had_dates(name)
        }

    def _news(self, cells: Cells) -> list[tuple[Hashable, str, Any]]:
        """What a row would bring (name, kind, value): features, nominal values, and room for words."""
        found: list[tuple[Hashable, str, Any]] = []
        for name, cell in cells.columns.items():
            codes = self._columns[name][1] if name in self._columns else None
            if isinstance(cell, str):
                if codes is None or (cell not in codes and self._joins(name, cell, codes, cells.told)):
                    found.append((name, "nominal", cell))
                elif cell not in codes and not self.shares:
                    found.append((name, "shared", cell))
            elif isinstance(cell, tuple):
                if codes is None or not self.shares:
                    found.append((name, "shared", cell))
            elif name not in self._columns:
                found.append((name, "numeric", None))
        if len(cells.words) > len(self._word_places):
            found.append((None, "words", len(cells.words)))
        return found

    def admit(self, row: Any) -> None:
        """Let a row's new features and values join, after the whole row was found good."""
        self._admit_cells(self._read(row))

    def _read(self, row: Any) -> Cells:
        """What a row says, with names or without. It refuses a bad row."""
        named = self.named(row)
        cells = self.cells(named)
        return cells._replace(length=len(named)) if self._is_by_position(row) else cells

    def _admit_cells(self, cells: Cells) -> None:
        if cells.length is not None:
            self._positions = cells.length
        for name, kind, value in self._news(cells):
            if kind == "words":
                self._add_word_places(value)
            elif kind == "shared":
                if name not in self._columns:
                    self._add(name, "nominal")
                self.shares = True
                self.version += 1
            elif name not in self._columns:
                self._add(name, kind)
            if kind == "nominal":
                self._add_value(name, value)

    def code(self, row: Any) -> Array:
        """A row as numbers, after its new features and values have joined."""
        return self.join(self._read(row))

    def join(self, cells: Cells) -> Array:
        """A row that was read as numbers, after its new features and values have joined."""
        self._admit_cells(cells)
        return self._noted(cells)

    def code_if_known(self, row: Any) -> Array | Cells:
        """A row as numbers; what it says if it brings anything that has not joined. It refuses a bad row."""
        if not isinstance(row, Told):
            out = np.full(len(self), math.nan)
            if self.encode(self.named(row), out):
                return out
        return self.code_by_cells(row)

    def code_by_cells(self, row: Any) -> Array | Cells:
        """As `code_if_known`, for a row that `encode` has not taken."""
        cells = self._read(row)
        if self._news(cells) or (self._positions is None and cells.length is not None):
            return cells
        return self._noted(cells)

    def code_ahead(self, row: Any, round_: int) -> Array | Cells:
        """As `code_if_known`, for a round that comes later: `look_ahead` was called, and all rows between
        were coded.
        """
        self._ahead = round_
        try:
            return self.code_if_known(row)
        finally:
            self._ahead = None

    def has_texts(self, values: Iterable[Any]) -> bool:
        """Whether some of these count by their words."""
        return self.finds_words and any(isinstance(value, str) and is_text(value) for value in values)

    def makes_words_of(self, row: Mapping[Any, Any]) -> bool:
        """Whether some features of a row would be words."""
        return bool(self.cells(self.named(row)).words)

    def _noted(self, cells: Cells) -> Array:
        """Numbers, and a note of each value that has no place of its own."""
        numbers = self._numbers(cells)
        found = [
            (name, cell)
            for name, cell in cells.columns.items()
            if isinstance(cell, str) and not self._is_own(name, cell)
        ]
        if found:
            self.write_notes(found)
        return numbers

    def _is_by_position(self, row: Any) -> bool:
        """Whether a row without names is about to say, or has said, how long such rows are."""
        return not self.declared and not hasattr(row, "items")

    def code_known(self, row: Any) -> Array:
        """A row as numbers, without what has not joined; nothing joins. It refuses a bad row."""
        return self.encode_anew(self.named(row))

    def encode_anew(self, row: Mapping[Any, Any]) -> Array:
        """Code a row by names; what has not joined is left out. It refuses a bad row."""
        return self._numbers(self.cells(row))

    def _numbers(self, cells: Cells) -> Array:
        out = np.full(len(self), math.nan)
        for name, cell in cells.known.items():
            index, codes = self._columns[name]
            out[index] = cell if codes is None else codes[cell]
        for name, cell in cells.columns.items():
            if name in self._columns:
                index, codes = self._columns[name]
                if codes is None:
                    out[index] = cell
                elif isinstance(cell, str) and cell in codes:
                    out[index] = codes[cell]
                elif self.shares:
                    out[index] = _number_among(name, cell, codes)
        for index, (code, weight) in zip(self._word_places, cells.words.items(), strict=False):
            out[index], out[index + 1] = code, weight
        return out

    def told(self, numbers: Array) -> dict[Hashable, Any] | list[Any]:
        """A coded row by names and values, which a schema where others have joined can code anew.

        What is missing is left out. If rows have no names it is a list, with NaN for a number that is missing
        and None for a place that nothing was known of.
        """
        row: dict[Hashable, Any] = {}
        given = numbers.tolist()
        for name, (index, codes) in list(self._columns.items()):
            if index >= len(given):
                continue
            number = given[index]
            if codes is None:
                row[name] = number
            elif number == number:
                row[name] = list(codes)[int(number)] if number < SHARED else coded(int(number) - SHARED)
        for index in self._word_places:
            if index + 1 < len(given) and given[index] == given[index]:
                row[coded(int(given[index]))] = given[index + 1]
        here = {name: value for name, value in row.items() if not is_missing(value)}
        places = [f"x{i}" for i in range(self._positions or 0)]
        return [row.get(place) for place in places] if places and here.keys() <= set(places) else here

    def _check_unknown(self, name: Hashable, value: Any) -> None:
        """Refuse a name that was not declared, unless it is that of a date, or of a dict, that is missing."""
        within = f"{text_of(name)}."
        if value is not None or not any(
            isinstance(known, str) and known.startswith(within) for known in self._columns
        ):
            raise self._unknown(name)


def _number_among(name: Hashable, cell: Any, codes: Mapping[Hashable, int]) -> int:
    """The number of a value without a place of its own; one of which only the number is known may be one of
    those that have a place.
    """
    if isinstance(cell, str):
        return SHARED + code_of(name, cell)
    known = {code_of(name, str(value)): code for value, code in codes.items()}
    number: int = cell[1]
    return known.get(number, SHARED + number)


def _as_word(name: Hashable, cell: Cell) -> dict[int, float]:
    """A cell of a column that has no place of its own; a number that is 0 tells nothing."""
    if isinstance(cell, str):
        return {code_of(name, cell): 1.0}
    if isinstance(cell, tuple):
        return {cell[1]: 1.0}
    return {code_of(name, ""): cell} if cell != 0.0 else {}
