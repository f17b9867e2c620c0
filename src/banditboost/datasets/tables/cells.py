"""Batches of rows, column by column: numbers, or words with a code for each row."""

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

import numpy as np

from banditboost.datasets.dataset import FloatArray, IntArray
from banditboost.datasets.errors import DatasetError
from banditboost.errors import FeatureError
from banditboost.rows.plain import is_missing, plain_row, seconds_of
from banditboost.rows.sharing import words_in

MISSING_WORDS = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?"})
"""In a column of numbers these count as missing, as an empty cell does anywhere."""
_DATES = (datetime.date, datetime.time, np.datetime64)
_DURATIONS = (datetime.timedelta, np.timedelta64)
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_READ = (str, bool, int, float, Decimal, np.bool_, np.number, *_DATES)


def no_number(_text: str) -> float:
    return math.nan


class Words(NamedTuple):
    """Cells that are not all numbers."""

    values: list[str]
    codes: IntArray
    """Position in `values` for each row, -1 where the cell is missing."""
    numbers: FloatArray
    """The number that each value is, NaN for those that are none."""
    typed: bool
    """Whether the source tells numbers and booleans from texts; a CSV file does not."""
    dated: bool = False
    """Whether the source says that these are dates or times; they are in ISO form then."""

    def look_up(self, table: Sequence[float] | FloatArray) -> FloatArray:
        """float64[rows]: for each row what the table has for its value, NaN where the cell is missing."""
        return np.append(np.asarray(table, np.float64), np.nan)[self.codes]  # code -1 is the last place


class Odd(NamedTuple):
    """Cells that nothing can be learned from."""

    n_rows: int
    what: str
    """Why, after the name of the column."""
    remedy: str
    at: int | None = None
    """The first cell that is to blame; None if all are."""


class Lists(NamedTuple):
    """Cells that are lists of texts, or texts among them."""

    cells: list[tuple[str, ...] | None]
    """The words of each row, None where the cell is missing."""


Cells = FloatArray | Words | Lists | Odd


class Batch(NamedTuple):
    n_rows: int
    columns: dict[str, Cells]
    """A column that is not there is missing in all rows."""
    file: str = ""
    """The file that it is from, if there are several."""
    objects: frozenset[str] = frozenset()
    """Columns whose cells are objects here; what is in them are columns of their own."""


class Place(NamedTuple):
    """Where the first row of a batch is."""

    first_row: int
    file: str = ""

    def told(self, i: int) -> str:
        """The row that comes i rows later, in words."""
        return f"row {self.first_row + i}" + (f" of {self.file}" if self.file else "")


class Request(NamedTuple):
    """What a source is asked for."""

    words: frozenset[str] | None = frozenset()
    """Columns to hand over as words even if all cells are numbers; None is all of them."""
    ignored: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    """Columns whose texts are to be numbers, also where the source tells texts from numbers."""
    number_of: Callable[[str], float] = no_number
    """What reads such texts."""
    texts: frozenset[str] = frozenset()
    """Columns of words, where texts may stand among lists."""
    whole: frozenset[str] = frozenset()
    """Columns whose objects are handed over as they are, as JSON texts."""

    def as_words(self, column: str) -> bool:
        return self.words is None or column in self.words

    def reader(self, column: str) -> Callable[[str], float]:
        """What a text in this column is, where the source tells texts from numbers."""
        return self.number_of if column in self.numeric else no_number


class Source(Protocol):
    """A file or frame that can be gone through more than once."""

    name: str

    def column_names(self) -> list[str] | None:
        """None if only a whole pass can tell."""

    def batches(self, request: Request) -> Iterator[Batch]: ...


def as_words(texts: Iterable[str | None], number_of: Callable[[str], float], typed: bool) -> Words:
    """Texts with codes in order of appearance; None and the empty text are missing."""
    cells = texts if isinstance(texts, (list, tuple)) else list(texts)
    values = [text for text in dict.fromkeys(cells) if text]
    code_of: dict[str | None, int] = {text: code for code, text in enumerate(values)}
    code_of[None] = code_of[""] = -1
    codes = np.fromiter(map(code_of.__getitem__, cells), np.int64, len(cells))
    return Words(values, codes, np.fromiter(map(number_of, values), np.float64, len(values)), typed)


def from_objects(cells: Sequence[Any], column: str, request: Request) -> Cells:
    """Cells of Python's own types, as JSON and frames without types have them."""
    words = request.as_words(column)
    kinds = {type(cell) for cell in cells}
    if kinds <= {int, float} and not words:
        return _floats(cells)
    cells = [None if is_missing(cell) else cell for cell in cells]
    if any(isinstance(cell, _DURATIONS) for cell in cells):
        try:
            cells = [seconds_of(column, cell) if isinstance(cell, _DURATIONS) else cell for cell in cells]
        except FeatureError:
            return durations(column, len(cells))
    kinds = {type(cell) for cell in cells} - {type(None)}
    if any(issubclass(kind, _LISTS) for kind in kinds):
        return _from_lists(cells, column, column in request.texts)
    if any(not issubclass(kind, _READ) for kind in kinds):
        return _odd(cells, column)
    if kinds and all(issubclass(kind, _DATES) for kind in kinds):
        return from_dates(cells)
    if not words and all(cell is None or _is_number(cell) for cell in cells):
        return _floats([math.nan if cell is None else cell for cell in cells])
    texts = [None if cell is None else text_of(cell) for cell in cells]
    numbers = {text: _float(cell) for text, cell in zip(texts, cells, strict=True) if _is_number(cell)}
    read = request.reader(column)
    return as_words(texts, lambda text: numbers[text] if text in numbers else read(text), typed=True)


def _from_lists(cells: Sequence[Any], column: str, texts_too: bool) -> Cells:
    """Lists of texts as rows have them; a text among them has the words that are in it."""
    found: list[tuple[str, ...] | None] = []
    for at, cell in enumerate(cells):
        if isinstance(cell, str) and texts_too:
            found.append(tuple(words_in(cell)))
        elif cell is None or isinstance(cell, _LISTS):
            try:
                found.append(None if cell is None else plain_row({column: cell})[column])
            except FeatureError:
                return Odd(len(cells), *lists_of(column, "things that are no texts"), at)
        else:
            return Odd(len(cells), *_among_lists(column, type(cell)), at)
    return Lists(found)


def lists_of(column: str, what: str) -> tuple[str, str]:
    return f"holds lists of {what}", (
        "only lists of texts can be learned from, word by word; flatten it into columns, or leave it out "
        f"with ignore=[{column!r}]"
    )


def _among_lists(column: str, kind: type) -> tuple[str, str]:
    remedy = (
        f"say words=[{column!r}] to learn from the words of both" if kind is str else "part it in two columns"
    )
    what = f"holds lists and values of type {kind.__name__}"
    return what, f"{remedy}, or leave it out with ignore=[{column!r}]"


def from_dates(cells: Iterable[Any]) -> Words:
    """Dates and times, None where missing."""
    texts = [None if is_missing(cell) else _iso(cell) for cell in cells]
    return as_words(texts, no_number, typed=True)._replace(dated=True)


def _iso(cell: Any) -> str:
    return str(cell) if isinstance(cell, np.datetime64) else str(cell.isoformat())


def text_of(cell: Any) -> str:
    """How a value is written as a name.

    Whole numbers have no point, also where missing cells made floats of them.
    """
    if isinstance(cell, _DATES):
        return _iso(cell)
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    try:
        return str(cell)
    except ValueError:
        raise DatasetError(
            "a cell is a whole number of thousands of digits, too many for a name: write it as a text"
        ) from None


def durations(column: str, n_rows: int) -> Odd:
    """Durations that cannot be read."""
    what = "holds durations whose length is not known, or that Python has no type for (months, nanoseconds)"
    return Odd(n_rows, what, f"give seconds as numbers, or leave it out with ignore=[{column!r}]")


def _odd(cells: Sequence[Any], column: str) -> Odd:
    """Cells among which some have a type of which nothing can be learned."""
    at = next(i for i, cell in enumerate(cells) if cell is not None and not isinstance(cell, _READ))
    remedy = (
        "only numbers, texts, booleans, dates and durations can be learned from; flatten it into columns of "
        f"those, or leave it out with ignore=[{column!r}]"
    )
    return Odd(len(cells), f"holds values of type {type(cells[at]).__name__}", remedy, at)


def _is_number(cell: object) -> bool:
    return isinstance(cell, (int, float, Decimal, np.number)) and not isinstance(cell, bool)


def _floats(cells: Sequence[Any]) -> FloatArray:
    return np.fromiter(map(_float, cells), np.float64, len(cells))


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if cell > 0 else -math.inf
    except ValueError:  # a Decimal that is no number, and says so aloud
        return math.nan
