"""The columns of a schema: names, kinds and values, where each stands in a coded row, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.declaring import are_counts, are_notes, are_places, are_values, check_strict, listed
from banditboost.rows.distinct import Distinct
from banditboost.rows.plain import (
    DATE_PARTS,
    name_of,
    text_of,
)
from banditboost.rows.sharing import (
    FIRST_VALUES,
    MAX_VALUES,
    MOST_NOTES,
    MOST_WORDS,
    Newcomers,
    Noted,
    places_for,
    slots_for,
)
from banditboost.text import quoted, visible
from banditboost.types import Array
from banditboost.validation import is_hashable

_KINDS = ("numeric", "nominal")
_ROUNDS, _LOGGED = 0, 1  # of a model's counters
_NOT_KEPT = ("counters", "gathered", "_listed", "_known")
_Made = TypeVar("_Made")


class Place(NamedTuple):
    """One number of a coded row."""

    name: Hashable  # of its feature; None for a word or its weight
    kind: str  # 'numeric', 'nominal', 'word' or 'weight'
    n_values: int  # with a code of their own
    n_slots: int  # that it has in a table of weights


class Columns:
    """What a schema knows of the features; it codes no rows."""

    strict = False
    takes_words = False
    """Whether the model that rows are coded for learns words."""
    counters: Sequence[int] = ()
    """Of that model: the first one is how many rounds were decided. Without a model every row counts."""
    keeps_all_values = False
    """Whether each nominal value gets a place of its own, as soon as it comes."""
    _ahead: int | None = None  # the round that the next row is coded for, if rows are coded ahead
    _dates: Mapping[Hashable, None] = MappingProxyType({})  # declared columns of dates: seven features each
    _words: Mapping[Hashable, None] = MappingProxyType({})  # declared columns of words
    _word_places: tuple[int, ...] = ()  # where in a row each word stands; its weight stands after it
    shares: bool = False
    """Whether a nominal value came that has no place of its own."""
    _listed: list[Place] | None = None  # what each number of a row is, once somebody has asked
    _known: Mapping[Any, tuple[int, Any]] = MappingProxyType({})  # what `following` has made, by version

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
    ) -> Self:
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
        self._dates = dict.fromkeys(dates)

    def _take_words(self, words: Sequence[Hashable]) -> None:
        """Columns whose words count; they have no place of their own."""
        taken: set[Hashable] = set()
        for name in words:
            if not is_hashable(name) or name in self._columns or name in self._dates or name in taken:
                raise FeatureError(
                    f"{quoted(name)} in words is declared twice, or is no name; give each name once"
                )
            taken.add(name)
        self._words = dict.fromkeys(words)
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
        if self._listed is not None:
            self._listed.append(self._place_of(name))

    def _add_value(self, name: Hashable, value: Hashable) -> None:
        """Let a value of a nominal feature have the next place."""
        index, codes = self._columns[name]
        self._columns[name] = index, {**(codes or {}), value: len(codes or {})}
        self.version += 1
        if self._listed is not None:
            self._listed[index] = self._place_of(name)

    def _add_word_places(self, n_words: int) -> None:
        """Have room for so many words in a row."""
        n_new = places_for(n_words) - len(self._word_places)
        self._word_places += tuple(range(self._width, self._width + 2 * n_new, 2))
        self._width += 2 * n_new
        self._array_width, self._listed = -1, None
        self.version += 1

    def copy(self) -> Self:
        """A schema that knows as much; what joins it does not join this one."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._columns = dict(self._columns)
        made._newcomers = self._newcomers.copy()
        made._listed = None if self._listed is None else self._listed.copy()
        return made

    def alone(self) -> Self:
        """A copy that belongs to no model."""
        made = self.copy()
        made._newcomers.settle(self.rounds)
        made.counters = ()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Without the counters, which are the model's, and what follows from the rest."""
        self._newcomers.settle(self.rounds)
        return {name: value for name, value in self.__dict__.items() if name not in _NOT_KEPT}

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
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
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
    def column_places(self) -> Array:
        """Where in a coded row each feature stands, in the order of `names`."""
        return np.array([index for index, _ in self._columns.values()], np.int64)

    @property
    def dates(self) -> tuple[Hashable, ...]:
        """The columns that were declared as dates."""
        return tuple(self._dates)

    @property
    def words(self) -> tuple[Hashable, ...]:
        """The columns that were declared for words."""
        return tuple(self._words)

    @property
    def finds_words(self) -> bool:
        """Whether long texts, and columns beyond the most, count as words though none were declared."""
        return self.takes_words and not self.declared

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
        self._listed = None
        self.version += 1
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

    def following(self, make: Callable[[Any], _Made]) -> _Made:
        """What a function makes of these columns: again only when something has joined."""
        version, made = self._known.get(make, (-1, None))
        if version != self.version:
            made = make(self)
            self._known = {**self._known, make: (self.version, made)}
        found: _Made = made
        return found

    def places(self) -> list[Place]:
        """What each number of a coded row is; to be read only."""
        if self._listed is None:
            found = [Place(None, "word", 0, 0)] * self._width
            for name, (index, _) in self._columns.items():
                found[index] = self._place_of(name)
            for index in self._word_places:
                found[index + 1] = Place(None, "weight", 0, 0)
            self._listed = found
        return self._listed

    def _place_of(self, name: Hashable) -> Place:
        codes = self._columns[name][1]
        if codes is None:
            return Place(name, "numeric", 0, 1)
        return Place(name, "nominal", len(codes), slots_for(len(codes), self._declared_values.get(name, 0)))

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

    @property
    def rounds(self) -> int:
        """How many rounds the model has decided that rows are coded for."""
        return self.counters[_ROUNDS] + self.counters[_LOGGED] if self.counters else 0

    def _unknown(self, name: Hashable) -> FeatureError:
        parts = [part for part in DATE_PARTS if isinstance(name, str) and name.endswith(f".{part}")]
        date = name[: -len(parts[0]) - 1] if isinstance(name, str) and parts else ""
        declare = f"declare Schema(dates=[{quoted(date)}])" if parts else "declare it"
        return FeatureError(
            f"feature {quoted(name)} is not in the declared schema {quoted(self)}; {declare}, or leave it out"
        )
