"""Features as people have them, coded as the trees want them: one float64 vector for each row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.declaring import are_counts, are_notes, are_places, are_values, check_strict, listed
from banditboost.rows.distinct import Distinct
from banditboost.rows.plain import (
    DATE_PARTS,
    LARGEST,
    Coded,
    Tags,
    coded,
    is_coded,
    is_missing,
    name_of,
    number_in,
    number_of,
    plain_row,
    text_of,
    too_large,
    twice,
)
from banditboost.rows.sharing import (
    FIRST_VALUES,
    MAX_VALUES,
    MOST_COLUMNS,
    MOST_NOTES,
    MOST_WORDS,
    SHARED,
    Comings,
    Newcomers,
    Note,
    Noted,
    code_of,
    is_text,
    places_for,
    slots_for,
    words_in,
)
from banditboost.text import quoted, visible
from banditboost.types import Array
from banditboost.validation import is_hashable

_KINDS = ("numeric", "nominal")
_ROUNDS = 0  # of a model's counters
_TEXT = " (text)"  # ends the name of the nominal feature that takes the texts of a numeric one


Cell = float | str | Coded


class Place(NamedTuple):
    """One number of a coded row."""

    name: Hashable  # of its feature; None for a word or its weight
    kind: str  # 'numeric', 'nominal', 'word' or 'weight'
    n_values: int  # with a code of their own
    n_slots: int  # that it has in a table of weights


class Cells(NamedTuple):
    """What a row says; what is missing is left out."""

    columns: dict[Hashable, Cell]  # a number for each numeric feature, a name for each nominal one
    words: dict[int, float]  # weights by code
    told: bool  # by a branch, where its values have places


class Told(dict[Hashable, Any]):
    """A row as a branch tells it: values that have places there get them here."""


class Schema:
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

    strict = False
    takes_words = False
    """Whether the model that rows are coded for learns words."""
    counters: Sequence[int] = ()
    """Of that model: the first one is how many rounds were decided. Without a model every row counts."""
    keeps_all_values = False
    """Whether each nominal value gets a place of its own, as soon as it comes."""
    _ahead: int | None = None  # the round that the next row is coded for, if rows are coded ahead
    _dates: tuple[Hashable, ...] = ()  # declared columns of dates, each with its seven features
    _words: tuple[Hashable, ...] = ()  # declared columns of words
    _word_places: tuple[int, ...] = ()  # where in a row each word stands; its weight stands after it
    shares: bool = False
    """Whether a nominal value came that has no place of its own."""

    def __init__(
        self,
        numeric: Iterable[str] = (),
        nominal: Mapping[str, Iterable[Hashable]] | Iterable[str] = (),
        *,
        dates: Iterable[str] = (),
        words: Iterable[str] = (),
        strict: bool = False,
    ) -> None:
        numbers, nominals = listed("numeric", numeric), listed("nominal", nominal)
        values = [listed(name, nominal[name]) if isinstance(nominal, Mapping) else [] for name in nominals]
        kinds = ["numeric"] * len(numbers) + ["nominal"] * len(nominals)
        days = listed("dates", dates)
        parts = [f"{text_of(day)}.{part}" for day in days for part in DATE_PARTS]
        names, known = [*numbers, *nominals, *parts], [*([()] * len(numbers)), *values, *([()] * len(parts))]
        self._start(names, [*kinds, *["numeric"] * len(parts)], known)
        self._take_dates(days)
        self._take_words(listed("words", words))
        self.strict = check_strict(strict)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kinds: Sequence[str],
        values: Sequence[Iterable[Hashable] | None] | None = None,
    ) -> Schema:
        """Features in any order: a name, a kind ('numeric' or 'nominal') and, where known, the values of
        each.
        """
        schema = cls.__new__(cls)
        names = listed("names", names)
        known = [
            () if v is None else v for v in listed("values", [()] * len(names) if values is None else values)
        ]
        schema._start(names, listed("kinds", kinds), known)
        return schema

    def _start(
        self, names: Sequence[str], kinds: Sequence[str], values: Sequence[Iterable[Hashable]]
    ) -> None:
        if not len(names) == len(kinds) == len(values):
            raise FeatureError(
                f"{len(names)} names, {len(kinds)} kinds and {len(values)} lists of values: give one of each "
                "for every feature"
            )
        self.declared = len(names) > 0
        self._positions: int | None = None  # how long rows without names are, where they brought the features
        self._array_width = -1  # how long an array is that can be taken as it is, if that is known
        self.version = 0  # grows whenever a feature, a value or a place joins
        self._width = 0  # of a coded row
        self._newcomers = Newcomers()
        self._declared_values: dict[Hashable, int] = {}
        self._columns: dict[Hashable, tuple[int, dict[Hashable, int] | None]] = {}
        for name, kind, known in zip(names, kinds, values, strict=True):
            if not is_hashable(name):
                raise FeatureError(
                    f"the name {quoted(name)} is not hashable; give strings as names of features"
                )
            if name in self._columns:
                raise FeatureError(f"feature {quoted(name)} is declared twice; give each name once")
            self._add(name, kind, listed(f"the list of values of {quoted(name)}", known))

    def _take_dates(self, dates: Sequence[Hashable]) -> None:
        """Columns that are dates; their features are there."""
        taken: set[Hashable] = set()
        for name in dates:
            if not is_hashable(name):
                raise FeatureError(
                    f"the name {quoted(name)} is not hashable; give strings as names of features"
                )
            if name in self._columns or name in taken:
                raise FeatureError(f"feature {quoted(name)} is declared twice; give each name once")
            taken.add(name)
        self._dates = tuple(dates)

    def _take_words(self, words: Sequence[Hashable]) -> None:
        """Columns whose words count; they have no place of their own."""
        for name in words:
            if not is_hashable(name) or name in self._columns or name in self._dates or words.count(name) > 1:
                raise FeatureError(
                    f"{quoted(name)} in words is declared twice, or is no name; give each name once"
                )
        self._words = tuple(words)
        self.declared = self.declared or bool(words)

    def _add(self, name: Hashable, kind: str, values: Iterable[Hashable] = ()) -> None:
        if not isinstance(kind, str) or kind not in _KINDS:
            raise FeatureError(
                f"feature {quoted(name)} has kind {quoted(kind)}; it must be 'numeric' or 'nominal'"
            )
        codes: dict[Hashable, int] | None = (
            {value: code for code, value in enumerate(dict.fromkeys(map(name_of, values)))}
            if kind == "nominal"
            else None
        )
        if codes is not None and len(codes) > MAX_VALUES:
            raise FeatureError(
                f"feature {quoted(name)} has {len(codes)} values; at most {MAX_VALUES} can be kept: "
                "merge the rare ones"
            )
        self._columns[name] = (self._width, codes)
        self._width += 1
        self._array_width = -1
        self.version += 1
        if codes is not None and len(codes) > FIRST_VALUES:
            self._declared_values[name] = len(codes)

    def _add_word_places(self, n_words: int) -> None:
        """Have room for so many words in a row."""
        n_new = places_for(n_words) - len(self._word_places)
        self._word_places += tuple(range(self._width, self._width + 2 * n_new, 2))
        self._width += 2 * n_new
        self._array_width = -1
        self.version += 1

    def copy(self) -> Schema:
        """A schema that knows as much; what joins it does not join this one."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._columns = dict(self._columns)
        made._newcomers = self._newcomers.copy()
        return made

    def alone(self) -> Schema:
        """A copy that belongs to no model."""
        made = self.copy()
        made._newcomers.settle(self.rounds)
        made.counters = ()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Without the counters, which are the model's."""
        self._newcomers.settle(self.rounds)
        return {name: value for name, value in self.__dict__.items() if name != "counters"}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `Schema.from_dict` makes the schema again."""
        values = [None if codes is None else list(codes) for _, codes in self._columns.values()]
        data = {
            "names": list(self.names),
            "values": values,
            "declared": self.declared,
            "positions": self._positions,
        }
        if self._dates:
            data["dates"] = list(self._dates)
        return {**data, **self._sharing_to_dict(), **({"strict": True} if self.strict else {})}

    def _sharing_to_dict(self) -> dict[str, Any]:
        """What there is besides plain features."""
        notes = self._newcomers.to_plain(self.rounds)
        found = {
            "words": list(self._words),
            "word_places": list(self._word_places),
            "shares": self.shares,
            "newcomers": [list(note) for note in notes],
        }
        if max(self.n_values(), default=0) > FIRST_VALUES:
            found["declared_values"] = [self._declared_values.get(name, 0) for name in self._columns]
        return {name: value for name, value in found.items() if value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` described."""
        if not isinstance(data, Mapping):
            raise FeatureError(
                f"the stored schema is {quoted(data)}; give the whole dict that to_dict returned"
            )
        names, values, positions = data.get("names"), data.get("values"), data.get("positions")
        if (
            not isinstance(names, list)
            or not isinstance(values, list)
            or not all(v is None or are_values(v) for v in values)
        ):
            raise FeatureError(
                "the stored schema has no list of names and values; give the whole dict that to_dict returned"
            )
        if not isinstance(data.get("declared"), bool) or not (
            positions is None or (type(positions) is int and 0 < positions < 2**31)
        ):
            raise FeatureError(
                "the stored schema does not say whether it is declared; give the whole dict that to_dict "
                "returned"
            )
        schema = cls.of(names, ["numeric" if known is None else "nominal" for known in values], values)
        schema.declared, schema._positions = data["declared"], positions
        schema._restore_sharing(data)
        schema.strict = check_strict(data.get("strict", False))
        dates = data.get("dates", [])
        if not isinstance(dates, list) or not (schema.declared or not dates):
            raise FeatureError(
                f"the stored schema has the dates {quoted(dates)}; give the whole dict that to_dict returned"
            )
        schema._take_dates(dates)
        for name in (f"{text_of(day)}.{part}" for day in dates for part in DATE_PARTS):
            if name not in schema._columns or schema._columns[name][1] is not None:
                raise FeatureError(
                    f"the stored schema has no numeric feature {quoted(name)} for its date; give the whole "
                    "dict that to_dict returned"
                )
        return schema

    @property
    def word_places(self) -> Array:
        """Where in a coded row each word stands; its weight stands after it."""
        return np.array(self._word_places, np.int64)

    @property
    def shares_places(self) -> bool:
        """Whether names or words share places."""
        return self.shares or bool(self._word_places)

    def _restore_sharing(self, data: Mapping[str, Any]) -> None:
        """Go on with words, places and notes that were stored; refused if they do not fit the features."""
        words, places, notes = (data.get(name, []) for name in ("words", "word_places", "newcomers"))
        counts = data.get("declared_values", self.n_values())
        width = len(self._columns) + 2 * len(places if isinstance(places, list) else [])
        nominal = {name: codes for name, (_, codes) in self._columns.items() if codes is not None}
        taken = [index for place in places for index in (place, place + 1)] if are_places(places) else [-1]
        good = (
            isinstance(words, list)
            and isinstance(data.get("shares", False), bool)
            and all(0 <= index < width for index in taken)
            and len(places) in (0, places_for(len(places)))
            and len(places) <= MOST_WORDS
            and len(set(taken)) == len(taken)
            and are_counts(counts, [len(nominal.get(name, ())) for name in self._columns])
            and are_notes(notes, nominal, MOST_NOTES)
        )
        if not good:
            raise FeatureError(
                "the stored schema has words or values that do not fit its features; give the whole dict "
                "that to_dict returned"
            )
        if words:
            self._take_words(words)
        free = iter(sorted(set(range(width)) - set(taken)))
        self._columns = {name: (next(free), codes) for name, (_, codes) in self._columns.items()}
        self._word_places, self._width, self.shares = tuple(places), width, data.get("shares", False)
        self._declared_values = {
            name: n for name, n in zip(self._columns, counts, strict=True) if n > FIRST_VALUES
        }
        self._newcomers = Newcomers(
            {
                name: Noted(dict.fromkeys(once), Distinct(bytes.fromhex(counted)))
                for name, once, counted in notes
            }
        )

    def __len__(self) -> int:
        """How many numbers a coded row has."""
        return self._width

    def places(self) -> list[Place]:
        """What each number of a coded row is."""
        found = [Place(None, "word", 0, 0)] * self._width
        for name, (index, codes) in self._columns.items():
            if codes is None:
                found[index] = Place(name, "numeric", 0, 1)
            else:
                n_slots = slots_for(len(codes), self._declared_values.get(name, 0))
                found[index] = Place(name, "nominal", len(codes), n_slots)
        for index in self._word_places:
            found[index + 1] = Place(None, "weight", 0, 0)
        return found

    def __repr__(self) -> str:
        parts = (
            f"{visible(name)}: numeric" if codes is None else f"{visible(name)}: nominal[{len(codes)}]"
            for name, (_, codes) in self._columns.items()
        )
        words = (f"{visible(name)}: words" for name in self._words)
        return f"Schema({', '.join([*parts, *words])})"

    @property
    def names(self) -> tuple[Hashable, ...]:
        return tuple(self._columns)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple("numeric" if codes is None else "nominal" for _, codes in self._columns.values())

    def values(self, name: Hashable) -> tuple[Hashable, ...]:
        """The known values of a nominal feature, in the order of their codes."""
        if not is_hashable(name) or name not in self._columns:
            raise self._unknown(name)
        codes = self._columns[name][1]
        return () if codes is None else tuple(codes)

    def n_values(self) -> list[int]:
        """Known values of each feature, 0 for a numeric one."""
        return [0 if codes is None else len(codes) for _, codes in self._columns.values()]

    def are_nominal(self) -> list[bool]:
        """Whether each feature is nominal."""
        return [codes is not None for _, codes in self._columns.values()]

    # Rows without names

    @property
    def by_position(self) -> bool:
        """Whether the features came from rows without names."""
        return self._positions is not None

    def _position_names(self, length: int) -> tuple[Hashable, ...]:
        """What the places of a row are called: as declared, else x0, x1, ..."""
        if length == 0:
            raise FeatureError("the row has no features; give at least one value, or a dict")
        if self._columns and not self.declared and self._positions is None:
            raise FeatureError(
                "the row has no names, but this model's features came from dict rows; give a dict, or "
                "declare a Schema"
            )
        if (self._dates or self._words) and length == len(self._as_declared()):
            return self._as_declared()
        expected = len(self._columns) if self.declared else self._positions
        if expected is not None and length != expected:
            raise FeatureError(
                f"the row has {length} values where {expected} are expected; give one for each feature of "
                f"{quoted(self)}"
            )
        return self.names if self.declared else tuple(f"x{i}" for i in range(length))

    def _as_declared(self) -> tuple[Hashable, ...]:
        """The names that were given: a date is one of them, not seven."""
        parts = {f"{text_of(day)}.{part}" for day in self._dates for part in DATE_PARTS}
        return (*(name for name in self._columns if name not in parts), *self._dates, *self._words)

    def named(self, row: Any) -> Mapping[Any, Any]:
        """A row as a mapping: a dict as it is, a list or tuple by position."""
        if isinstance(row, Mapping):
            return row
        if isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim == 1):
            return dict(zip(self._position_names(len(row)), row, strict=True))
        if hasattr(row, "items") and not isinstance(row, type):
            with suppress(TypeError, ValueError):
                return dict(row.items())
        raise FeatureError(
            f"the row is {quoted(row)} of type {type(row).__name__}; give a dict of features, "
            "or an array or list in the schema's order"
        )

    def takes_array(self, row: Array) -> bool:
        """Whether an array of numbers can be copied as it is; the first one brings the features.

        If not, it goes value by value.
        """
        if row.ndim != 1 or row.dtype.kind not in "fiub":
            raise FeatureError(
                f"the row has shape {row.shape} and type {row.dtype}; give a one-dimensional array of numbers"
            )
        if row.shape[0] == self._array_width:
            return True
        names = self._position_names(row.shape[0])
        if not self._columns:
            for i in np.flatnonzero(np.abs(row.astype(np.float64)) > LARGEST):
                raise too_large(f"x{i}", row[i])
            for name in names:
                self._add(name, "numeric")
            self._positions = len(names)
        if self.names != names or self._word_places:
            return False
        self._array_width = len(names)
        return True

    def bad_position(self, index: int, value: float) -> FeatureError:
        """What is wrong with an array row at one place."""
        if index >= len(self):
            return FeatureError(
                f"the row has a value at place {index + 1} where {len(self)} are expected; give one for each "
                f"feature of {quoted(self)}"
            )
        name = self.places()[index].name
        codes = self._columns[name][1]
        if codes is None:
            return too_large(name, value)
        return FeatureError(
            f"feature {quoted(name)} is nominal: in an array give a code from 0 to {len(codes) - 1}, "
            f"or NaN for missing, not {quoted(value)}"
        )

    def encode(self, row: Mapping[Any, Any], out: Array) -> bool:
        """Code a dict row into `out`, which holds NaN; False, with `out` half written, if the row brings
        anything new or odd.
        """
        columns, notes = self._columns, []
        for name, value in row.items():
            column = columns.get(name)
            if column is None:
                return False
            index, codes = column
            if codes is None:
                kind = type(value)
                if (kind is not float and kind is not int) or not -LARGEST <= value <= LARGEST:
                    return False
                out[index] = value
            else:
                code = codes.get(value) if type(value) is str else None
                if code is None:
                    if type(value) is not str or not self._stays_without_place(name, value, codes):
                        return False
                    code = SHARED + code_of(name, value)
                    notes.append((name, value))
                out[index] = code
        if notes:
            self._write_notes(notes)
        return True

    def _stays_without_place(self, name: Hashable, value: str, codes: Mapping[Hashable, int]) -> bool:
        """Whether a value that has no place of its own gets none now, and is nothing but a value."""
        return self.shares and not self._joins(name, value, codes) and not self._counts_by_words(value)

    def cells(self, row: Mapping[Any, Any]) -> Cells:
        """What a row says, known or not. It refuses a bad row."""
        plain = plain_row(row, self._dates)
        found: dict[Hashable, Cell] = {}
        words: dict[int, float] = {}
        for name, value in plain.items():
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
            if column != name and (column in plain or column in found):
                raise twice(column, f"{quoted(name)} with the text {quoted(value)}", quoted(column))
            if column not in self._columns and self._is_full:
                words.update(_as_word(column, cell))
                continue
            found[column] = cell
            if isinstance(cell, str) and not self._is_own(column, cell) and self._counts_by_words(cell):
                words.update(dict.fromkeys((code_of(column, word) for word in words_in(cell)), 1.0))
        if len(words) > MOST_WORDS:
            raise FeatureError(
                f"the row has {len(words)} words; give at most {MOST_WORDS}, such as those that matter most"
            )
        return Cells(found, words, isinstance(row, Told))

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

    @property
    def _is_full(self) -> bool:
        """Whether columns that come now are words."""
        return self.takes_words and not self.declared and len(self._columns) >= MOST_COLUMNS

    def _is_own(self, name: Hashable, value: str) -> bool:
        """Whether a nominal value has a place of its own."""
        codes = self._columns[name][1] if name in self._columns else None
        return codes is not None and value in codes

    def _counts_by_words(self, value: str) -> bool:
        """Whether a nominal value without a place of its own counts by its words, too."""
        return self.takes_words and not self.declared and is_text(value)

    def _joins(self, name: Hashable, value: str, codes: Mapping[Hashable, int], told: bool = False) -> bool:
        """Whether a value gets a place of its own now."""
        if len(codes) < FIRST_VALUES or self.keeps_all_values:
            return True
        if told:
            return len(codes) < MAX_VALUES
        if self._ahead is None:
            self._newcomers.settle(self.rounds)
        return len(codes) < MAX_VALUES and self._newcomers.has(name, value)

    def _write_notes(self, found: list[tuple[Hashable, str]]) -> None:
        """Note what came without getting a place, in the round that the row is for."""
        round_ = self.rounds if self._ahead is None else self._ahead
        self._newcomers.note([Note(round_, name, value) for name, value in found])
        if not self.counters:
            self._newcomers.settle(round_ + 1)

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
        return self._text(name, value) if name in self._columns else (name, value)

    def _text(self, name: Hashable, text: str) -> tuple[Hashable, Cell]:
        """A text in a numeric feature: the number that it is, or a name beside it."""
        number = None if self.strict else number_in(name, text)
        if number is not None:
            return name, number
        if self.declared or self.strict:
            raise FeatureError(
                f"feature {quoted(name)} is numeric, but this row has {quoted(text)}; give a number, "
                f"or declare Schema(nominal=[{quoted(name)}])"
            )
        beside = text_of(name) + _TEXT
        return self._cell(beside, text)

    def texts(self) -> dict[str, tuple[Hashable, ...]]:
        """The texts that came in numeric features, by feature."""
        return {
            visible(name): self.values(text_of(name) + _TEXT)
            for name, (_, codes) in self._columns.items()
            if codes is None and self._columns.get(text_of(name) + _TEXT, (0, None))[1] is not None
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
        named = self.named(row)
        self._admit_cells(self.cells(named), len(named) if self._is_by_position(row) else None)

    def _admit_cells(self, cells: Cells, length: int | None) -> None:
        """Let them join; `length` is how long the row is, if it has no names."""
        if length is not None:
            self._positions = length
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
                index, codes = self._columns[name]
                self._columns[name] = index, {**(codes or {}), value: len(codes or {})}
                self.version += 1

    def code(self, row: Any) -> Array:
        """A row as numbers, after its new features and values have joined."""
        named = self.named(row)
        cells = self.cells(named)
        self._admit_cells(cells, len(named) if self._is_by_position(row) else None)
        return self._noted(cells)

    def code_if_known(self, row: Any) -> Array | None:
        """A row as numbers; None if it brings anything that has not joined. It refuses a bad row."""
        named = self.named(row)
        out = np.full(len(self), math.nan)
        if self.encode(named, out):
            return out
        cells = self.cells(named)
        if self._news(cells) or (self._positions is None and self._is_by_position(row)):
            return None
        return self._noted(cells)

    def code_ahead(self, row: Any, round_: int) -> Array | None:
        """As `code_if_known`, for a round that comes later: `look_ahead` was called, and all rows between
        were coded.
        """
        self._ahead = round_
        try:
            return self.code_if_known(row)
        finally:
            self._ahead = None

    @property
    def rounds(self) -> int:
        """How many rounds the model has decided that rows are coded for."""
        return self.counters[_ROUNDS] if self.counters else 0

    def number_of(self, name: Hashable, value: str) -> float:
        """The number that a nominal value has in a coded row, if it does not join."""
        codes = self._columns[name][1] if name in self._columns else None
        return (codes or {}).get(value, SHARED + code_of(name, value))

    def comings(self, name: Hashable, rows: list[int], values: list[str]) -> Comings:
        """With which of these rows one of these values gets a place of its own; in between nothing is
        decided but rows of the same table.
        """
        self._newcomers.settle(self.rounds)
        codes = self._columns[name][1] if name in self._columns else None
        return self._newcomers.comings(name, len(codes or ()), rows, values)

    def note_ahead(self, found: list[Note]) -> None:
        """Note what comes without a place in rounds that are not decided yet."""
        if found:
            self._newcomers.look_ahead(self.rounds)
            self._newcomers.note(found)

    def has_texts(self, values: Iterable[Any]) -> bool:
        """Whether some of these count by their words."""
        return (
            self.takes_words
            and not self.declared
            and any(isinstance(value, str) and is_text(value) for value in values)
        )

    def shared_values(self) -> dict[Hashable, tuple[int, int]]:
        """Of each nominal feature whose values share places: how many have one of their own, and how many
        came that had none, about.
        """
        about = self._newcomers.about(self.rounds)
        return {name: (len(self._columns[name][1] or ()), n) for name, n in about.items()}

    def makes_words_of(self, names: Iterable[Hashable]) -> bool:
        """Whether some of these features would be words, since there are too many."""
        return self.takes_words and not self.declared and len({*self._columns, *names}) > MOST_COLUMNS

    def look_ahead(self) -> None:
        """Rows are coded before those before them are decided."""
        self._newcomers.look_ahead(self.rounds)

    def _noted(self, cells: Cells) -> Array:
        """Numbers, and a note of each value that has no place of its own."""
        numbers = self._numbers(cells)
        found = [
            (name, cell)
            for name, cell in cells.columns.items()
            if isinstance(cell, str) and not self._is_own(name, cell)
        ]
        if found:
            self._write_notes(found)
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

    def _unknown(self, name: Hashable) -> FeatureError:
        parts = [part for part in DATE_PARTS if isinstance(name, str) and name.endswith(f".{part}")]
        date = name[: -len(parts[0]) - 1] if isinstance(name, str) and parts else ""
        declare = f"declare Schema(dates=[{quoted(date)}])" if parts else "declare it"
        return FeatureError(
            f"feature {quoted(name)} is not in the declared schema {quoted(self)}; {declare}, or leave it out"
        )


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
