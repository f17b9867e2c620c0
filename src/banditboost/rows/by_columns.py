"""Many rows taken apart into columns, which become numbers many at a time.

Most rows need no look of their own: their numbers are those that their values have. Only a row with which
something joins goes the way of a row that comes alone: the first one with a feature, and those with which a
value of a nominal feature gets a place of its own. Which ones these are is found for each column apart.

Columns of plain numbers, of strings and of bools can be taken apart. If there is anything else in a table,
anything that has to be refused, or a kind that is not the feature's, it goes row by row as a whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from banditboost.errors import FeatureError
from banditboost.rows.plain import LARGEST, name_of
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import SHARED, Comings, Note
from banditboost.types import Array

BLOCK = 20_000  # rows that are held as one matrix, if they are not wide
_NUMBERS_HELD = 1 << 20  # that such a matrix has at most: 8 MiB
_ROWS_AT_ONCE = 1_000  # dicts that are read together
_LEAST_FULL = 0.5  # of the cells of dicts with different keys: below, most of a column would be missing
_INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
_NUMBERS = frozenset({int, float, np.float32, np.float64, *_INTEGERS})
_WORDS = (frozenset({str}), frozenset({bool, np.bool_}))
_NOT_AVAILABLE = ("NAType", "NaTType")
_NUMERIC_TYPES = (
    nw.Float32, nw.Float64, nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64,
)  # fmt: skip
Coder = Callable[[Any], Array | None]
Joiner = Callable[[Any], Array]


class Numbers(NamedTuple):
    """A numeric column."""

    name: Hashable
    cells: Array  # float64, NaN where missing

    @property
    def kind(self) -> str:
        return "numeric"

    def firsts(self) -> Array:
        """The first row that has a number, if there is one."""
        return np.flatnonzero(self.cells == self.cells)[:1]

    def value(self, t: int) -> float | None:
        cell = float(self.cells[t])
        return cell if cell == cell else None

    def note(self, t: int, number: float) -> None:
        """A number is its own code."""

    def coded(self, rows: slice) -> Array:
        return self.cells[rows]


class Names(NamedTuple):
    """A nominal column."""

    name: Hashable
    values: list[Any]  # in the order in which they appear
    places: Array  # of each row's value among them; the last place, whose code is NaN, where missing
    codes: Array  # of the values

    @property
    def kind(self) -> str:
        return "nominal"

    def firsts(self) -> Array:
        """The first row that has a value, if there is one."""
        return np.flatnonzero(self.places < len(self.values))[:1]

    def begin(self, schema: Schema) -> Comings:
        """Look up the codes that the values have before the first row, and what will join."""
        names = [name_of(value) for value in self.values]
        self.codes[:-1] = [schema.number_of(self.name, name) for name in names]
        rows = np.flatnonzero(~(self.codes[self.places] < SHARED) & (self.places < len(self.values)))
        return schema.comings(
            self.name, rows.tolist(), [names[place] for place in self.places[rows].tolist()]
        )

    def value(self, t: int) -> Any:
        place = self.places[t]
        return self.values[place] if place < len(self.values) else None

    def note(self, t: int, number: float) -> None:
        """The value of this row has this code from now on."""
        if self.places[t] < len(self.values):
            self.codes[self.places[t]] = number

    def coded(self, rows: slice) -> Array:
        return self.codes[self.places[rows]]


class ByColumns:
    """A table that was taken apart, and found good as a whole.

    Args:
        columns: all of equal length.
        row: gives a row as it would come alone, by its number.
    """

    def __init__(self, columns: Sequence[Numbers | Names], row: Callable[[int], Any]) -> None:
        self._columns = columns
        self._row = row
        firsts = [column.firsts() for column in columns]
        self._firsts: list[int] = np.unique(np.concatenate([[0], *firsts])).astype(np.int64).tolist()
        self._names = [column for column in columns if isinstance(column, Names)]

    def __len__(self) -> int:
        column = self._columns[0]
        return len(column.cells if isinstance(column, Numbers) else column.places)

    def __getitem__(self, t: int) -> Any:
        """A row as it would come alone."""
        return self._row(t)

    def first_rows(self) -> Iterator[tuple[int, Any]]:
        """The rows that may be refused, with their numbers: the first one, and the first one with each
        feature.
        """
        return ((t, self._row(t)) for t in self._firsts)

    def blocks(
        self, coded: Coder, joined: Joiner, schema: Callable[[], Schema]
    ) -> Iterator[tuple[Array, int]]:
        """Blocks of coded rows, each with the number of the row after it.

        A block ends where a row brings something, which joins just before the next block is asked for.

        Args:
            coded: codes a row that comes alone; None if it brings something.
            joined: codes such a row, after that has joined.
            schema: the features that have joined by now.
        """
        first_round = schema().rounds
        comings = [column.begin(schema()) for column in self._names]
        rows = {t for coming in comings for t in coming.joining}.union(self._firsts)
        noted = sorted(note for coming in comings for note in coming.noted if note[0] not in rows)
        if noted and not schema().shares:
            rows.add(noted[0][0])  # with it sharing begins
        start, waiting = 0, deque(noted)
        for t in sorted(rows):
            _write(schema(), waiting, t, first_round)
            yield from self._blocks(start, t, schema())
            row = self._row(t)
            numbers = coded(row)
            numbers = joined(row) if numbers is None else numbers
            self._note(t, numbers, schema())
            start = t
        _write(schema(), waiting, len(self), first_round)
        yield from self._blocks(start, len(self), schema())

    def _note(self, t: int, numbers: Array, schema: Schema) -> None:
        places = _places(schema)
        for column in self._columns:
            if column.name in places:
                column.note(t, numbers[places[column.name]])

    def _blocks(self, start: int, stop: int, schema: Schema) -> Iterator[tuple[Array, int]]:
        size = block_size(len(schema))
        for first in range(start, stop, size):
            end = min(first + size, stop)
            yield self._matrix(slice(first, end), schema), end

    def _matrix(self, rows: slice, schema: Schema) -> Array:
        matrix = np.full((rows.stop - rows.start, len(schema)), np.nan)
        places = _places(schema)
        for column in self._columns:
            if column.name in places:
                matrix[:, places[column.name]] = column.coded(rows)
        return matrix


def block_size(width: int) -> int:
    """How many rows of this width are held as one matrix."""
    return min(BLOCK, max(1, _NUMBERS_HELD // max(1, width)))


def _places(schema: Schema) -> dict[Hashable, int]:
    """Where in a coded row each feature stands."""
    return {place.name: i for i, place in enumerate(schema.places()) if place.kind in ("numeric", "nominal")}


def _write(schema: Schema, waiting: deque[tuple[int, Hashable, str]], stop: int, first_round: int) -> None:
    """Let the schema note what comes without a place before a row: ahead, so that a note counts as soon as
    its round does.
    """
    found = []
    while waiting and waiting[0][0] < stop:
        t, name, value = waiting.popleft()
        found.append(Note(first_round + t, name, value))
    schema.note_ahead(found)


def taken_apart(X: Any, schema: Schema) -> ByColumns | None:
    """A list of rows, an array of objects or a frame by columns; None if it has to go row by row.

    Nothing joins the schema.
    """
    if isinstance(X, np.ndarray) and X.ndim in (1, 2):
        X = X.tolist()
    try:
        if not isinstance(X, (list, tuple)):
            return _frame(X, schema)
        kinds = set(map(type, X))
        if kinds == {dict}:
            return _dicts(X, schema)
        return _lists(X, schema) if kinds and kinds <= {list, tuple} else None
    except (FeatureError, OverflowError):
        return None  # whoever goes row by row finds the first row that is to be refused, and says why


def _dicts(rows: Sequence[dict[Hashable, Any]], schema: Schema) -> ByColumns | None:
    names, n_cells = tuple(rows[0]), sum(map(len, rows))
    cells: Iterable[list[Any]] | None = None
    if names and n_cells == len(rows) * len(names):
        cells = _cells_of_same(names, rows)
    if cells is None:
        names = tuple(dict.fromkeys(chain.from_iterable(rows)))
        if n_cells < _LEAST_FULL * len(rows) * len(names):
            return None
        cells = ([row.get(name) for row in rows] for name in names)
    return _put_together(names, map(_column, names, cells), rows.__getitem__, schema)


def _cells_of_same(
    names: tuple[Hashable, ...], rows: Sequence[dict[Hashable, Any]]
) -> list[list[Any]] | None:
    """The cells of each column; None if a row lacks a name.

    Some rows at a time, all columns of them: a dict is read much faster while it is in the cache.
    """
    columns: list[list[Any]] = [[] for _ in names]
    take = itemgetter(*names)
    try:
        if len(names) == 1:
            return [list(map(take, rows))]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            parts = zip(*map(take, rows[start : start + _ROWS_AT_ONCE]), strict=True)
            for column, part in zip(columns, parts, strict=True):
                column.extend(part)
    except KeyError:
        return None
    return columns


def _lists(rows: Sequence[Sequence[Any]], schema: Schema) -> ByColumns | None:
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        return None
    names = tuple(schema.named([None] * width))
    cells = ([row[i] for row in rows] for i in range(width))
    return _put_together(names, map(_column, names, cells), rows.__getitem__, schema)


def _frame(X: Any, schema: Schema) -> ByColumns | None:
    try:
        frame = nw.from_native(X, eager_only=True)
    except (TypeError, nw.exceptions.DuplicateError):
        return None
    names = frame.columns
    if any(name != name for name in names):  # pandas may have several columns that are called NaN
        return None
    columns = (_column_of_frame(name, frame.get_column(name)) for name in names) if len(frame) else iter(())
    return _put_together(names, columns, None, schema)


def _put_together(
    names: Sequence[Hashable],
    found: Iterator[Numbers | Names | None],
    row: Callable[[int], Any] | None,
    schema: Schema,
) -> ByColumns | None:
    """The columns, unless there is none, one cannot be taken apart, or one is not what the schema says."""
    if schema.declared and not set(names) <= set(schema.names):
        return None
    kinds, columns = dict(zip(schema.names, schema.kinds, strict=True)), []
    for column in found:
        if column is None or kinds.get(column.name, column.kind) != column.kind:
            return None
        if isinstance(column, Names) and (schema.has_texts(column.values) or schema.had_dates(column.name)):
            return None
        columns.append(column)
    if not columns:
        return None

    def built(t: int) -> dict[Hashable, Any]:
        values = ((column.name, column.value(t)) for column in columns)
        return {name: value for name, value in values if value is not None}

    return ByColumns(columns, row or built)


def _column_of_frame(name: Hashable, series: nw.Series[Any]) -> Numbers | Names | None:
    if series.dtype in _NUMERIC_TYPES:
        return _numbers(name, floats_of(series))
    if series.dtype in (nw.String, nw.Boolean, nw.Categorical, nw.Enum):
        values, places = distinct(series)
        kinds = set(map(type, values))
        if kinds and any(kinds <= words for words in _WORDS):  # categories may be anything
            return _named(name, values, places)
        return _column(name, series.to_list())
    return _column(name, series.to_list()) if series.dtype == nw.Object else None


def distinct(series: nw.Series[Any]) -> tuple[list[Any], Array]:
    """The values in the order in which they appear, and each row's place among them; the place after the last
    one where it is missing.
    """
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas, of which narwhals would make two tables and join them
        places, values = native.factorize()
        return values.tolist(), np.where(places < 0, len(values), places).astype(np.int32)
    try:
        found = series.unique(maintain_order=True).to_list()
        codes = _codes(found)
        if len(codes) == 1:  # a value set of nothing but None has no type for pyarrow
            return [], np.zeros(len(series), np.int32)
        new = [codes[value] for value in found]
        places = series.replace_strict(found, new, return_dtype=nw.Int32()).to_numpy()
    except NotImplementedError:  # pyarrow, of string views
        return _distinct_of_list(series.to_list())
    return list(codes)[:-1], np.array(places, np.int32)


def _distinct_of_list(cells: list[Any]) -> tuple[list[Any], Array]:
    codes = _codes(cells)
    return list(codes)[:-1], np.fromiter(map(codes.__getitem__, cells), np.int32, len(cells))


def _codes(cells: list[Any]) -> dict[Any, int]:
    """The place of each value, and the one after the last for None."""
    values = [value for value in dict.fromkeys(cells) if value is not None]
    return {value: place for place, value in enumerate([*values, None])}


def floats_of(series: nw.Series[Any]) -> Array:
    """The nearest float to each number, as a CSV file would be read; pyarrow has to be told to round."""
    native = series.to_native()
    if type(getattr(native, "dtype", None)).__name__ == "ArrowDtype":  # a column of pandas that is pyarrow's
        native = native.array.__arrow_array__()
    if hasattr(native, "to_pylist"):
        return np.array(native.cast("float64", safe=False).to_numpy(zero_copy_only=False), np.float64)
    return np.array(series.cast(nw.Float64()).to_numpy(), np.float64)


def _column(name: Hashable, cells: list[Any]) -> Numbers | Names | None:
    """A column of Python's values; None if they are not all of one plain kind."""
    kinds = set(map(type, cells)) - {type(None)}
    if kinds <= _NUMBERS:
        return _numbers(name, np.array(cells, np.float64))
    gaps = {kind for kind in kinds if kind is float or kind.__name__ in _NOT_AVAILABLE}
    if not any(kinds - gaps <= words for words in _WORDS):
        return None
    if gaps:
        if any(type(cell) is float and cell == cell for cell in cells):
            return None
        cells = [None if type(cell) in gaps else cell for cell in cells]
    return _names(name, cells)


def _numbers(name: Hashable, cells: Array) -> Numbers | None:
    """None if a number is too large to be taken as it is."""
    return None if (np.abs(cells) > LARGEST).any() else Numbers(name, cells)


def _names(name: Hashable, cells: list[Any]) -> Names:
    return _named(name, *_distinct_of_list(cells))


def _named(name: Hashable, values: list[Any], places: Array) -> Names:
    return Names(name, values, places, np.full(len(values) + 1, np.nan))
