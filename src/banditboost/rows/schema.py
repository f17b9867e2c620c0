"""Features as people have them, coded as the trees want them: one float64 vector for each row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.declaring import are_values, check_strict, listed
from banditboost.rows.plain import (
    DATE_PARTS,
    LARGEST,
    is_missing,
    name_of,
    number_in,
    number_of,
    plain_row,
    text_of,
    too_large,
    twice,
)
from banditboost.text import quoted, visible
from banditboost.types import Array
from banditboost.validation import is_hashable

MAX_VALUES = 256  # values kept for one nominal feature; later ones count as missing
_KINDS = ("numeric", "nominal")
_TEXT = " (text)"  # ends the name of the nominal feature that takes the texts of a numeric one


class Schema:
    """The features of a model: their names, in order, and whether each is numeric or nominal.

    Without arguments it is open: features and nominal values join as rows bring them. Declared features are
    closed: a row with another name is refused. Nominal values may always join, up to 256 for a feature; later
    ones count as missing.

    Args:
        numeric: names of numeric features.
        nominal: names of nominal features, or a dict with the values that are known.
        dates: names of dates and times, also as ISO text; each becomes seven numeric features.
        strict: refuse texts that are numbers ("3") in a numeric feature; in an open schema, refuse whatever
            changes a feature's type.

    >>> Schema(numeric=["hour"], nominal={"device": ["phone", "desktop"]})
    Schema(hour: numeric, device: nominal[2])
    >>> len(Schema(numeric=["hour"], nominal=["device"]))
    2
    """

    strict = False
    _dates: tuple[Hashable, ...] = ()  # declared columns of dates, each with its seven features

    def __init__(
        self,
        numeric: Iterable[str] = (),
        nominal: Mapping[str, Iterable[Hashable]] | Iterable[str] = (),
        *,
        dates: Iterable[str] = (),
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
        self.version = 0  # grows whenever a feature or a value joins
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
        self._columns[name] = (len(self._columns), codes)
        self._array_width = -1
        self.version += 1

    def copy(self) -> Schema:
        """A schema that knows as much; what joins it does not join this one."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._columns = dict(self._columns)
        return made

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
        return {**data, "strict": True} if self.strict else data

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

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        parts = (
            f"{visible(name)}: numeric" if codes is None else f"{visible(name)}: nominal[{len(codes)}]"
            for name, (_, codes) in self._columns.items()
        )
        return f"Schema({', '.join(parts)})"

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
        if self._dates and length == len(self._as_declared()):
            return self._as_declared()
        expected = len(self) if self.declared else self._positions
        if expected is not None and length != expected:
            raise FeatureError(
                f"the row has {length} values where {expected} are expected; give one for each feature of "
                f"{quoted(self)}"
            )
        return self.names if self.declared else tuple(f"x{i}" for i in range(length))

    def _as_declared(self) -> tuple[Hashable, ...]:
        """The names that were given: a date is one of them, not seven."""
        parts = {f"{text_of(day)}.{part}" for day in self._dates for part in DATE_PARTS}
        return (*(name for name in self._columns if name not in parts), *self._dates)

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
        if self.names != names:
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
        name = self.names[index]
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
        columns = self._columns
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
                    return False
                out[index] = code
        return True

    def cells(self, row: Mapping[Any, Any]) -> dict[Hashable, float | str]:
        """What a row says: a number for each numeric feature, a name for each nominal one, known or not.

        What is missing is left out. It refuses a bad row.
        """
        plain = plain_row(row, self._dates)
        found: dict[Hashable, float | str] = {}
        for name, value in plain.items():
            if name not in self._columns and self.declared:
                self._check_unknown(name, value)
            if value is None:
                continue
            column, cell = self._cell(name, value)
            if column != name and (column in plain or column in found):
                raise twice(column, f"{quoted(name)} with the text {quoted(value)}", quoted(column))
            found[column] = cell
        return found

    def _cell(self, name: Hashable, value: Any) -> tuple[Hashable, float | str]:
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

    def _text(self, name: Hashable, text: str) -> tuple[Hashable, float | str]:
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

    def _news(self, cells: Mapping[Hashable, float | str]) -> list[tuple[Hashable, str, Hashable]]:
        """The features and nominal values (name, kind, value) that a row would bring."""
        found: list[tuple[Hashable, str, Hashable]] = []
        for name, cell in cells.items():
            codes = self._columns[name][1] if name in self._columns else None
            if isinstance(cell, str):
                if codes is None or (cell not in codes and len(codes) < MAX_VALUES):
                    found.append((name, "nominal", cell))
            elif name not in self._columns:
                found.append((name, "numeric", None))
        return found

    def admit(self, row: Any) -> None:
        """Let a row's new features and values join, after the whole row was found good."""
        named = self.named(row)
        self._admit_cells(self.cells(named), len(named) if self._is_by_position(row) else None)

    def _admit_cells(self, cells: Mapping[Hashable, float | str], length: int | None) -> None:
        """Let them join; `length` is how long the row is, if it has no names."""
        if length is not None:
            self._positions = length
        for name, kind, value in self._news(cells):
            if name not in self._columns:
                self._add(name, kind)
            index, codes = self._columns[name]
            if codes is not None:
                self._columns[name] = index, {**codes, value: len(codes)}
                self.version += 1

    def code(self, row: Any) -> Array:
        """A row as numbers, after its new features and values have joined."""
        named = self.named(row)
        cells = self.cells(named)
        self._admit_cells(cells, len(named) if self._is_by_position(row) else None)
        return self._numbers(cells)

    def code_if_known(self, row: Any) -> Array | None:
        """A row as numbers; None if it brings anything that has not joined. It refuses a bad row."""
        named = self.named(row)
        out = np.full(len(self), math.nan)
        if self.encode(named, out):
            return out
        cells = self.cells(named)
        if self._news(cells) or (self._positions is None and self._is_by_position(row)):
            return None
        return self._numbers(cells)

    def _is_by_position(self, row: Any) -> bool:
        """Whether a row without names is about to say, or has said, how long such rows are."""
        return not self.declared and not hasattr(row, "items")

    def code_known(self, row: Any) -> Array:
        """A row as numbers, without what has not joined; nothing joins. It refuses a bad row."""
        return self.encode_anew(self.named(row))

    def encode_anew(self, row: Mapping[Any, Any]) -> Array:
        """Code a row by names; what has not joined is left out. It refuses a bad row."""
        return self._numbers(self.cells(row))

    def _numbers(self, cells: Mapping[Hashable, float | str]) -> Array:
        out = np.full(len(self), math.nan)
        for name, cell in cells.items():
            if name in self._columns:
                index, codes = self._columns[name]
                out[index] = cell if codes is None else codes.get(cell, math.nan)
        return out

    def told(self, numbers: Array) -> dict[Hashable, Any] | list[Any]:
        """A coded row by names and values, which a schema where others have joined can code anew.

        What is missing is left out. If rows have no names it is a list, with NaN for a number that is missing
        and None for a place that nothing was known of.
        """
        row: dict[Hashable, Any] = {}
        for (name, (_, codes)), number in zip(list(self._columns.items()), numbers.tolist(), strict=False):
            if codes is None:
                row[name] = number
            elif number == number:
                row[name] = list(codes)[int(number)]
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
