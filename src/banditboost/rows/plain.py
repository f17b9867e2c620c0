"""What one value of a row is, and a row as plain numbers and names.

Nested dicts become dotted names, dates and times become cycles and elapsed days, durations become seconds.
What is neither a number nor a name then is refused.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from banditboost.errors import FeatureError
from banditboost.text import quoted, visible

LARGEST = 1e100  # numbers beyond are refused, so that no square overflows
DEEPEST = 8  # how many dicts may stand within one another
DATE_PARTS = (
    "hour.sin", "hour.cos", "weekday.sin", "weekday.cos", "season.sin", "season.cos", "elapsed"
)  # fmt: skip
_WHOLE = 1e15  # whole numbers below are written without a point
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)
_DAYS_AND_MORE = ("Y", "M", "W", "D")  # units of NumPy's dates that tell no hour
_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}
_PARTS_OF_A_SECOND = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_DATES = (datetime.date, datetime.time, np.datetime64)  # a datetime is a date, and pandas' Timestamp is both

Value = Any
"""A number of any type that Python and NumPy have, a name (a string), Tags, or None for missing."""


class Tags(tuple[str, ...]):
    """The strings of a list or set, each once."""

    __slots__ = ()


Coded = tuple[str, int]
_CODED = "#"


def coded(code: int) -> Coded:
    """A value or word of which only the number is known, in a row that a branch tells."""
    return _CODED, code


def is_coded(value: object) -> TypeGuard[Coded]:
    """Whether this stands for a value or word of which only the number is known."""
    return (
        type(value) is tuple
        and len(value) == 2
        and type(value[0]) is str
        and value[0] == _CODED
        and type(value[1]) is int
        and 0 <= value[1] < 2**32
    )


def is_simple(value: Any) -> bool:
    """Whether a value is a string, or a number of Python's that is not too large: most are."""
    kind = type(value)
    return kind is str or ((kind is float or kind is int) and -LARGEST <= value <= LARGEST)


def is_missing(value: object) -> bool:
    """None, NaN, NumPy's NaT, and pandas' NA and NaT alike."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(value != value)


def without_mask(values: Any) -> Any:
    """Masked cells of a NumPy array are missing ones; everything else is handed back as it is."""
    if type(values) is np.ndarray or not isinstance(values, np.ndarray) or not hasattr(values, "filled"):
        return values
    numbers = values.dtype.kind in "fiub"
    plain = np.array(values.data, np.float64 if numbers else object)
    plain[np.ma.getmaskarray(values)] = np.nan if numbers else None
    return plain


# A row


def _never(_name: Hashable) -> bool:
    return False


def plain_row(
    row: Mapping[Any, Any],
    dates: Collection[Hashable] = (),
    before: Collection[Hashable] = (),
    had_dates: Callable[[Hashable], bool] = _never,
) -> dict[Hashable, Value]:
    """Numbers and names by column, None for what is missing; texts in a column of `dates` are read as ISO
    dates, and so are those in one that `had_dates`, if they are some. It refuses a bad value, and two values
    for one column; `before` are columns that have theirs.
    """
    found: dict[Hashable, Value] = {}
    origins: dict[Hashable, tuple[Hashable, ...]] = {}
    for path, value in _leaves(row, ()):
        name = path[0] if len(path) == 1 else ".".join(map(text_of, path))
        if isinstance(value, str) and had_dates(name):
            value = _from_text(value.strip()) or value
        for column, cell in _cells(name, value, dates):
            if column in found or column in before:
                raise twice(column, place(origins.get(column, (column,))), place(path))
            found[column], origins[column] = cell, path
    return found


def _leaves(
    row: Mapping[Any, Any], path: tuple[Hashable, ...]
) -> Iterator[tuple[tuple[Hashable, ...], object]]:
    for name, value in row.items():
        if not isinstance(value, Mapping):
            yield (*path, name), value
        elif len(path) + 1 < DEEPEST:
            yield from _leaves(value, (*path, name))
        else:
            raise FeatureError(
                f"feature {quoted(path[0])} has dicts within dicts, {DEEPEST} deep or in a circle; "
                "give dotted names, such as 'user.age'"
            )


def _cells(name: Hashable, value: object, dates: Collection[Hashable]) -> Iterator[tuple[Hashable, Value]]:
    """The columns of one value that is no dict."""
    if is_simple(value) and name not in dates:  # most are
        yield name, value
        return
    if is_missing(value) or is_coded(value):
        yield name, None if is_missing(value) else value
        return
    if name in dates:
        value = _read_date(name, value)
    if isinstance(value, _DATES):
        for part, number in date_parts(name, value).items():
            yield f"{text_of(name)}.{part}", number
    elif isinstance(value, _LISTS):
        yield name, _tags(name, value)
    else:
        yield name, _simple(name, value)


def _tags(name: Hashable, value: Any) -> Tags:
    """A set in the order of the alphabet, so that it is the same in every process."""
    items = value.ravel().tolist() if isinstance(value, np.ndarray) else value
    for item in items:
        if not isinstance(item, str):
            raise FeatureError(
                f"feature {quoted(name)} is {quoted(value)}, with {quoted(item)} in it; give a list or set "
                "of strings, or its numbers as features of their own"
            )
    found = map(str, items)
    return Tags(dict.fromkeys(sorted(found) if isinstance(value, (set, frozenset)) else found))


def text_of(name: Hashable) -> str:
    """A name as a part of a longer one."""
    return str(name) if isinstance(name, str) else visible(name)


def place(path: tuple[Hashable, ...]) -> str:
    """Where in a row a value stands, as Python would get it."""
    return "row" + "".join(f"[{quoted(name)}]" for name in path)


def twice(column: Hashable, first: str, second: str) -> FeatureError:
    """The refusal of two values for one column."""
    return FeatureError(
        f"feature {quoted(column)} is there twice, as {first} and as {second}; leave one out, or give it "
        "another name"
    )


# A value


def _simple(name: Hashable, value: Any) -> Value:
    """A number as it is, a duration in seconds, a string or a bool as a name."""
    if isinstance(value, (str, bool, np.bool_)):
        return name_of(value)
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return seconds_of(name, value)
    if isinstance(value, _NUMBERS):
        if _is_finite(value):
            return value
        raise FeatureError(
            f"feature {quoted(name)} is {quoted(value)}; give a finite number, or None for missing"
        )
    raise FeatureError(
        f"feature {quoted(name)} is {quoted(value)} of type {type(value).__name__}; give {_remedy(value)}"
    )


def _remedy(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "a string, such as value.decode('utf-8'), or None for missing"
    if isinstance(value, (complex, np.complexfloating)):
        return "its real and its imaginary part as two features"
    return (
        "a number, a string, a bool, a date, a duration, a list of strings, a dict of these, or None for "
        "missing"
    )


def _is_finite(value: Any) -> bool:
    """Whole numbers and fractions of any size are finite, though float() may not hold them."""
    if isinstance(value, (int, np.integer, Fraction)):
        return True
    return value.is_finite() if isinstance(value, Decimal) else bool(np.isfinite(value))


def number_of(name: Hashable, value: Any) -> float:
    """The nearest 64-bit float; refused if it is too large, or if nothing of the value would be left."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:
        raise too_large(name, value)
    if number == 0.0 and value != 0:
        raise FeatureError(
            f"feature {quoted(name)} is {quoted(value)}, too small for a 64-bit float; give 0, or a smaller "
            "unit"
        )
    return number


def too_large(name: Hashable, value: object) -> FeatureError:
    """The refusal of a number whose square would overflow."""
    return FeatureError(
        f"feature {quoted(name)} is {quoted(value)}; give a finite number from -1e100 to 1e100 (in a larger "
        "unit, or its logarithm), or None or NaN for missing"
    )


def number_in(name: Hashable, text: str) -> float | None:
    """The number that a text is, such as 3.0 for "3"; None for any other text."""
    if "_" in text:
        return None
    try:
        value = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number_of(name, value) if value.is_finite() else None


def name_of(given: Any) -> str:
    """A value as a name: True is "True", which is not 1; 3, 3.0 and "3" are one name."""
    value: Any = given.item() if isinstance(given, np.generic) else given
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (float, np.floating, Decimal, Fraction)):
        return str(int(value) if _is_whole(value) else value)
    try:
        return str(int(value)) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        raise FeatureError(
            "a nominal feature has an integer of thousands of digits; give it as a string"
        ) from None


def _is_whole(value: Any) -> bool:
    """Whether a number is written without a point."""
    return _is_finite(value) and bool(abs(value) < _WHOLE and value % 1 == 0)


def seconds_of(name: Hashable, value: datetime.timedelta | np.timedelta64) -> float:
    """How long a duration is; refused if its unit does not tell, as months do not."""
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    unit, count = np.datetime_data(value.dtype)
    whole = int(value.astype(np.int64)) * count
    if unit in _SECONDS:
        return float(whole * _SECONDS[unit])
    if unit in _PARTS_OF_A_SECOND:
        return float(whole / 10 ** _PARTS_OF_A_SECOND[unit])
    raise FeatureError(
        f"feature {quoted(name)} is {quoted(value)}, whose length is not known; give a duration in weeks, "
        "days, hours, minutes or seconds"
    )


# Dates and times


def date_parts(name: Hashable, value: object) -> dict[str, float]:
    """What a date, a time or both tell: hour, weekday and season as points on a circle, and days since 1970.

    The clock and the calendar are those of the value as it is given; elapsed days are in UTC if it says how
    far from UTC it is.
    """
    if isinstance(value, np.datetime64):
        value = _from_numpy(name, value)
    parts: dict[str, float] = {}
    if isinstance(value, (datetime.datetime, datetime.time)):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        _on_circle(parts, "hour", seconds / 86_400)
    if isinstance(value, datetime.date):
        _on_circle(parts, "weekday", value.weekday() / 7)
        first = datetime.date(value.year, 1, 1).toordinal()
        length = 366 if value.year % 4 == 0 and (value.year % 100 != 0 or value.year % 400 == 0) else 365
        _on_circle(parts, "season", (value.toordinal() - first) / length)
        parts["elapsed"] = _elapsed(value)
    return parts


def _on_circle(parts: dict[str, float], name: str, turns: float) -> None:
    parts[f"{name}.sin"], parts[f"{name}.cos"] = math.sin(math.tau * turns), math.cos(math.tau * turns)


def _elapsed(value: datetime.date) -> float:
    day = datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime.datetime):
        return (day - _EPOCH) / _DAY
    clock = datetime.timedelta(
        hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
    )
    return (day - _EPOCH + clock - (value.utcoffset() or datetime.timedelta())) / _DAY


def _from_numpy(name: Hashable, value: np.datetime64) -> datetime.date:
    """A date if NumPy's unit tells no hour, else a datetime."""
    unit = np.datetime_data(value.dtype)[0]
    finer = np.dtype("M8[D]" if unit in _DAYS_AND_MORE else "M8[us]")
    try:
        made = value.astype(finer)
        same = made.astype(value.dtype) == value or unit in _PARTS_OF_A_SECOND
        found = made.item() if same else None
    except (OverflowError, ValueError):
        found = None
    if isinstance(found, datetime.date):
        return found
    raise FeatureError(f"feature {quoted(name)} is {quoted(value)}; give a date of the years 1 to 9999")


def _read_date(name: Hashable, value: Any) -> object:
    if isinstance(value, _DATES):
        return value
    found = _from_text(value.strip()) if isinstance(value, str) else None
    if found is not None:
        return found
    raise FeatureError(
        f"feature {quoted(name)} is declared as a date, but this row has {quoted(value)}; give a date, a "
        "datetime, a time, or ISO text such as '2026-11-18T09:30:00+01:00'"
    )


def _from_text(text: str) -> datetime.date | datetime.time | None:
    """A date, a datetime or a time in ISO form; None for any other text."""
    with suppress(ValueError):
        return datetime.date.fromisoformat(text)
    with suppress(ValueError):
        return datetime.datetime.fromisoformat(text)
    if ":" in text:  # "2026" is a year to most people, not 20:26
        with suppress(ValueError):
            return datetime.time.fromisoformat(text)
    return None
