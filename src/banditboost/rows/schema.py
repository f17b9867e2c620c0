"""Features as people have them, coded as the trees want them: one float64 vector for each row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np

from banditboost.errors import FeatureError
from banditboost.text import quoted, visible
from banditboost.types import Array
from banditboost.validation import is_hashable

LARGEST = 1e100  # numbers beyond are clamped, so that no square overflows
MAX_VALUES = 256  # values kept for one nominal feature; later ones count as missing
_KINDS = ("numeric", "nominal")


def is_missing(value: object) -> bool:
    """None, NaN and pandas' NA and NaT alike."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def without_mask(values: Any) -> Any:
    """Masked cells of a NumPy array are missing ones; everything else is handed back as it is."""
    if type(values) is np.ndarray or not isinstance(values, np.ndarray) or not hasattr(values, "filled"):
        return values
    numbers = values.dtype.kind in "fiub"
    plain = np.array(values.data, np.float64 if numbers else object)
    plain[np.ma.getmaskarray(values)] = np.nan if numbers else None
    return plain


def _kind_of(name: Hashable, value: object) -> str:
    if isinstance(value, (str, bool, np.bool_)):
        return "nominal"
    if isinstance(value, (int, float, np.integer, np.floating, Decimal)) and not isinstance(
        value, np.timedelta64
    ):
        return "numeric"
    raise FeatureError(
        f"feature {quoted(name)} is {quoted(value)} of type {type(value).__name__}; give a number, a string, "
        "a bool, or None for missing"
        " (a date: as a number of days, or as parts such as weekday and hour)"
    )


def _listed(name: object, items: Any) -> list[Any]:
    if isinstance(items, (str, bytes)):
        raise FeatureError(f"{name} is the string {quoted(items)}; give a list, such as [{quoted(items)}]")
    try:
        return list(items)
    except TypeError:
        raise FeatureError(f"{name} is {quoted(items)}; give a list") from None


class Schema:
    """The features of a model: their names, in order, and whether each is numeric or nominal.

    Without arguments it is open: features and nominal values join as rows bring them. Declared features are
    closed: a row with another name is refused. Nominal values may always join, up to 256 for a feature; later
    ones count as missing.

    >>> Schema(numeric=["hour"], nominal={"device": ["phone", "desktop"]})
    Schema(hour: numeric, device: nominal[2])
    >>> len(Schema(numeric=["hour"], nominal=["device"]))
    2
    """

    def __init__(
        self, numeric: Iterable[str] = (), nominal: Mapping[str, Iterable[Hashable]] | Iterable[str] = ()
    ) -> None:
        numbers, nominals = _listed("numeric", numeric), _listed("nominal", nominal)
        values = [_listed(name, nominal[name]) if isinstance(nominal, Mapping) else [] for name in nominals]
        kinds = ["numeric"] * len(numbers) + ["nominal"] * len(nominals)
        self._start([*numbers, *nominals], kinds, [*([()] * len(numbers)), *values])

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
        names = _listed("names", names)
        known = [
            () if v is None else v for v in _listed("values", [()] * len(names) if values is None else values)
        ]
        schema._start(names, _listed("kinds", kinds), known)
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
            self._add(name, kind, _listed(f"the list of values of {quoted(name)}", known))

    def _add(self, name: Hashable, kind: str, values: Iterable[Hashable] = ()) -> None:
        if not isinstance(kind, str) or kind not in _KINDS:
            raise FeatureError(
                f"feature {quoted(name)} has kind {quoted(kind)}; it must be 'numeric' or 'nominal'"
            )
        codes = (
            {value: code for code, value in enumerate(dict.fromkeys(map(_plain, values)))}
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
        return {
            "names": list(self.names),
            "values": values,
            "declared": self.declared,
            "positions": self._positions,
        }

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
            or not all(v is None or _are_values(v) for v in values)
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
        expected = len(self) if self.declared else self._positions
        if expected is not None and length != expected:
            raise FeatureError(
                f"the row has {length} values where {expected} are expected; give one for each feature of "
                f"{self!r}"
            )
        return self.names if self.declared else tuple(f"x{i}" for i in range(length))

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
            for i in np.flatnonzero(np.isinf(row)):
                raise FeatureError(
                    f"feature 'x{i}' is {quoted(row[i])}; give a finite number, or NaN for missing"
                )
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
                f"feature of {self!r}"
            )
        name = self.names[index]
        codes = self._columns[name][1]
        if codes is None:
            return FeatureError(
                f"feature {quoted(name)} is {quoted(value)}; give a finite number, or NaN for missing"
            )
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

    def news(self, row: Mapping[Any, Any]) -> list[tuple[Hashable, str, Hashable]]:
        """The features and nominal values (name, kind, value) that a row would bring; refuses a bad row."""
        found: list[tuple[Hashable, str, Hashable]] = []
        for name, value in row.items():
            if is_missing(value):
                if self.declared and name not in self._columns:
                    raise self._unknown(name)
                continue
            kind = self._check(name, value)
            codes = self._columns[name][1] if name in self._columns else None
            if kind == "nominal" and (
                codes is None or (_plain(value) not in codes and len(codes) < MAX_VALUES)
            ):
                found.append((name, kind, _plain(value)))
            elif name not in self._columns:
                found.append((name, kind, None))
        return found

    def admit(self, row: Any) -> None:
        """Let a row's new features and values join, after the whole row was found good."""
        named = self.named(row)
        news = self.news(named)
        if self._is_by_position(row):
            self._positions = len(named)
        for name, kind, value in news:
            if name not in self._columns:
                self._add(name, kind)
            index, codes = self._columns[name]
            if codes is not None:
                self._columns[name] = index, {**codes, value: len(codes)}
                self.version += 1

    def code(self, row: Any) -> Array:
        """A row as numbers, after its new features and values have joined."""
        self.admit(row)
        return self.encode_anew(self.named(row))

    def code_if_known(self, row: Any) -> Array | None:
        """A row as numbers; None if it brings anything that has not joined. It refuses a bad row."""
        named = self.named(row)
        out = np.full(len(self), math.nan)
        if self.encode(named, out):
            return out
        if self.news(named) or (self._positions is None and self._is_by_position(row)):
            return None
        return self.encode_anew(named)

    def _is_by_position(self, row: Any) -> bool:
        """Whether a row without names is about to say, or has said, how long such rows are."""
        return not self.declared and not hasattr(row, "items")

    def code_known(self, row: Any) -> Array:
        """A row as numbers, without what has not joined; nothing joins."""
        named = self.named(row)
        self.news(named)
        return self.encode_anew(named)

    def encode_anew(self, row: Mapping[Any, Any]) -> Array:
        """Code a row that was found good; what has not joined is left out."""
        out = np.full(len(self), math.nan)
        for name, value in row.items():
            if name in self._columns and not is_missing(value):
                index, codes = self._columns[name]
                if codes is None:
                    out[index] = _clamped(value)
                else:
                    out[index] = codes.get(_plain(value), math.nan)
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

    def _check(self, name: Hashable, value: object) -> str:
        kind = _kind_of(name, value)
        column = self._columns.get(name)
        if column is None:
            if self.declared:
                raise self._unknown(name)
        elif column[1] is None and kind == "nominal":
            raise FeatureError(
                f"feature {quoted(name)} is numeric, but this row has {quoted(value)}; give a number, "
                f"or declare Schema(nominal=[{quoted(name)}])"
            )
        elif column[1] is not None and kind == "numeric" and not self.declared:
            raise FeatureError(
                f"feature {quoted(name)} is nominal, but this row has the number {quoted(value)}; "
                f"give str({quoted(value)}), or declare a Schema"
            )
        elif column[1] is not None:
            return "nominal"
        if kind == "numeric" and not _is_finite(value):
            raise FeatureError(
                f"feature {quoted(name)} is {quoted(value)}; give a finite number, or None for missing"
            )
        return kind

    def _unknown(self, name: Hashable) -> FeatureError:
        return FeatureError(
            f"feature {quoted(name)} is not in the declared schema {self!r}; declare it, or leave it out"
        )


def _are_values(values: object) -> bool:
    return (
        isinstance(values, list)
        and all(isinstance(value, str) for value in values)
        and len(set(values)) == len(values)
    )


def _clamped(value: Any) -> float:
    try:
        return min(max(float(value), -LARGEST), LARGEST)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


def _is_finite(value: Any) -> bool:
    """Whole numbers of any size are finite, though float() may not hold them."""
    return isinstance(value, (int, np.integer)) or (
        value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    )


def _plain(value: Any) -> Hashable:
    """True and 1 are equal, and so are their hashes: as values of one feature they must not share a code."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, str):
        return str(value)
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        raise FeatureError(
            "a nominal feature has an integer of thousands of digits; give it as a string"
        ) from None
