"""Batches of rows, column by column: numbers, or words with a code for each row."""

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

import numpy as np

from banditboost.datasets.dataset import FloatArray, IntArray
from banditboost.datasets.errors import DatasetError
from banditboost.rows.plain import is_missing

MISSING_WORDS = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?"})
"""In a column of numbers these count as missing, as an empty cell does anywhere."""
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class Words(NamedTuple):
    """Cells that are not all numbers."""

    values: list[str]
    codes: IntArray
    """Position in `values` for each row, -1 where the cell is missing."""
    numbers: FloatArray
    """The number that each value is, NaN for those that are none."""
    typed: bool
    """Whether the source tells numbers and booleans from texts; a CSV file does not."""

    def look_up(self, table: Sequence[float] | FloatArray) -> FloatArray:
        """float64[rows]: for each row what the table has for its value, NaN where the cell is missing."""
        return np.append(np.asarray(table, np.float64), np.nan)[self.codes]  # code -1 is the last place


Cells = FloatArray | Words


class Batch(NamedTuple):
    n_rows: int
    columns: dict[str, Cells]
    """A column that is not there is missing in all rows."""


class Request(NamedTuple):
    """What a source is asked for."""

    words: frozenset[str]
    """Columns to hand over as words even if all cells are numbers."""
    ignored: frozenset[str]


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


def no_number(_text: str) -> float:
    return math.nan


def from_objects(cells: Sequence[Any], column: str, words: bool) -> Cells:
    """Cells of Python's own types, as JSON and frames without types have them."""
    kinds = {type(cell) for cell in cells}
    if kinds <= {int, float} and not words:
        return _floats(cells)
    cells = [None if is_missing(cell) else cell for cell in cells]
    for kind in {type(cell) for cell in cells} - {type(None)}:
        _refuse_odd(kind, column)
    if not words and all(cell is None or _is_number(cell) for cell in cells):
        return _floats([math.nan if cell is None else cell for cell in cells])
    texts = [None if cell is None else text_of(cell) for cell in cells]
    numbers = {text: _float(cell) for text, cell in zip(texts, cells, strict=True) if _is_number(cell)}
    return as_words(texts, lambda text: numbers.get(text, math.nan), typed=True)


def text_of(cell: Any) -> str:
    """How a value is written as a name.

    Whole numbers have no point, also where missing cells made floats of them.
    """
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


def dates(column: str, example: object) -> DatasetError:
    return DatasetError(
        f"column {column!r} holds dates or times ({example}): turn them into numbers (days since the first) "
        "or parts (weekday, hour), "
        f"or leave the column out with ignore=[{column!r}]"
    )


def _refuse_odd(kind: type, column: str) -> None:
    if issubclass(kind, _DATES):
        raise dates(column, kind.__name__)
    if not issubclass(kind, (str, bool, int, float, Decimal, np.bool_, np.number)):
        raise DatasetError(
            f"column {column!r} holds values of type {kind.__name__}: only numbers, "
            "texts and booleans can be learned from; "
            f"flatten it into columns of those, or leave it out with ignore=[{column!r}]"
        )


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
