"""Columns of dates and times: texts become the seven numbers that a date in a row has.

ISO dates (2024-12-31), dates with points (31.12.2024) and those with the year first (2024/12/31) say what
they are; a time may follow, also with AM or PM. In 03/04/2024 the day or the month comes first: the column
tells which, as soon as one of its dates can only be read one way. If none does, the column is refused.
"""

import datetime
import re
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from banditboost.datasets.dataset import FloatArray
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.cells import Cells, Lists, Odd, Place, Words
from banditboost.errors import FeatureError
from banditboost.rows.plain import DATE_PARTS, date_parts, plain_row
from banditboost.text import quoted

ORDERS = ("day", "month")
"""What comes first in 03/04/2024."""
N_PARTS = len(DATE_PARTS)
_DATE_ALONE = len("2024-12-31")
_DAY = "when"  # any name: the parts of a date do not depend on it
_CLOCK = r"(?:,?[T ] ?(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d+)?(?: ?([AaPp])[Mm])?)?"
_POINTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _CLOCK, re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})" + _CLOCK, re.ASCII)
_SLASHES = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})" + _CLOCK, re.ASCII)
_SHORT = re.compile(r"\d:\d{2}(?::\d{2})?", re.ASCII)
_LIKELY = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ]\d.*)?|\d{1,2}([/.-])\d{1,2}\2(\d{2}|\d{4})(,? \d.*)?|"
    r"\d{4}/\d{1,2}/\d{1,2}( \d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?",
    re.ASCII,
)


def looks_like_a_date(text: str) -> bool:
    """Whether people would take it for a date or a time, be it one that can be read here or not."""
    return _LIKELY.fullmatch(text) is not None


def iso(text: str, order: str) -> str:
    """The text as an ISO date, if it is one of the other kinds; else as it is."""
    if found := _POINTS.fullmatch(text):
        day, month, year = found.groups()[:3]
    elif found := _YEAR_FIRST.fullmatch(text):
        year, month, day = found.groups()[:3]
    elif found := _SLASHES.fullmatch(text):
        day, month, year = found.groups()[:3]
        day, month = (day, month) if order == "day" else (month, day)
    else:
        return f"0{text}" if _SHORT.fullmatch(text) else text
    return f"{year}-{int(month):02}-{int(day):02}{_clock(*found.groups()[3:])}"


def _clock(
    hour: str | None, minute: str | None, second: str | None, part: str | None, half: str | None
) -> str:
    """The time of day behind a date; half a day begins at 12 o'clock."""
    if hour is None:
        return ""
    number = int(hour)
    if half is not None:
        number = number % 12 + 12 * (half in "Pp") if 1 <= number <= 12 else 99  # 13 PM is no time
    return f"T{number:02}:{minute}:{second or '00'}{part or ''}"


def parts_of(text: str, order: str) -> tuple[float, ...] | None:
    """The seven numbers of a date or time, NaN for those that it does not tell; None for any other text."""
    if len(text) > _DATE_ALONE:  # most columns are full of these
        with suppress(ValueError):
            return tuple(date_parts(_DAY, datetime.datetime.fromisoformat(text)).values())
    try:
        parts = plain_row({_DAY: iso(text, order)}, (_DAY,))
    except FeatureError:
        return None
    return tuple(parts.get(f"{_DAY}.{part}", np.nan) for part in DATE_PARTS)


@dataclass
class Reading:
    """What a column is if its dates have this order."""

    order: str
    wrong: str | None = None
    """The first cell that is no date then."""
    low: FloatArray = field(default_factory=lambda: np.full(N_PARTS, np.inf))
    high: FloatArray = field(default_factory=lambda: np.full(N_PARTS, -np.inf))
    told: FloatArray = field(default_factory=lambda: np.zeros(N_PARTS))
    """How many cells tell each part."""

    def see(self, cells: Words, parts: list[tuple[float, ...] | None], place: Place) -> None:
        """Take in a batch, whose first row is at this place, with what each word tells."""
        if self.wrong is not None:
            return
        if None in parts:
            code = parts.index(None)
            self.wrong = f"{quoted(cells.values[code])} in {place.told(int(np.argmax(cells.codes == code)))}"
            return
        counts = np.bincount(cells.codes + 1, minlength=len(cells.values) + 1)[1:]
        table = np.array(parts, np.float64).reshape(-1, N_PARTS)
        is_told = ~np.isnan(table)
        self.told += counts @ is_told
        self.low = np.minimum(self.low, np.where(is_told, table, np.inf).min(axis=0, initial=np.inf))
        self.high = np.maximum(self.high, np.where(is_told, table, -np.inf).max(axis=0, initial=-np.inf))


class Days:
    """What is found of a column of dates while its batches pass by."""

    def __init__(self) -> None:
        self._readings = {order: Reading(order) for order in ORDERS}
        self._has_slashes = False

    def see(self, cells: Cells, place: Place) -> None:
        """Take in a batch, whose first row is at this place."""
        if not isinstance(cells, Words):
            if not isinstance(cells, (Odd, Lists)) and not np.isnan(cells).all():
                self._refuse(f"a number in {place.told(int(np.argmin(np.isnan(cells))))}")
            return
        slashes = any(map(_SLASHES.fullmatch, cells.values))
        self._has_slashes |= slashes
        parts = [parts_of(word, "day") for word in cells.values]
        self._readings["day"].see(cells, parts, place)
        if slashes:
            parts = [parts_of(word, "month") for word in cells.values]
        self._readings["month"].see(cells, parts, place)

    def _refuse(self, what: str) -> None:
        for reading in self._readings.values():
            reading.wrong = reading.wrong or what

    def reading(self, name: str) -> Reading:
        """The one way to read the column, or the refusal."""
        good = [reading for reading in self._readings.values() if reading.wrong is None]
        if not good:
            raise DatasetError(
                f"dates=[{name!r}], but a cell of that column is {self._readings['day'].wrong}: write dates "
                "such as 2024-12-31, 2024-12-31T23:59:00+01:00, 31.12.2024 23:59 or 23:59, "
                f"or leave the column out with ignore=[{name!r}]"
            )
        if len(good) > 1 and self._has_slashes:
            raise DatasetError(
                f"column {name!r} may have the day or the month first, and no date in it tells which: "
                f"write ISO dates, such as 2024-12-31, or leave the column out with ignore=[{name!r}]"
            )
        return good[0]
